import ArgumentParser
import Client
import Wire

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the gimbal, and why the camera does or does not move.",
        discussion:
            "The exit code is 2 if a problem keeps the motors off. The mode inactive, a retracted camera and a calibration are not problems."
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let (status, json): (Status, JSONValue) = try options.connect().requestWithJSON(.status)
        if options.json {
            Output.line(json.text)
        } else {
            StatusView.lines(status, .forOutput(), width: Output.columns).forEach(Output.row)
        }
        if MotionState(status).isInhibited { throw ExitCode(ExitCodes.inhibited) }
    }
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Show the versions of the daemon and of its protocol.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        if options.json { return Output.line(try client.json(.version).text) }
        let version: VersionInfo = try client.request(.version)
        Output.line("\(version.program) \(version.version), protocol \(version.protocolVersion)")
        if !version.build.isEmpty { Output.line(version.build) }
        if version.protocolVersion != VersionInfo.currentProtocol {
            Output.line(
                "This airframectl uses protocol \(VersionInfo.currentProtocol): install the same version of airframectl and airframed."
            )
        }
    }
}
