import ArgumentParser
import Client
import Configuration
import Glibc
import PlainText
import SystemPackage
import Wire

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show changes of settings with author and time.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        if options.json { return Output.line(try client.json(.history).text) }
        let entries: [HistoryEntry] = try client.request(.history)
        guard !entries.isEmpty else { return Output.line("No setting has changed.") }
        for entry in entries {
            Output.line("\(Self.local(entry.time.known ?? 0))  \(entry.who) \(entry.what)")
        }
    }

    /// Text of a time in the computer's time zone, such as "2026-03-01 14:05:09".
    static func local(_ seconds: Double) -> String {
        var time = time_t(seconds)
        var parts = tm()
        localtime_r(&time, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print all settings that differ from the defaults, as a configuration file.",
        discussion:
            "Write the file with `airframectl export > good.toml`; on another computer read it with `import`, or copy it to conf.d."
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        let changes: [SettingChange] = try client.request(.diff)
        for change in changes { Output.line("\(change.key) = \(change.value.text)") }
    }
}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Apply the settings of an exported file; `save` keeps them.",
        discussion: """
            The command sets each value as `set` does; the file can contain tables. It lists, but does not set, values that are invalid or need a restart \
            of airframed; the exit code is then 1.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Revert all changes after this time: 30s, 5min or seconds.")
    var rollback: SetCommand.Duration?
    @Argument(help: "File from `export`; - for standard input.")
    var file: String

    func run() throws {
        let pairs: [SettingsFile.Pair]
        do throws(ConfigurationFailure) {
            pairs = try SettingsFile.pairs(in: FilePath(file))
        } catch {
            throw ClientError.file(error.description, field: "file")
        }
        guard !pairs.isEmpty else {
            return Output.line("\(file) contains no settings; nothing has changed.")
        }
        let client = try options.connect()
        var refused = 0
        for pair in pairs {
            let (key, value) = (pair.key, pair.value)
            var params: [String: JSONValue] = ["key": .string(key), "value": .string(value)]
            params["rollback"] = rollback.map { .double($0.seconds) }
            do throws(ClientError) {
                let setting: Wire.Setting = try client.request(.set, params)
                Output.line(SettingsView.sentence(setting))
            } catch {
                refused += 1
                Output.error("\(file):\(pair.line): \(key): \(error.requestError.message)")
            }
        }
        if refused > 0 { throw ExitCode(ExitCodes.refused) }
    }
}
