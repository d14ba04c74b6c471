import airframectl
import airframed

// The installation contains one executable file, and a link to this file for each program. The name
// `airframed` starts the daemon. Every other name starts the client.
if CommandLine.arguments.first?.split(separator: "/").last == "airframed" {
    await DaemonProgram.main()
} else {
    ControlProgram.main()
}
