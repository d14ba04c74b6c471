import airframectl
import airframed

// The installation has one file, and a link to it for each name. Any name except `airframed` runs
// the client.
if CommandLine.arguments.first?.split(separator: "/").last == "airframed" {
    await DaemonProgram.main()
} else {
    ControlProgram.main()
}
