import ArgumentParser
import Client
import Configuration
import SystemPackage
import Wire

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Apply the settings of an exported file; `save` keeps them.",
        discussion: """
            The command sets each value as `set` does; the file can contain tables. It lists, but does not set, values that are invalid or need a restart \
            of airframed; the exit code is then 1. A file whose name ends with .yaml or .yml is the config.yaml of the Yahboom rider's public driver; the \
            command names each key that has no effect. With --toml the command does not need a running airframed: it prints the settings as a configuration file for conf.d.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Revert all changes after this time: 30s, 5min or seconds.")
    var rollback: SetCommand.Duration?
    @Flag(help: "Print the settings as a configuration file, and do not apply them.")
    var toml = false
    @Argument(
        help: "File from `export`, or config.yaml; - for standard input.", completion: .file())
    var file: String

    func validate() throws {
        guard !toml || !options.json else {
            throw ValidationError("--toml prints a configuration file. Omit --json.")
        }
    }

    func run() throws {
        let pairs = try read()
        guard !pairs.isEmpty else {
            return Output.line(
                options.json
                    ? Self.document([], refused: []).text
                    : "\(file) contains no settings; nothing has changed.")
        }
        let refused = try toml ? write(pairs) : apply(pairs)
        if refused > 0 { throw ExitCode(ExitCodes.refused) }
    }

    private func read() throws(ClientError) -> [SettingsFile.Pair] {
        guard file.hasSuffix(".yaml") || file.hasSuffix(".yml") else {
            do throws(ConfigurationFailure) {
                return try SettingsFile.pairs(in: FilePath(file))
            } catch {
                throw .file(error.description, field: "file")
            }
        }
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try ConfigurationFiles.system.read(FilePath(file))
        } catch {
            throw .file("\(file) cannot be read: \(error).", field: "file")
        }
        guard bytes.count <= ConfigurationFiles.sizeLimit else {
            throw .file("\(file) is larger than 1 MiB.", field: "file")
        }
        let rider = RiderConfiguration(try YAMLFile.entries(of: bytes, file: file))
        for key in rider.ignored {
            Output.error("\(file):\(key.line): \(key.key) is ignored: \(key.reason).")
        }
        return rider.pairs
    }

    /// Setting that airframed has refused, with the reason.
    private typealias Refused = (pair: SettingsFile.Pair, reason: RequestError)

    /// Sends the settings to airframed; returns the number of refused settings.
    private func apply(_ pairs: [SettingsFile.Pair]) throws -> Int {
        let client = try options.connect()
        var settings: [JSONValue] = []
        // A failed write ends the program, for example if `head` has closed the pipe. Therefore the
        // sentences are written after the last request, also if a request is not answered.
        defer { settings.compactMap(\.string).forEach(Output.line) }
        var (waiting, refused) = (pairs, [Refused]())
        // Some values are valid only together with values on later lines. Therefore refused
        // settings are sent again, until no further setting is accepted.
        repeat {
            refused = []
            for pair in waiting {
                do throws(ClientError) {
                    settings.append(try send(pair, client))
                } catch {
                    // Only a refusal concerns this setting alone.
                    guard case .refused(let reason) = error else { throw error }
                    refused.append((pair, reason))
                }
            }
            let hasProgressed = refused.count < waiting.count
            waiting = hasProgressed ? refused.map(\.pair) : []
        } while !waiting.isEmpty
        if options.json {
            let reasons: [JSONValue] = refused.map { pair, reason in
                ["key": .string(pair.key), "line": .int(pair.line), "error": reason.json]
            }
            Output.line(Self.document(settings, refused: reasons).text)
        } else {
            for (pair, reason) in refused {
                let name = reason.message.hasPrefix(pair.key) ? "" : "\(pair.key): "
                Output.error("\(file):\(pair.line): \(name)\(reason.message)")
            }
        }
        return refused.count
    }

    /// Sends one setting; returns airframed's answer, without --json as a sentence.
    private func send(
        _ pair: SettingsFile.Pair, _ client: DaemonClient
    ) throws(ClientError) -> JSONValue {
        var params: [String: JSONValue] = ["key": .string(pair.key), "value": .string(pair.value)]
        params["rollback"] = rollback.map { .double($0.seconds) }
        if options.json { return try client.json(.set, params) }
        let setting: Wire.Setting = try client.request(.set, params)
        return .string(SettingsView.sentence(setting))
    }

    /// JSON document about the changed and the refused settings.
    private static func document(_ settings: [JSONValue], refused: [JSONValue]) -> JSONValue {
        ["settings": .array(settings), "refused": .array(refused)]
    }

    /// Prints the valid settings; returns the number of invalid settings. Rules about combinations
    /// of settings are not checked, because they also depend on the computer's other settings.
    private func write(_ pairs: [SettingsFile.Pair]) -> Int {
        var refused = 0
        for pair in pairs {
            if let problem = pair.problem(in: file) {
                refused += 1
                Output.error("\(problem)")
            } else {
                Output.line("\(pair.key) = \(pair.value)")
            }
        }
        return refused
    }
}
