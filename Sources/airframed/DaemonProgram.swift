import ArgumentParser
import Configuration
import Daemon
import Glibc
import PlainText
import Realtime
import SystemPackage
import Wire

/// Entry point of the daemon program airframed.
public enum DaemonProgram {
    /// Entry point of the process. The entry point sets up memory and stacks before the first
    /// thread exists. The entry point is isolated to the main actor. Without this isolation, `main`
    /// would run on a thread of Swift's pool. A pool thread that starts before the set-up has a
    /// stack of 8 MiB, which would be locked into memory.
    @MainActor
    public static func main() async {
        settleStreams()
        let problems = RealtimeSetup.prepareProcess()
        do {
            try await Airframed.parse().run(startProblems: problems)
        } catch {
            Airframed.end(with: error)
        }
    }

    /// Prepares signals and standard streams. After this call, neither SIGPIPE (the log's reader
    /// has ended) nor SIGXFSZ (file size limit) can end the daemon, and its terminal cannot suspend
    /// it. Missing standard streams are replaced. Without the replacement, a file that is opened
    /// later could receive log text.
    private static func settleStreams() {
        signal(SIGPIPE, SIG_IGN)
        // If a recording exceeds the process's file size limit, only the write to its file fails.
        signal(SIGXFSZ, SIG_IGN)
        // Ctrl-Z, or the output of a background job, would suspend all threads. Motors without a
        // watchdog, and wheels, would then continue with their last output.
        signal(SIGTSTP, SIG_IGN)
        signal(SIGTTOU, SIG_IGN)
        var descriptor: Int32
        repeat { descriptor = open("/dev/null", O_RDWR) } while (0...2).contains(descriptor)
        if descriptor > 2 { close(descriptor) }
    }
}

/// Command line of airframed.
struct Airframed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "airframed",
        abstract: "Controller of a camera gimbal.",
        discussion: """
            airframed reads /etc/airframe/airframed.toml and conf.d/*.toml in the same directory. Every key has a default, so \
            no file is required. airframed stops on SIGTERM and SIGINT, and reads its files again on SIGHUP.

            Exit status: 0 after a requested stop, 64 for a wrong command line, 66 for a recorded motion that \
            cannot be read, 70 when a component failed, 73 when the socket cannot be created, a key is missing, or another airframed uses the state directory, 74 when --outputs-off could not turn the motors off, 78 for a bad configuration.
            """,
        version: Version.text)

    @Option(
        help: "Configuration file; conf.d/*.toml in the same directory is read after this file.")
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp(
            "Setting that overrides the files, as KEY=VALUE; can be repeated.",
            valueName: "key=value"))
    var overrides: [String] = []

    @Option(
        help: ArgumentHelp(
            "Recorded motion (.imu file) that the simulated handle repeats.",
            valueName: "file"))
    var motionFile: String?

    @Flag(help: "Check the configuration, print every problem, and exit.")
    var checkConfig = false

    @Flag(
        help:
            "Turn the motors of this configuration off, and exit; use this after a crash of airframed that left the motors on."
    )
    var outputsOff = false

    @Flag(help: "Print every key with its value and source, without saved values, and exit.")
    var printConfig = false

    func validate() throws {
        if [checkConfig, printConfig, outputsOff].count(where: { $0 }) > 1 {
            throw ValidationError(
                "Give only one of --check-config, --print-config and --outputs-off.")
        }
    }

    /// Executes the command line on the main thread, which has a large stack. After the set-up, a
    /// thread of Swift's pool has a stack of `ThreadTable.ordinaryStackBytes`. This stack is too
    /// small for the daemon's large values in a debug build with a sanitizer.
    ///
    /// - Parameter startProblems: Messages about resources that the kernel refused before the
    ///   command line was parsed.
    /// - Throws: `ExitCode`, after the error message has been written.
    @MainActor
    func run(startProblems: [String]) async throws {
        let source = ConfigurationSource(config: config, overrides: overrides + motionOverride)
        if outputsOff { return try turnOff(source) }
        let loaded = try load(source)
        if checkConfig {
            if let problem = loaded.settings.keyProblem {
                Self.complain(problem)
                throw ExitCode(ExitStatus.badConfiguration)
            }
            Self.write("The configuration is good: \(loaded.filesSentence).\n", to: .standardOutput)
            if let sentence = loaded.unusedChips {
                Self.write("Warning: \(sentence)\n", to: .standardOutput)
            }
            return
        }
        if printConfig {
            Self.write(loaded.description, to: .standardOutput)
            return
        }
        do {
            EarlyStop.watch()
            let daemon = try Daemon(
                source: source, configuration: loaded, startProblems: startProblems)
            try await daemon.run()
        } catch let error as DaemonError {
            Self.complain(error.sentence)
            throw ExitCode(error.exitStatus)
        }
    }

    /// Turns the motors off. An invalid value or line does not prevent this, because the file can
    /// have been edited since airframed read it.
    private func turnOff(_ source: ConfigurationSource) throws {
        let exitStatus = getenv("EXIT_STATUS").map { String(cString: $0) }
        if let exemption = OutputsOff.exemption(exitStatus: exitStatus) {
            return Self.write(exemption + "\n", to: .standardOutput)
        }
        let (loaded, problems) = ConfigurationLoader.readable(source)
        if !problems.isEmpty { Self.complain("\(ConfigurationFailure(problems))") }
        do throws(DaemonError) {
            let sentence = try OutputsOff.run(loaded.settings, isComplete: problems.isEmpty)
            Self.write(sentence + "\n", to: .standardOutput)
        } catch {
            Self.complain(error.sentence)
            throw ExitCode(error.exitStatus)
        }
        if !problems.isEmpty { throw ExitCode(ExitStatus.badConfiguration) }
    }

    /// Argument of `--set` that is equivalent to the option `--motion`. A relative path becomes
    /// absolute.
    private var motionOverride: [String] {
        guard let motionFile, let folder = getcwd(nil, 0) else { return [] }
        defer { free(folder) }
        let path = FilePath(String(cString: folder)).pushing(FilePath(motionFile))
        return ["hardware.simulation.motion_file=\(path)"]
    }

    private func load(_ source: ConfigurationSource) throws -> LoadedConfiguration {
        do {
            return try ConfigurationLoader.load(source)
        } catch {
            Self.complain("\(error)")
            throw ExitCode(ExitStatus.badConfiguration)
        }
    }

    /// Ends the process with the help text, or with the parser's message about the command line.
    /// The message can contain external text, so its control characters are escaped.
    static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        let text = fullMessage(for: error)
        if !text.isEmpty {
            write(text + "\n", to: code.isSuccess ? .standardOutput : .standardError)
        }
        Glibc.exit(code.rawValue)
    }

    private static func complain(_ sentence: String) { write(sentence + "\n", to: .standardError) }

    /// Writes the program's own messages; `LogStore` writes the log. A write error is ignored,
    /// because there is no way to report it.
    private static func write(_ text: String, to stream: FileDescriptor) {
        _ = try? stream.writeAll(text.visibleLines.utf8)
    }
}

/// Exit codes as in sysexits(3); `DaemonError` contains further codes.
enum ExitStatus {
    /// Exit code EX_CONFIG: the configuration is invalid.
    static let badConfiguration: Int32 = 78
}
