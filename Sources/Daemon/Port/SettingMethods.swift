import Configuration
import Links
import PlainText
import Policy
import Port
import Wire

// The socket's methods that read and change settings.
extension SocketMethod {
    static func settings(_ tuning: Tuning) -> [SocketMethod] {
        [
            .question(
                "keys", "Returns all settings with value, default, unit, range and meaning."
            ) { (_, _) throws(Refusal) in tuning.list() },
            .question(
                "get", "Returns settings with value, default, unit, range and meaning.",
                [.texts("keys", "Keys or tables of settings; default: all settings.")]
            ) { (parameters, _) throws(Refusal) in
                try chosen(try parameters.strings("keys") ?? [], of: tuning.list())
            }.answering([Wire.Setting].self),
            .change(
                "set", "Changes one setting.",
                [
                    .text(
                        "key", required: true, "Key of the setting, such as tracking.max_rate_dps."),
                    .any(
                        "value", required: true,
                        "New value. The method `get` returns the setting's type and range."),
                    .number(
                        "rollback", in: Rollback.seconds, unit: "s",
                        "Time after which the change reverts unless it is saved."),
                ]
            ) { (parameters, caller) throws(Refusal) in
                let key = try parameters.requiredString("key")
                var rollback = try parameters.number("rollback")
                if caller.client.isAssistant {
                    rollback = rollback ?? tuning.settings.mcp.rollbackS
                }
                return try tuning.set(
                    key: key, value: try parameters.required("value"), rollback: rollback,
                    owner: caller.changeOwner, by: caller.client.description)
            }.answering(Wire.Setting.self),
            .question(
                "diff", "Lists settings that differ from their defaults, and unsaved changes.",
                [
                    .bool(
                        "lasting",
                        "If true, the list does not include an assistant's temporary change.")
                ]
            ) { (parameters, _) throws(Refusal) in
                tuning.diff(lasting: try parameters.bool("lasting") ?? false)
            }.answering([SettingChange].self),
            .question(
                "history",
                "Lists the newest \(ChangeHistory.capacity) changes with author and time, also from before the start of airframed."
            ) {
                (_, _) throws(Refusal) in tuning.history.entries
            }.answering([HistoryEntry].self),
            .saving(
                "save", "Saves all live changes, except an assistant's temporary change.",
                [
                    .bool(
                        "assistant",
                        "If true, an assistant's temporary change is also saved, and no longer reverts."
                    )
                ], isWrite: true
            ) { (parameters, caller, done: @escaping Later<Acknowledgement>) throws(Refusal) in
                try caller.requirePerson(for: "save")
                tuning.save(
                    withAssistants: try parameters.bool("assistant") ?? false,
                    by: caller.client.description
                ) { done($0.map { Acknowledgement($0) }) }
            },
            .saving(
                "baseline", "Lists, stores, restores or deletes named tunings (baselines).",
                [
                    .action(BaselineRequest.words, "`list` changes nothing."),
                    .text("name", "Name of the tuning: \(BaselineName.rule)."),
                ], isWrite: false
            ) { (parameters, caller, done) throws(Refusal) in
                let wanted = try BaselineRequest(parameters)
                if wanted != .list { try caller.requireWrite() }
                if case .delete = wanted { try caller.requirePerson(for: "baseline delete") }
                tuning.baseline(
                    wanted, owner: caller.changeOwner, by: caller.client.description, done)
            }.answering(BaselineReport.self),
            .saving("reload", "Reads the configuration files again.", isWrite: true) {
                (_, caller, done: @escaping Later<Wire.ReloadReport>) throws(Refusal) in
                try caller.requirePerson(for: "reload")
                tuning.reload(by: caller.client.description) {
                    done($0.map { Wire.ReloadReport($0) })
                }
            },
        ]
    }

    /// Settings that a request names. Each setting is included only once, even if the request names
    /// it repeatedly. Therefore the answer is never longer than the answer of the method `keys`,
    /// which lists every setting.
    private static func chosen(
        _ patterns: [String], of settings: [Wire.Setting]
    ) throws(Refusal) -> [Wire.Setting] {
        if patterns.isEmpty { return settings }
        var wanted: [String: Bool] = [:]
        for pattern in patterns { wanted[section(pattern)] = false }
        let chosen = settings.filter { setting in
            // The name of a section selects all settings of the section.
            let names = names(of: setting.key).filter { wanted[$0] != nil }
            for name in names { wanted[name] = true }
            return !names.isEmpty
        }
        if let unknown = patterns.first(where: { wanted[section($0)] == false }) {
            throw Refusal(
                .unknownKey,
                "There is no setting \"\(unknown.prefix(128))\"."
                    + Suggestion.sentence(for: unknown, in: settings.map(\.key)),
                field: "keys")
        }
        return chosen
    }

    /// Converts a pattern to a key or a section: `control.*` becomes `control`.
    private static func section(_ pattern: String) -> String {
        pattern.hasSuffix(".*") ? String(pattern.dropLast(2)) : pattern
    }

    /// The given key, and the names of all sections that contain the key.
    private static func names(of key: String) -> [String] {
        let parts = key.split(separator: ".")
        return parts.indices.map { parts[...$0].joined(separator: ".") }
    }
}

/// Action of a request about baselines.
enum BaselineRequest: Hashable, Sendable {
    /// List the names of all baselines.
    case list
    /// Save the current settings under a name.
    case store(String)
    /// Restore the settings that were saved under a name.
    case restore(String)
    /// Restore the settings of the next baseline, in the order of the names.
    case next
    /// Delete a baseline, which consists of a name and the settings that were saved under this
    /// name.
    case delete(String)

    /// Names of the actions in requests.
    fileprivate static let words = ["list", "store", "restore", "next", "delete"]

    fileprivate init(_ parameters: Parameters) throws(Refusal) {
        switch try parameters.action() {
        case "store": self = .store(try Self.name(parameters))
        case "restore": self = .restore(try Self.name(parameters))
        case "next": self = .next
        case "delete": self = .delete(try Self.name(parameters))
        default: self = .list
        }
    }

    /// Name of a baseline in a request.
    private static func name(_ parameters: Parameters) throws(Refusal) -> String {
        let name = try parameters.requiredString("name")
        guard BaselineName.isValid(name) else {
            throw Refusal(.invalidParams, "name must be \(BaselineName.rule).", field: "name")
        }
        return name
    }
}

extension SocketMethod.Caller {
    /// Owner of the caller's temporary changes.
    var changeOwner: ChangeOwner { client.isAssistant ? .assistants : .people }
}
