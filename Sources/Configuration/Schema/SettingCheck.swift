import GimbalCore
import PlainText
import Port

// Validation of settings' values. Only this extension decides whether a value is allowed.
extension Setting {
    /// Checks the value of a command line or of a request.
    ///
    /// - Parameters:
    ///   - raw: The parsed value; nil if the text `written` is not TOML. Without quotes, the name
    ///     "8BitDo Pro 2" is not TOML, and "123" is a number. Both are text for a setting with text.
    ///   - written: Text of the value.
    ///   - place: Location of the value, for the message.
    /// - Returns: A value that `write` accepts.
    /// - Throws: `ConfigurationProblem` if the text is not a value, or the value is not allowed.
    func value(
        _ raw: RawValue?, written: String, at place: Place?
    ) throws(ConfigurationProblem) -> SettingValue {
        guard let raw = kind.isText ? Self.text(raw, written) : raw else {
            throw notTOML(written, at: place)
        }
        return try check(raw, written: written, at: place)
    }

    /// Parses and checks the text of a value.
    ///
    /// - Parameters:
    ///   - text: TOML, or an unquoted word, which counts as a string.
    ///   - place: Location of the text, for the message.
    /// - Returns: The value, converted to the setting's type, such as a number or a Boolean.
    /// - Throws: `ConfigurationProblem` if the value is not allowed.
    public func value(of text: String, at place: Place?) throws(ConfigurationProblem)
        -> SettingValue
    {
        try value(LiteralReader.read(text), written: text, at: place)
    }

    /// Problem of a text that is not a TOML value.
    func notTOML(_ written: String, at place: Place?) -> ConfigurationProblem {
        ConfigurationProblem(
            .syntax, at: place, key: key, value: written, "is not a TOML value",
            allowed: allowed, hint: "Expected: \(allowed).")
    }

    private static func text(_ raw: RawValue?, _ written: String) -> RawValue? {
        switch raw {
        case .text, .array, .table: return raw
        default:
            let bytes = Array(written.utf8).trimmingBlanks()
            guard let first = bytes.first, first != UInt8(ascii: "\""), first != UInt8(ascii: "'")
            else { return raw }
            return .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Checks a parsed value, and converts it to the setting's type.
    ///
    /// - Parameters:
    ///   - raw: The parsed TOML value.
    ///   - written: Text of the value, for the message.
    ///   - place: Location of the value, for the message.
    /// - Returns: A value that `write` accepts.
    /// - Throws: `ConfigurationProblem` if the type or the range is wrong.
    func check(
        _ raw: RawValue, written: String, at place: Place?
    ) throws(ConfigurationProblem) -> SettingValue {
        let value: SettingValue
        do throws(BindingError) {
            value = try typed(raw)
        } catch {
            throw error.problem(self, written: written, at: place)
        }
        try check(value, written: written, at: place)
        return value
    }

    /// Checks the range of a value.
    ///
    /// - Parameters:
    ///   - value: Value of any type.
    ///   - written: Text of the value, for the message.
    ///   - place: Location of the value, for the message.
    /// - Throws: `ConfigurationProblem` if the type or the range is wrong.
    func check(
        _ value: SettingValue, written: @autoclosure () -> String, at place: Place? = nil
    ) throws(ConfigurationProblem) {
        if let misfit = misfit(value) { throw misfit.problem(self, written: written(), at: place) }
    }

    /// Reason for the refusal of a setting's value.
    private struct BindingError: Error {
        var kind: ConfigurationProblem.Kind
        var complaint: String
        var hint: String?

        func problem(_ setting: Setting, written: String, at place: Place?) -> ConfigurationProblem
        {
            ConfigurationProblem(
                kind, at: place, key: setting.key, value: written, complaint,
                allowed: setting.allowed, hint: hint ?? setting.hint)
        }
    }

    // MARK: Types

    private func typed(_ raw: RawValue) throws(BindingError) -> SettingValue {
        func mismatch(_ expected: String) -> BindingError {
            BindingError(
                kind: .wrongType,
                complaint: "is \(raw.typeName) where \(expected) is expected (\(allowed))")
        }
        switch (kind, raw) {
        case (.bool, .bool(let value)): return .bool(value)
        case (.bool, _): throw mismatch("true or false")
        case (.integer, _):
            guard let number = raw.asNumber, number.isFinite else {
                throw mismatch("a whole number")
            }
            guard number == number.rounded() else {
                throw BindingError(
                    kind: .wrongType,
                    complaint: "has a fraction where a whole number is expected (\(allowed))")
            }
            guard let value = Self.wholeNumber(raw) else { throw outOfRange }
            return .integer(value)
        case (.number, _):
            guard let value = raw.asNumber, value.isFinite else { throw mismatch("a number") }
            return .number(value == 0 ? 0 : value)
        case (.choice(let words, _), .integer(let number)) where words.contains(String(number)):
            // A word of an enumeration can look like a number, such as 57600.
            return .text(String(number))
        case (.choice, .text(let text)), (.text, .text(let text)), (.path, .text(let text)),
            (.optionalPath, .text(let text)), (.uriPath, .text(let text)),
            (.endpoint, .text(let text)), (.requiredEndpoint, .text(let text)):
            return .text(text)
        case (.choice, _): throw mismatch("one of these words")
        case (.text, _): throw mismatch("a string")
        case (.path, _), (.uriPath, _): throw mismatch("a path in quotes")
        case (.optionalPath, _): throw mismatch("off, or a path in quotes")
        case (.endpoint, _): throw mismatch("off, or an address in quotes")
        case (.requiredEndpoint, _): throw mismatch("an address in quotes")
        case (.triple, _):
            let v = try numbers(raw, named: "[yaw, roll, pitch]", Self.axes, mismatch)
            return .triple(AxisVector(yaw: v[0], roll: v[1], pitch: v[2]))
        case (.signs, _):
            let names = ["pitch", "roll", "yaw"]
            let v = try numbers(raw, named: "[pitch, roll, yaw]", names, mismatch)
            if let outside = Self.misfit(zip(names, v).map({ ($0, -1...1, $1) })) { throw outside }
            guard v.allSatisfy({ abs($0) == 1 }) else {
                throw BindingError(kind: .outOfRange, complaint: "is not \(allowed)")
            }
            return .signs(AxisSigns(pitch: Int(v[0]), roll: Int(v[1]), yaw: Int(v[2])))
        case (.notches, _):
            guard case .array(let rows) = raw else { throw mismatch("[[centre, Q, depth], …]") }
            var notches: [Notch] = []
            for row in rows {
                let names = Self.notchParts.map(\.name)
                let v = try numbers(row, named: "[centre, Q, depth]", names, mismatch)
                notches.append(Notch(hz: v[0], q: v[1], depth: v[2]))
            }
            return .notches(notches)
        case (.bindings, _):
            guard case .array(let items) = raw else { throw mismatch("an array of strings") }
            return .bindings(try bindings(items, mismatch))
        case (.pid, _):
            let v = try numbers(raw, named: "[p, i, d]", ["p", "i", "d"], mismatch)
            return .pid(PIDTriple(p: v[0], i: v[1], d: v[2]))
        case (.ranges, _): return .ranges(try intervals(raw, mismatch))
        }
    }

    /// Checks an array with one number for each element of `names`.
    private func numbers(
        _ raw: RawValue, named shape: String, _ names: [String],
        _ mismatch: (String) -> BindingError
    ) throws(BindingError) -> [Double] {
        guard case .array(let items) = raw else { throw mismatch(shape) }
        guard items.count == names.count else {
            throw BindingError(
                kind: .wrongType,
                complaint: "has \(items.count) elements; expected \(names.count): \(shape)")
        }
        var values: [Double] = []
        for (item, name) in zip(items, names) {
            guard let value = item.asNumber, value.isFinite else {
                throw BindingError(
                    kind: .wrongType,
                    complaint: "is wrong for \(name): \(item.typeName) where a number is expected")
            }
            values.append(value == 0 ? 0 : value)
        }
        return values
    }

    private func bindings(
        _ items: [RawValue], _ mismatch: (String) -> BindingError
    ) throws(BindingError) -> [ControlBinding] {
        var bindings: [ControlBinding] = []
        for item in items {
            guard case .text(let text) = item else { throw mismatch("an array of strings") }
            do throws(ControlBinding.BindingError) {
                bindings.append(try ControlBinding(parsing: text))
            } catch {
                throw BindingError(kind: .outOfRange, complaint: "is not valid: \(error.reason)")
            }
        }
        return bindings
    }

    private func intervals(
        _ raw: RawValue, _ mismatch: (String) -> BindingError
    ) throws(BindingError) -> AxisRanges {
        let shape = "[[min, max], [min, max], [min, max]]"
        guard case .array(let items) = raw else { throw mismatch(shape) }
        guard items.count == 3 else {
            throw BindingError(
                kind: .wrongType, complaint: "has \(items.count) elements; expected 3: \(shape)")
        }
        var ends: [(Double, Double)] = []
        for (item, axis) in zip(items, Self.axes) {
            guard case .array(let pair) = item, pair.count == 2,
                let lower = pair[0].asNumber, let upper = pair[1].asNumber,
                lower.isFinite, upper.isFinite
            else {
                throw BindingError(
                    kind: .wrongType,
                    complaint: "needs two finite numbers, [min, max], for \(axis)")
            }
            ends.append((lower == 0 ? 0 : lower, upper == 0 ? 0 : upper))
        }
        return AxisRanges(
            lower: AxisVector(yaw: ends[0].0, roll: ends[1].0, pitch: ends[2].0),
            upper: AxisVector(yaw: ends[0].1, roll: ends[1].1, pitch: ends[2].1))
    }

    // MARK: Ranges

    private var outOfRange: BindingError {
        BindingError(kind: .outOfRange, complaint: "is outside \(allowed)")
    }

    private func misfit(_ value: SettingValue) -> BindingError? {
        func unless(_ isFitting: Bool, _ complaint: String) -> BindingError? {
            isFitting ? nil : BindingError(kind: .outOfRange, complaint: complaint)
        }
        switch (kind, value) {
        case (.bool, .bool), (.signs, .signs): return nil
        case (.integer(let range), .integer(let value)):
            return range.contains(value) ? nil : outOfRange
        case (.number(let range), .number(let value)):
            return range.contains(value) ? nil : outOfRange
        case (.choice(let words, let unavailable), .text(let word)):
            if words.contains(word) { return nil }
            if let reason = unavailable[word] {
                return BindingError(
                    kind: .unavailable, complaint: "is not available: \(reason)",
                    hint: "Use \(allowed).")
            }
            let guess = Suggestion.nearest(to: word, in: words)
            return BindingError(
                kind: .outOfRange, complaint: "is not one of \(allowed)",
                hint: guess.map { "Did you mean \($0)?" })
        case (.text(let length), .text(let text)):
            return unless(
                Self.isPrintable(text) && (1...length).contains(text.utf8.count),
                "is not \(allowed)")
        case (.path(let length), .text(let text)):
            return unless(Self.isPath(text, length), "is not an \(allowed)")
        case (.optionalPath(let length), .text(let text)):
            return unless(text == "off" || Self.isPath(text, length), "is not \(allowed)")
        case (.uriPath(let length), .text(let text)):
            return unless(
                Self.isPath(text, length)
                    && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                    && !text.contains { $0 == "?" || $0 == "#" } && Self.hasWholeParts(text),
                "is not an \(allowed)")
        case (.endpoint, .text(let text)):
            return unless(text == "off" || NetworkEndpoint(text) != nil, "is not \(allowed)")
        case (.requiredEndpoint, .text(let text)):
            return unless(NetworkEndpoint(text) != nil, "is not \(allowed)")
        case (.triple(let range), .triple(let v)):
            return Self.misfit([
                ("yaw", range, v.yaw), ("roll", range, v.roll), ("pitch", range, v.pitch),
            ])
        case (.pid(let p, let i, let d), .pid(let v)):
            return Self.misfit([("p", p, v.p), ("i", i, v.i), ("d", d, v.d)])
        case (.notches(let count), .notches(let notches)):
            guard notches.count <= count else {
                return unless(false, "has \(notches.count) notches; at most \(count) are allowed")
            }
            return notches.lazy.compactMap { notch in
                Self.misfit(
                    zip(Self.notchParts, [notch.hz, notch.q, notch.depth])
                        .map { ($0.name, $0.range, $1) })
            }.first
        case (.bindings(let count), .bindings(let bindings)):
            guard bindings.count <= count else {
                return unless(false, "has \(bindings.count) entries; at most \(count) are allowed")
            }
            let twice = ControlBinding.repetition(in: bindings)
            return unless(
                twice == nil,
                "binds \(twice.map { "\($0.control) \($0.gesture?.rawValue ?? "")" } ?? "") twice")
        case (.ranges(let range), .ranges(let r)):
            for (axis, lower, upper) in [
                ("yaw", r.lower.yaw, r.upper.yaw), ("roll", r.lower.roll, r.upper.roll),
                ("pitch", r.lower.pitch, r.upper.pitch),
            ] {
                let part = Self.misfit([(axis, range, lower), (axis, range, upper)])
                if let part { return part }
                guard lower < upper else {
                    return unless(false, "has a minimum that is not below the maximum for \(axis)")
                }
            }
            return nil
        default:
            return BindingError(
                kind: .wrongType, complaint: "has the wrong type (expected: \(allowed))")
        }
    }

    private static func misfit(_ parts: [(name: String, range: ClosedRange<Double>, Double)])
        -> BindingError?
    {
        parts.first { !$0.range.contains($0.2) }.map {
            BindingError(
                kind: .outOfRange, complaint: "is outside \(text(of: $0.range)) for \($0.name)")
        }
    }

    private static func isPath(_ text: String, _ length: Int) -> Bool {
        isPrintable(text) && text.hasPrefix("/") && text.utf8.count <= length
    }

    /// True if no part between two slashes of an absolute path is empty. GStreamer's RTSP server
    /// removes empty parts from the address in a request, and then does not find such a path.
    private static func hasWholeParts(_ path: String) -> Bool {
        path == "/"
            || path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty }
    }

    private static let axes = ["yaw", "roll", "pitch"]

    private static func wholeNumber(_ raw: RawValue) -> Int? {
        switch raw {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
