import airframectl
import airframed

// The installation contains one program file, and a link to it for each program. The name
// `airframed` starts the daemon, and every other name starts the client.
if CommandLine.arguments.first?.split(separator: "/").last == "airframed" {
    await DaemonProgram.main()
} else {
    ControlProgram.main()
}
