import GimbalCore
import Port

/// One setting: its key, allowed values, meaning, and property of `Settings`.
public struct Setting: Sendable, CustomStringConvertible {
    /// Type and allowed values of a setting. Ranges include both ends.
    public enum Kind: Sendable, Equatable {
        /// The value is `true` or `false`.
        case bool
        /// A whole number.
        case integer(ClosedRange<Int>)
        /// A finite number.
        case number(ClosedRange<Double>)
        /// One of the listed words. `unavailable` contains the words that this build does not
        /// support, and the reasons.
        case choice([String], unavailable: [String: String])
        /// Printable text of 1...maxLength bytes.
        case text(maxLength: Int)
        /// An absolute path of at most `maxLength` bytes.
        case path(maxLength: Int)
        /// An absolute path of at most `maxLength` bytes, or `off`.
        case optionalPath(maxLength: Int)
        /// An absolute path in a URI, of at most `maxLength` bytes, without empty parts, a query or a
        /// fragment.
        case uriPath(maxLength: Int)
        /// `ADDRESS:PORT` with a numeric address, `[ADDRESS]:PORT` for IPv6, or `off`.
        case endpoint
        /// `ADDRESS:PORT` with a numeric address, or `[ADDRESS]:PORT` for IPv6.
        case requiredEndpoint
        /// `[yaw, roll, pitch]`, each in the range.
        case triple(ClosedRange<Double>)
        /// `[pitch, roll, yaw]`, each 1 or -1.
        case signs
        /// `[[min, max], [min, max], [min, max]]`: all values in the range, and each `min` below
        /// its `max`.
        case ranges(ClosedRange<Double>)
        /// `[[hz, q, depth], …]`, at most `maxCount` notches.
        case notches(maxCount: Int)
        /// `["CONTROL GESTURE: ACTION", …]`, at most `maxCount` strings.
        case bindings(maxCount: Int)
        /// `[p, i, d]`, each in its own range.
        case pid(p: ClosedRange<Double>, i: ClosedRange<Double>, d: ClosedRange<Double>)

        /// Name of the type, for clients that generate input forms: the name of the case; `path`
        /// for all kinds of paths, `endpoint` for both kinds of endpoints.
        public var name: String {
            switch self {
            case .bool: "bool"
            case .integer: "integer"
            case .number: "number"
            case .choice: "choice"
            case .text: "text"
            case .path, .optionalPath, .uriPath: "path"
            case .endpoint, .requiredEndpoint: "endpoint"
            case .triple: "triple"
            case .signs: "signs"
            case .ranges: "ranges"
            case .notches: "notches"
            case .bindings: "bindings"
            case .pid: "pid"
            }
        }

        /// True if the value is text of the user's choice. On a command line and in a request, such
        /// text needs no quotes.
        var isText: Bool {
            switch self {
            case .text, .path, .optionalPath, .uriPath, .endpoint, .requiredEndpoint: true
            default: false
            }
        }
    }

    /// Time at which a changed value takes effect.
    public enum Applies: String, Sendable {
        /// The change takes effect within a few ticks of the loop. `set` and reload can change the
        /// value.
        case live
        /// The change takes effect at the next start of the process. `set` refuses the change, and
        /// a reload reports the change without applying it.
        case restart
    }

    /// Dotted path, such as `loop.rate_hz`.
    public let key: String
    /// Allowed values.
    public let kind: Kind
    /// Unit for display; nil for a value without a unit.
    public let unit: String?
    /// Time at which a change takes effect: immediately, or at the next start.
    public let applies: Applies
    /// Description, in one sentence.
    public let summary: String
    /// Remedy in the message about an invalid value; nil if the message states only the range.
    public let hint: String?
    /// Permission of assistants to change the value temporarily.
    public internal(set) var assistantAccess = AssistantAccess.none

    /// The property of `Settings` that contains the value.
    let path: any PartialKeyPath<Settings> & Sendable
    let read: @Sendable (Settings) -> SettingValue
    /// Writes a value to the property without a range check. A value of another type has no effect.
    public let write: @Sendable (inout Settings, SettingValue) -> Void

    /// The key of the setting.
    public var description: String { key }

    /// The built-in value.
    public var defaultValue: SettingValue { read(Settings()) }

    /// The value in `settings`.
    public func value(in settings: Settings) -> SettingValue { read(settings) }

    /// Name of the setting's table, for example `loop` for `loop.rate_hz`.
    public var table: String { String(key[..<(key.lastIndex(of: ".") ?? key.startIndex)]) }

    /// Name of the setting within its table, for example `rate_hz` for `loop.rate_hz`.
    public var name: String {
        key.lastIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key
    }

    /// Allowed values, in one phrase: `50...4000`, `still | handheld | walking`.
    public var allowed: String {
        switch kind {
        case .bool: "true | false"
        case .integer(let range): "\(range.lowerBound)...\(range.upperBound)"
        case .number(let range): Self.text(of: range)
        case .choice(let words, _): words.joined(separator: " | ")
        case .text(let length): "text of 1...\(length) bytes"
        case .path(let length): "absolute path of at most \(length) bytes"
        case .optionalPath(let length): "off, or an absolute path of at most \(length) bytes"
        case .uriPath(let length):
            "absolute path of at most \(length) ASCII characters without spaces, question marks, number signs, double slashes and a slash at the end (/ alone is allowed)"
        case .endpoint: "off, or ADDRESS:PORT with a numeric address"
        case .requiredEndpoint: "ADDRESS:PORT with a numeric address"
        case .triple(let range): "[yaw, roll, pitch], each \(Self.text(of: range))"
        case .signs: "[pitch, roll, yaw], each 1 or -1"
        case .ranges(let range):
            "[[min, max], …] for yaw, roll, pitch, each \(Self.text(of: range))"
        case .bindings(let count): "up to \(count) strings \"CONTROL GESTURE: ACTION\""
        case .notches(let count):
            "at most \(count) notches [centre, Q, depth], with "
                + Self.notchParts.map { "\($0.name) \(Self.text(of: $0.range))" }
                .joined(separator: ", ")
        case .pid(let p, let i, let d):
            "[p, i, d], p \(Self.text(of: p)), i \(Self.text(of: i)), d \(Self.text(of: d))"
        }
    }

    /// Permitted centres of a notch filter, Hz.
    public static let notchCentres = 5.0...1000.0

    /// Ranges of a notch filter's parameters: frequency (Hz), quality factor, depth (dB).
    static let notchParts: [(name: String, range: ClosedRange<Double>)] = [
        ("centre", notchCentres), ("Q", 0.5...20), ("depth", 3...60),
    ]

    static func text(of range: ClosedRange<Double>) -> String {
        SettingValue.text(of: range.lowerBound) + "..." + SettingValue.text(of: range.upperBound)
    }
}

// Each kind of setting has its own factory, so the compiler checks the type of each schema entry.
extension Setting {
    typealias Path<Value> = any WritableKeyPath<Settings, Value> & Sendable

    private init<Value>(
        _ key: String, _ path: Path<Value>, _ kind: Kind, _ unit: String?, _ applies: Applies,
        _ summary: String, _ hint: String?,
        wrap: @escaping @Sendable (Value) -> SettingValue,
        unwrap: @escaping @Sendable (SettingValue) -> Value?
    ) {
        self.init(
            key: key, kind: kind, unit: unit, applies: applies, summary: summary, hint: hint,
            path: path, read: { wrap($0[keyPath: path]) },
            write: { if let value = unwrap($1) { $0[keyPath: path] = value } })
    }

    static func bool(
        _ key: String, _ path: Path<Bool>, _ applies: Applies, _ summary: String
    ) -> Setting {
        Setting(key, path, .bool, nil, applies, summary, nil, wrap: SettingValue.bool) {
            if case .bool(let value) = $0 { value } else { nil }
        }
    }

    static func integer(
        _ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, unit: String? = nil,
        _ applies: Applies, _ summary: String, hint: String? = nil
    ) -> Setting {
        Setting(
            key, path, .integer(range), unit, applies, summary, hint, wrap: SettingValue.integer
        ) { if case .integer(let value) = $0 { value } else { nil } }
    }

    static func number(
        _ key: String, _ path: Path<Double>, _ range: ClosedRange<Double>, unit: String? = nil,
        _ applies: Applies, _ summary: String, hint: String? = nil
    ) -> Setting {
        Setting(
            key, path, .number(range), unit, applies, summary, hint, wrap: SettingValue.number
        ) { if case .number(let value) = $0 { value } else { nil } }
    }

    static func triple(
        _ key: String, _ path: Path<AxisVector>, _ range: ClosedRange<Double>,
        unit: String? = nil, _ applies: Applies, _ summary: String, hint: String? = nil
    ) -> Setting {
        Setting(
            key, path, .triple(range), unit, applies, summary, hint, wrap: SettingValue.triple
        ) { if case .triple(let value) = $0 { value } else { nil } }
    }

    static func ranges(
        _ key: String, _ path: Path<AxisRanges>, _ range: ClosedRange<Double>,
        unit: String? = nil, _ applies: Applies, _ summary: String
    ) -> Setting {
        Setting(key, path, .ranges(range), unit, applies, summary, nil, wrap: SettingValue.ranges) {
            if case .ranges(let value) = $0 { value } else { nil }
        }
    }

    static func notches(
        _ key: String, _ path: Path<[Notch]>, _ applies: Applies, _ summary: String,
        hint: String? = nil
    ) -> Setting {
        Setting(
            key, path, .notches(maxCount: 4), "Hz, 1, dB", applies, summary, hint,
            wrap: SettingValue.notches
        ) { if case .notches(let value) = $0 { value } else { nil } }
    }

    static func bindings(
        _ key: String, _ path: Path<[ControlBinding]>, _ applies: Applies, _ summary: String,
        hint: String? = nil
    ) -> Setting {
        Setting(
            key, path, .bindings(maxCount: 64), nil, applies, summary, hint,
            wrap: SettingValue.bindings
        ) { if case .bindings(let value) = $0 { value } else { nil } }
    }

    static func pid(
        _ key: String, _ path: Path<PIDTriple>, p: ClosedRange<Double>, i: ClosedRange<Double>,
        d: ClosedRange<Double>, _ applies: Applies, _ summary: String, hint: String? = nil
    ) -> Setting {
        Setting(
            key, path, .pid(p: p, i: i, d: d), nil, applies, summary, hint, wrap: SettingValue.pid
        ) { if case .pid(let value) = $0 { value } else { nil } }
    }

    static func signs(
        _ key: String, _ path: Path<AxisSigns>, _ applies: Applies, _ summary: String,
        hint: String? = nil
    ) -> Setting {
        Setting(key, path, .signs, nil, applies, summary, hint, wrap: SettingValue.signs) {
            if case .signs(let value) = $0 { value } else { nil }
        }
    }

    private static func string(
        _ key: String, _ path: Path<String>, _ kind: Kind, _ applies: Applies, _ summary: String,
        _ hint: String?
    ) -> Setting {
        Setting(key, path, kind, nil, applies, summary, hint, wrap: SettingValue.text) {
            if case .text(let value) = $0 { value } else { nil }
        }
    }

    static func text(
        _ key: String, _ path: Path<String>, maxLength: Int, _ applies: Applies,
        _ summary: String, hint: String? = nil
    ) -> Setting { string(key, path, .text(maxLength: maxLength), applies, summary, hint) }

    static func path(
        _ key: String, _ path: Path<String>, maxLength: Int = 4095, _ applies: Applies,
        _ summary: String, hint: String? = nil
    ) -> Setting { string(key, path, .path(maxLength: maxLength), applies, summary, hint) }

    static func optionalPath(
        _ key: String, _ path: Path<String>, _ applies: Applies, _ summary: String,
        hint: String? = nil
    ) -> Setting { string(key, path, .optionalPath(maxLength: 4095), applies, summary, hint) }

    static func endpoint(
        _ key: String, _ path: Path<String>, _ applies: Applies, _ summary: String,
        hint: String? = nil
    ) -> Setting { string(key, path, .endpoint, applies, summary, hint) }

    /// Creates an enumeration setting from words and their values. `words` lists every value once,
    /// in the order of display.
    static func choice<Value: Equatable & Sendable>(
        _ key: String, _ path: Path<Value>, _ words: [(String, Value)],
        unavailable: [String: String] = [:], _ applies: Applies, _ summary: String,
        hint: String? = nil
    ) -> Setting {
        // `words` must contain every value of the type. The round-trip test detects a missing
        // value.
        Setting(
            key, path, .choice(words.map(\.0), unavailable: unavailable), nil, applies, summary,
            hint, wrap: { value in .text(words.first { $0.1 == value }?.0 ?? "") }
        ) { value in
            if case .text(let word) = value { words.first { $0.0 == word }?.1 } else { nil }
        }
    }

    /// Creates an enumeration setting. The setting's words are the raw values of a Swift
    /// enumeration.
    static func choice<Value>(
        _ key: String, _ path: Path<Value>, unavailable: [String: String] = [:],
        _ applies: Applies, _ summary: String, hint: String? = nil
    ) -> Setting
    where Value: RawRepresentable<String> & CaseIterable & Equatable & Sendable {
        choice(
            key, path, Value.allCases.map { ($0.rawValue, $0) }, unavailable: unavailable, applies,
            summary, hint: hint)
    }
}
