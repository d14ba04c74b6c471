import ArgumentParser
import Client
import Configuration
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
            Output.row("\(Format.date(entry.time.known ?? 0))  \(entry.who) \(entry.what)")
        }
    }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print all settings that differ from the defaults, as a configuration file.",
        discussion:
            "The file does not contain an assistant's temporary change. Write the file with `airframectl export > good.toml`. On another computer, read the file with `airframectl import`, or copy it to conf.d."
    )

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !options.json else {
            throw ValidationError("export prints a configuration file. Omit --json, or use diff.")
        }
    }

    func run() throws {
        let client = try options.connect()
        let changes: [SettingChange] = try client.request(.diff, ["lasting": true])
        for change in changes where change.value != change.defaultValue {
            Output.line("\(change.key) = \(change.value.text)")
        }
    }
}
