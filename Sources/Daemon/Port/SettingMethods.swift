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
            .question("keys") { (_, _) throws(Refusal) in tuning.list() },
            .question("get", ["keys"]) { (parameters, _) throws(Refusal) in
                try chosen(try parameters.strings("keys") ?? [], of: tuning.list())
            },
            .change("set", ["key", "value", "rollback"]) { (parameters, caller) throws(Refusal) in
                try tuning.set(
                    key: try parameters.requiredString("key"),
                    value: try parameters.required("value"),
                    rollback: try parameters.number("rollback", in: 1...3600, unit: "s"),
                    by: caller.client.description)
            },
            .question("diff") { (_, _) throws(Refusal) in tuning.diff() },
            .question("history") { (_, _) throws(Refusal) in tuning.history.entries },
            .saving("save", isWrite: true) {
                (_, caller, done: @escaping Later<Acknowledgement>) throws(Refusal) in
                tuning.save(by: caller.client.description) { done($0.map { Acknowledgement($0) }) }
            },
            .saving("baseline", ["action", "name"], isWrite: false) {
                (parameters, caller, done) throws(Refusal) in
                let wanted = try BaselineRequest(parameters)
                if wanted != .list { try caller.requireWrite() }
                tuning.baseline(wanted, by: caller.client.description, done)
            },
            .saving("reload", isWrite: true) {
                (_, caller, done: @escaping Later<Wire.ReloadReport>) throws(Refusal) in
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
    /// Save the present settings under a name.
    case store(String)
    /// Restore the settings that were saved under a name.
    case restore(String)
    /// Delete a baseline, that is, a name and the settings that were saved under this name.
    case delete(String)

    fileprivate init(_ parameters: Parameters) throws(Refusal) {
        switch try parameters.action(of: ["list", "store", "restore", "delete"]) {
        case "store": self = .store(try Self.name(parameters))
        case "restore": self = .restore(try Self.name(parameters))
        case "delete": self = .delete(try Self.name(parameters))
        default: self = .list
        }
    }

    /// Name of a baseline in a request. The name is restricted to characters that are safe in a
    /// file name, because the name becomes part of a file name.
    private static func name(_ parameters: Parameters) throws(Refusal) -> String {
        let name = try parameters.requiredString("name")
        let isPlain = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        guard isPlain, (1...64).contains(name.utf8.count) else {
            throw Refusal(
                .invalidParams, "name must be 1 to 64 letters, digits, `-` and `_`.", field: "name")
        }
        return name
    }
}
