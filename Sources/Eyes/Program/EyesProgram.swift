import ArgumentParser
import Client
import SystemPackage
import Wire

/// Entry point of the program airframe-eyes.
public enum EyesProgram {
    /// Executes the command line, and ends the process.
    public static func main() { AirframeEyes.main() }
}

/// The program's command line.
struct AirframeEyes: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "airframe-eyes",
        abstract: "Serve the camera of a gimbal as a live video stream (RTSP).",
        discussion: """
            Without a subcommand, airframe-eyes serves the stream. SIGHUP applies changed live settings, SIGTERM ends the program.
            Exit codes: 0 done; 64 wrong usage; 69 the port or GStreamer cannot be used; 78 bad configuration.
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, CamerasCommand.self, LatencyCommand.self, PeopleCommand.self,
            AerieCommand.self,
        ],
        defaultSubcommand: ServeCommand.self)
}

/// Options of the command line that name the configuration file and override settings.
struct EyesOptions: ParsableArguments {
    @Option(help: "Configuration file; default \(EyesConfiguration.defaultFile.string).")
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: "Setting that overrides the file, as KEY=VALUE; can be repeated.")
    var overrides: [String] = []

    var configuration: EyesConfiguration {
        EyesConfiguration(file: config, overrides: overrides)
    }

    /// Reads the settings. If a setting is invalid, the program prints all problems and exits.
    func load() throws -> EyesSettings {
        do {
            return try configuration.load()
        } catch {
            Log.write("\(error)")
            throw ExitCode(78)
        }
    }
}
