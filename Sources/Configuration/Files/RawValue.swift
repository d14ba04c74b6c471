/// A TOML value, before the check against the type and range of a setting.
package enum RawValue: Sendable, Equatable {
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case array([RawValue])
    case table
    case date

    /// Parses the text of a value: TOML, or an unquoted word; nil if the text is neither.
    package init?(text: String) {
        guard let value = LiteralReader.read(text) else { return nil }
        self = value
    }

    /// The value as TOML in one line; nil for a table or a date.
    var tomlText: String? {
        switch self {
        case .bool(let value): return SettingValue.bool(value).tomlText
        case .integer(let value): return SettingValue.integer(value).tomlText
        case .number(let value): return SettingValue.number(value).tomlText
        case .text(let value): return SettingValue.text(value).tomlText
        case .array(let items):
            let texts = items.compactMap(\.tomlText)
            guard texts.count == items.count else { return nil }
            return "[" + texts.joined(separator: ", ") + "]"
        case .table, .date: return nil
        }
    }

    /// Name of the type, for messages.
    var typeName: String {
        switch self {
        case .bool: "true or false"
        case .integer: "a whole number"
        case .number(let value): value.isFinite ? "a number" : "not a finite number"
        case .text: "a string"
        case .array(let items): items.first == .table ? "an array of tables" : "an array"
        case .table: "a table"
        case .date: "a date or time"
        }
    }

    /// The value of an integer or a float; nil for other types.
    var asNumber: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
