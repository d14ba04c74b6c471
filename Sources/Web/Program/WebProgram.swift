import ArgumentParser
import Client
import Configuration
import Glibc
import Wire

/// Entry point of the program airframe-web.
public enum WebProgram {
    /// Executes the command line, and ends the process.
    public static func main() { AirframeWeb.main() }
}

/// The program's command line.
struct AirframeWeb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "airframe-web",
        abstract: "Serve a web page to steer, observe and tune a gimbal.",
        discussion: """
            The server runs until SIGTERM or SIGINT.
            Exit codes: 0 done; 64 wrong usage; 66 the page's files cannot be read; 69 the address cannot be used; 78 bad configuration.
            """,
        version: Version.text)

    @Option(help: "Configuration file; default /etc/airframe/airframe-web.toml.")
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: "Setting that overrides the file, as KEY=VALUE; can be repeated.")
    var overrides: [String] = []

    @Flag(help: "Print the effective settings as a configuration file, and exit.")
    var printConfig = false

    @Flag(help: "Check the configuration, and exit.")
    var checkConfig = false

    @Flag(
        help:
            "Create a pairing code when the server starts, and print an address that contains the code."
    )
    var pair = false

    func run() throws {
        let settings: WebSettings
        do {
            settings = try CompanionConfiguration(
                WebSchema.table, file: config, overrides: overrides,
                example: "web.listen=0.0.0.0:8088"
            ).load()
        } catch {
            Log.write("\(error)")
            throw ExitCode(78)
        }
        if printConfig {
            for setting in WebSchema.table.settings {
                print("\(setting.rule.key) = \(setting.read(settings).tomlText)")
            }
            return
        }
        if checkConfig { return print("The configuration is good.") }
        // The signals are blocked before the first thread starts, because threads inherit the
        // signal mask.
        let signals = SignalQueue([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        guard let files = PageFiles(directory: settings.web.page) else {
            Log.write(
                "\(settings.web.page) does not contain the page's files. Install them, or set web.page."
            )
            throw ExitCode(66)
        }
        do {
            try WebRun(settings, files, pair: pair).run(until: signals)
        } catch {
            Log.write("\(error)")
            throw ExitCode(69)
        }
    }
}
