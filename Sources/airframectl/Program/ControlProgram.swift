import ArgumentParser
import Client
import Glibc
import Hardware
import PlainText
import Wire

/// Entry point of the client program airframectl.
public enum ControlProgram {
    /// Executes the command line, and ends the process.
    public static func main() { Airframectl.main() }
}

/// Command line of airframectl. The commands of airframectl send requests over the diagnostics
/// socket.
struct Airframectl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "airframectl",
        abstract: "Observe and tune airframed, and move the camera.",
        discussion: """
            The options --socket, --json and --timeout of a subcommand can also come before the subcommand. The socket is \
            /run/airframe/airframed.sock unless AIRFRAME_SOCKET or --socket names another path.

            Exit codes: 0 done; 1 the daemon refused the request; 2 status or doctor found a problem that keeps \
            the motors off; 64 wrong usage; 66 a file cannot be used; 69 the daemon or a network address cannot be reached; 75 the daemon or a servo did not answer in time; 130 or 143 Ctrl-C or SIGTERM ended the command early.
            """,
        version: Version.text,
        subcommands: [
            StatusCommand.self, DoctorCommand.self, HardwareCommand.self, MonitorCommand.self,
            GetCommand.self, SetCommand.self, DiffCommand.self, SaveCommand.self,
            BaselineCommand.self, ProfileCommand.self, ReloadCommand.self,
            HistoryCommand.self, ExportCommand.self, ImportCommand.self,
            ModeCommand.self, PointCommand.self, RateCommand.self, RecentreCommand.self,
            StopCommand.self, TakeCommand.self, ReleaseCommand.self, TrackCommand.self,
            CameraCommand.self, ShootCommand.self,
            MotorCommand.self, StepCommand.self, ControlsCommand.self,
            SetupCommand.self, CalibrateCommand.self, BalanceCommand.self,
            SpectrumCommand.self, AutotuneCommand.self, PairCommand.self,
            LogCommand.self, SubscribeCommand.self, RecordCommand.self, ReplayCommand.self,
            MCPCommand.self, MetricsCommand.self, VersionCommand.self,
        ])

    static func main() {
        let arguments = GlobalOptions.movedBehindSubcommand(
            Array(CommandLine.arguments.dropFirst()))
        do {
            if arguments.contains(where: { $0.hasPrefix("--generate-completion-script") }) {
                return generateCompletionScript(arguments)
            }
            try checkName(in: arguments)
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let error as ClientError {
            report(error, asJSON: arguments.contains("--json"))
        } catch let error as ServoToolError {
            report(ClientError(error), asJSON: arguments.contains("--json"))
        } catch {
            end(with: error)
        }
    }

    /// Checks the name of the command, for which the parser makes no suggestion. After `help`, the
    /// parser would ignore an unknown name.
    static func checkName(in arguments: [String]) throws {
        let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word, !word.hasPrefix("-"), !(names + ["help"]).contains(word) else { return }
        throw ValidationError(
            "Unknown command '\(word)'." + Suggestion.sentence(for: word, in: names))
    }

    /// Writes the completion script for a shell, and ends the process.
    private static func generateCompletionScript(_ arguments: [String]) {
        do {
            _ = try CompletedAirframectl.parseAsRoot(arguments)
        } catch {
            end(with: error, of: CompletedAirframectl.self)
        }
    }

    /// Text of an error of the parser, or a help text.
    static func message(
        for error: any Error, of root: any ParsableCommand.Type = Airframectl.self, columns: Int
    ) -> String {
        let text = root.fullMessage(for: error)
        // Completions and their scripts are messages too, and their lines stay unchanged.
        guard root.exitCode(for: error).isSuccess, text.hasPrefix("OVERVIEW: ") else {
            return text
        }
        // The parser would break the lines of a list without indenting their continuation.
        let lines = root.fullMessage(for: error, columns: 1 << 20)
        return lines.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { Output.folded(String($0), to: columns) }.joined(separator: "\n")
    }

    /// Ends the process with the help text, or with the parser's message about the command line.
    /// The message can contain external text, so its control characters are escaped.
    private static func end(
        with error: any Error, of root: any ParsableCommand.Type = Airframectl.self
    ) -> Never {
        let code = root.exitCode(for: error)
        let columns = Output.columns
        let text = message(for: error, of: root, columns: columns == .max ? 80 : columns)
        if !text.isEmpty {
            Output.write(text + "\n", to: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO)
        }
        Glibc.exit(code.rawValue)
    }

    /// Prints an error as a sentence or as JSON, and ends the process.
    private static func report(_ error: ClientError, asJSON: Bool) -> Never {
        if asJSON {
            Output.line(JSONValue.object(["error": error.requestError.json]).text)
        } else {
            Output.error("airframectl: \(error.requestError.message)")
        }
        Glibc.exit(error.exitCode)
    }
}

/// Command line from which the shells' completion scripts are generated. The type declares the
/// options that can precede the subcommand. Without this declaration, a completion script would
/// mistake the value of such an option for a subcommand.
private struct CompletedAirframectl: ParsableCommand {
    static let configuration = Airframectl.configuration

    @OptionGroup var options: GlobalOptions
}

/// Exit codes in addition to those of ArgumentParser; `--help` lists them.
enum ExitCodes {
    static let refused: Int32 = 1
    static let inhibited: Int32 = 2
    static let file: Int32 = 66
    static let unreachable: Int32 = 69
    static let timeout: Int32 = 75

    /// Exit code of a command that has ended without its result.
    ///
    /// - Parameter signal: The signal that has ended the command; nil if there was none.
    /// - Returns: 128 plus the number of the signal, as in a shell, or `refused`.
    static func failure(after signal: Int32?) -> ExitCode {
        ExitCode(signal.map { 128 + $0 } ?? refused)
    }
}

extension ClientError {
    /// Exit code of the program for this error.
    var exitCode: Int32 {
        switch self {
        case .refused, .notUnderstood: ExitCodes.refused
        case .unreachable: ExitCodes.unreachable
        case .timeout: ExitCodes.timeout
        case .file: ExitCodes.file
        }
    }
}
