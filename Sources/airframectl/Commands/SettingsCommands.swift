import ArgumentParser
import Client
import Wire

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show settings: all, a section, or single keys.")

    @OptionGroup var options: GlobalOptions
    @Flag(name: .shortAndLong, help: "Also show range, default and meaning.")
    var verbose = false
    @Argument(
        help: "Keys or sections, for example loop or loop.rate_hz.",
        completion: LiveCompletion.keysAndTables)
    var keys: [String] = []

    func run() throws {
        let client = try options.connect()
        let params: [String: JSONValue] =
            keys.isEmpty ? [:] : ["keys": .array(keys.map(JSONValue.string))]
        if options.json { return Output.line(try client.json(.get, params).text) }
        let settings: [Setting] = try client.request(.get, params)
        SettingsView.lines(settings, verbose: verbose, .forOutput()).forEach(Output.line)
    }
}

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change a setting now; `save` keeps the change.",
        discussion: """
            With --rollback the change reverts after the given time unless you save it. Try a gain with \
            `airframectl set control.attitude_gain '[50,50,50]' --rollback 30s`.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Revert the change after this time: 30s, 5min or seconds.")
    var rollback: Duration?
    @Argument(help: "Dotted key as in the TOML file.", completion: LiveCompletion.keys)
    var key: String
    @Argument(
        parsing: .allUnrecognized,
        help: "Value as in the TOML file: 500, -1.5, true, locked, [1, 2, 3].",
        completion: LiveCompletion.value)
    var value: [String]

    func validate() throws {
        guard value.count == 1 else {
            throw ValidationError(
                value.isEmpty
                    ? "Give a value after the key."
                    : "Give only one value; put quotes around a value with spaces.")
        }
    }

    func run() throws {
        let client = try options.connect()
        var params: [String: JSONValue] = ["key": .string(key), "value": Self.parse(value[0])]
        params["rollback"] = rollback.map { .double($0.seconds) }
        if options.json { return Output.line(try client.json(.set, params).text) }
        let setting: Setting = try client.request(.set, params)
        Output.line(SettingsView.sentence(setting))
        if let warning = setting.warning {
            Output.line(Style.forOutput()(.caution, "Careful: \(warning)"))
        }
    }

    /// Parses a value as JSON; any other text becomes a string. A number that JSON would write
    /// differently, such as 1.50, also becomes a string, because it can be a name.
    static func parse(_ text: String) -> JSONValue {
        guard let value = try? JSONValue(parsing: Array(text.utf8)) else { return .string(text) }
        return value.number == nil || value.text == text ? value : .string(text)
    }

    /// Duration as an argument of the command line.
    struct Duration: ExpressibleByArgument {
        var seconds: Double

        init?(argument: String) {
            let units: [(suffix: String, factor: Double)] = [("min", 60), ("s", 1), ("", 1)]
            for unit in units where argument.hasSuffix(unit.suffix) {
                guard let value = Double(argument.dropLast(unit.suffix.count)), value.isFinite,
                    value > 0
                else { return nil }
                seconds = value * unit.factor
                return
            }
            return nil
        }
    }
}

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show settings that differ from the defaults, and unsaved changes.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        if options.json { return Output.line(try client.json(.diff).text) }
        let changes: [SettingChange] = try client.request(.diff)
        SettingsView.lines(changes, .forOutput()).forEach(Output.row)
    }
}

struct SaveCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "save", abstract: "Save live changes, so that they survive a restart.")

    @Flag(help: "Also save an assistant's temporary change, which then no longer reverts.")
    var assistant = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        try acknowledge(try options.connect(), .save, assistant ? ["assistant": true] : [:])
    }
}

struct ReloadCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Read the configuration files again; a file with an error is rejected as a whole."
    )

    @OptionGroup var options: GlobalOptions

    func run() throws { try acknowledge(try options.connect(), .reload) }
}

struct BaselineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "baseline",
        abstract: "Store the present tuning under a name; restore or delete a stored tuning.",
        discussion: "Without a name the command lists the baselines.")

    /// Actions on a baseline.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, store, restore, delete
    }

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Action: list, store, restore or delete.")
    var action: Action = .list
    @Argument(
        help: "Name of the baseline: letters, digits, -, _ and dots.",
        completion: LiveCompletion.baselines)
    var name: String?

    func validate() throws {
        if action != .list, name == nil {
            throw ValidationError("\(action.rawValue) needs a name.")
        }
    }

    func run() throws {
        let client = try options.connect()
        var params: [String: JSONValue] = ["action": .string(action.rawValue)]
        if action != .list { params["name"] = name.map(JSONValue.string) }
        let result = try client.json(.baseline, params)
        if options.json { return Output.line(result.text) }
        if action != .list { Output.line(result["sentence"]?.string ?? "") }
        let names = result["names"]?.array?.compactMap(\.string) ?? []
        if action == .list {
            names.isEmpty
                ? Output.line(
                    "There are no baselines. `airframectl baseline store NAME` creates a baseline.")
                : names.forEach(Output.line)
        }
    }
}
