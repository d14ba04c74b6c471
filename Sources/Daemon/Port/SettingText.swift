import Configuration
import GimbalCore
import Port
import Wire

extension JSONValue {
    /// Creates the JSON of a setting's value.
    init(_ value: SettingValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .int(value)
        case .number(let value): self = .double(value)
        case .text(let value): self = .string(value)
        case .triple(let v): self = .array([.double(v.yaw), .double(v.roll), .double(v.pitch)])
        case .signs(let v): self = .array([.int(v.pitch), .int(v.roll), .int(v.yaw)])
        case .bindings(let bindings):
            self = .array(bindings.map { .string($0.description) })
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

    /// The value of a setting as text, for messages and the history.
    var written: String {
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

extension RawValue {
    /// Creates the value of a setting from the JSON of a request. A JSON string contains TOML, such
    /// as `"[40, 40, 50]"`, or an unquoted word; nil if it contains neither.
    init?(_ json: JSONValue) {
        if case .string(let text) = json { self.init(text: text) } else { self.init(element: json) }
    }

    /// Creates a value whose strings are not TOML. JSON's null counts as a word.
    private init(element json: JSONValue) {
        self =
            switch json {
            case .null: .text("null")
            case .bool(let value): .bool(value)
            case .int(let value): .integer(value)
            case .double(let value): .number(value)
            case .string(let text): .text(text)
            case .array(let values): .array(values.map(RawValue.init(element:)))
            case .object: .table
            }
    }
}

extension Wire.Setting {
    /// Creates the description of a setting in a store. `rollback` is the remaining time of a
    /// temporary change, s.
    init(_ setting: Configuration.Setting, in store: ParameterStore, rollback: Double?) {
        let origin = store.origin(of: setting.key)
        self.init(
            key: setting.key, value: JSONValue(setting.value(in: store.settings)),
            defaultValue: JSONValue(store.defaultValue(of: setting)), origin: origin.description,
            type: setting.kind.name, unit: setting.unit ?? "", range: setting.allowed,
            summary: setting.summary,
            isLive: setting.applies == .live,
            rollbackS: origin == .live ? rollback.map { Number($0) } : nil,
            assistant: setting.assistantAccess == .none ? nil : setting.assistantAccess.rawValue)
    }
}

extension Configuration.Setting {
    /// True if a change of the setting can reduce the stability margins of a control loop.
    var affectsMargins: Bool {
        // The filter's delay determines the look-ahead of the attitude.
        ["control", "servo", "airos.pid", "filter"].contains(table) || key == "imu.filter_delay_ms"
    }
}
