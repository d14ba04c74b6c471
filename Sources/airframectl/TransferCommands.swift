import ArgumentParser
import Glibc
import PlainText
import Wire

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show who changed which setting, and when, since airframed started.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        if options.json { return Output.line(try client.json(.history).text) }
        let entries: [HistoryEntry] = try client.request(.history)
        guard !entries.isEmpty else { return Output.line("Nothing was changed.") }
        for entry in entries {
            Output.line("\(Self.local(entry.time.known ?? 0))  \(entry.who) \(entry.what)")
        }
    }

    /// "2026-03-01 14:05:09", where the computer is.
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
        abstract: "Print everything that differs from the defaults, as a configuration file.",
        discussion:
            "`airframectl export > good.toml`; another machine takes it by `import`, or as a file below conf.d."
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
        abstract: "Put the settings of an exported file in force; `save` keeps them.",
        discussion: """
            Line by line as `set` would. What needs a restart, or makes no sense here, is named and left out; then \
            the exit code is 1.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Take everything back after this time: 30s, 5min or seconds.")
    var rollback: SetCommand.Duration?
    @Argument(help: "A file that `export` has made; - for standard input.")
    var file: String

    func run() throws {
        let lines = try Self.lines(of: file)
        let client = try options.connect()
        var refused = 0
        for line in lines {
            guard let (key, value) = Self.setting(in: line) else { continue }
            var params: [String: JSONValue] = ["key": .string(key), "value": .string(value)]
            params["rollback"] = rollback.map { .double($0.seconds) }
            do throws(ClientError) {
                let setting: Setting = try client.request(.set, params)
                Output.line(SettingsView.sentence(setting))
            } catch {
                refused += 1
                Output.error("\(key): \(error.requestError.message)")
            }
        }
        if refused > 0 { throw ExitCode(ExitCodes.refused) }
    }

    /// Key and TOML text of a line; nil for a comment and an empty line.
    static func setting(in line: Substring) -> (key: String, value: String)? {
        guard let mark = line.firstIndex(of: "="), !line.hasPrefix("#") else { return nil }
        func trimmed(_ text: Substring) -> String {
            var text = text
            while text.last?.isWhitespace == true { text.removeLast() }
            return String(text.drop { $0.isWhitespace })
        }
        return (trimmed(line[..<mark]), trimmed(line[line.index(after: mark)...]))
    }

    private static func lines(of file: String) throws -> [Substring] {
        guard let input = fopen(file == "-" ? "/dev/stdin" : file, "r") else {
            throw ValidationError("\(file) cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { fclose(input) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, input)
            if count == 0 { break }
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
