import ArgumentParser
import Wire

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the machine does, and why it is or is not moving.",
        discussion: "Exits with 2 when something keeps the machine from moving.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let (status, json): (Status, JSONValue) = try options.connect().requestWithJSON(.status)
        if options.json {
            Output.line(json.text)
        } else {
            StatusView.lines(status, .forOutput()).forEach(Output.line)
        }
        if MotionState(status).isInhibited { throw ExitCode(ExitCodes.inhibited) }
    }
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Show the daemon's version and that of its protocol.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        if options.json { return Output.line(try client.json(.version).text) }
        let version: VersionInfo = try client.request(.version)
        Output.line("\(version.program) \(version.version), protocol \(version.protocolVersion)")
        if !version.build.isEmpty { Output.line(version.build) }
        if version.protocolVersion != VersionInfo.currentProtocol {
            Output.line(
                "This airframectl speaks protocol \(VersionInfo.currentProtocol): install the same version of both."
            )
        }
    }
}
