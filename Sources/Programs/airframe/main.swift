import airframectl
import airframed

// The installation contains one program file and a link for each program. The name `airframed`
// starts the daemon. Every other name starts the client.
if CommandLine.arguments.first?.split(separator: "/").last == "airframed" {
    await DaemonProgram.main()
} else {
    ControlProgram.main()
}
