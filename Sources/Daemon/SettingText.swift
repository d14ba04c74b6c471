import Configuration
import GimbalCore
import Wire

extension JSONValue {
    /// A setting's value as JSON.
    init(_ value: SettingValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .int(value)
        case .number(let value): self = .double(value)
        case .text(let value): self = .string(value)
        case .triple(let v): self = .array([.double(v.yaw), .double(v.roll), .double(v.pitch)])
        case .notches(let notches):
            self = .array(
                notches.map { .array([.double($0.hz), .double($0.q), .double($0.depth)]) })
        case .pid(let v): self = .array([.double(v.p), .double(v.i), .double(v.d)])
        case .ranges(let r):
            self = .array(
                [
                    (r.lower.yaw, r.upper.yaw), (r.lower.roll, r.upper.roll),
                    (r.lower.pitch, r.upper.pitch),
                ].map { .array([.double($0.0), .double($0.1)]) })
        }
    }

    /// The value as TOML for a setting. A string is taken as TOML itself (`"[40, 40, 50]"`), or as a bare word.
    func tomlText(for key: String) -> String {
        if case .string(let text) = self { return text }
        return plainText
    }

    private var plainText: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        case .double(let value): value.description
        case .string(let text): SettingValue.text(text).tomlText
        case .array(let values): "[" + values.map(\.plainText).joined(separator: ", ") + "]"
        case .object: "{}"
        }
    }
}

extension RequestError {
    /// A problem with a setting, as the client reads it.
    init(_ problem: ConfigurationProblem) {
        let code: Code =
            switch problem.kind {
            case .unknownKey: .unknownKey
            case .outOfRange, .conflict: .outOfRange
            case .notLive: .refused
            default: .invalidParams
            }
        self.init(code, problem.description, field: problem.kind == .unknownKey ? "key" : "value")
    }
}
