public import GimbalCore
public import Port

/// The value of one setting, in the unit of its key.
public enum SettingValue: Sendable, Equatable {
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// A finite number.
    case number(Double)
    /// Text, a path, or a word of an enumeration.
    case text(String)
    /// The array `[yaw, roll, pitch]`.
    case triple(AxisVector)
    /// The array `[pitch, roll, yaw]`, each number 1 or -1.
    case signs(AxisSigns)
    /// The array `[[min, max], [min, max], [min, max]]` for yaw, roll and pitch.
    case ranges(AxisRanges)
    /// The array `[[hz, q, depth], …]`.
    case notches([Notch])
    /// The array `["CONTROL GESTURE: ACTION", …]`.
    case bindings([ControlBinding])
    /// The array `[p, i, d]`.
    case pid(PIDTriple)

    /// The value as TOML text; parsing this text gives the identical value.
    public var tomlText: String {
        switch self {
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .number(let value): return Self.text(of: value)
        case .text(let value): return Self.quoted(value)
        case .triple(let v):
            return "[\(Self.text(of: v.yaw)), \(Self.text(of: v.roll)), \(Self.text(of: v.pitch))]"
        case .signs(let v): return "[\(v.pitch), \(v.roll), \(v.yaw)]"
        case .pid(let v):
            return "[\(Self.text(of: v.p)), \(Self.text(of: v.i)), \(Self.text(of: v.d))]"
        case .bindings(let bindings):
            return "[\(bindings.map { Self.quoted($0.description) }.joined(separator: ", "))]"
        case .notches(let notches):
            let rows = notches.map {
                "[\([$0.hz, $0.q, $0.depth].map(Self.text).joined(separator: ", "))]"
            }
            return "[\(rows.joined(separator: ", "))]"
        case .ranges(let r):
            let pairs = [
                (r.lower.yaw, r.upper.yaw), (r.lower.roll, r.upper.roll),
                (r.lower.pitch, r.upper.pitch),
            ]
            let texts = pairs.map { "[\(Self.text(of: $0.0)), \(Self.text(of: $0.1))]" }
            return "[" + texts.joined(separator: ", ") + "]"
        }
    }

    /// The shortest text that parses to the same number. A whole number is written without a
    /// decimal point.
    static func text(of value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return String(Int(value)) }
        return value.description
    }

    /// The text as a basic string of TOML, in quotes.
    static func quoted(_ value: String) -> String {
        var result = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
