import airframectl
import airframed

// What is installed: one file, and a link to it for each name. The client is what anything but
// `airframed` calls.
if CommandLine.arguments.first?.split(separator: "/").last == "airframed" {
    await DaemonProgram.main()
} else {
    ControlProgram.main()
}
