import PlainText
import GimbalCore

// The one place that decides whether a value is allowed.
extension Setting {
    /// Turns what was written into the value of this setting.
    ///
    /// - Parameters:
    ///   - raw: What TOML read.
    ///   - written: The same as text, for the message.
    ///   - place: Where, for the message.
    /// - Returns: A value that `write` accepts.
    /// - Throws: The problem, when type or range do not fit.
    func check(
        _ raw: RawValue, written: String, at place: Place?
    ) throws(ConfigurationProblem) -> SettingValue {
        func problem(
            _ kind: ConfigurationProblem.Kind, _ complaint: String, hint: String? = nil
        ) -> ConfigurationProblem {
            ConfigurationProblem(
                kind, at: place, key: key, value: written, complaint, allowed: allowed,
                hint: hint ?? self.hint)
        }
        func mismatch(_ expected: String) -> ConfigurationProblem {
            problem(.wrongType, "is \(raw.typeName) where \(expected) is expected (\(allowed))")
        }
        switch kind {
        case .bool:
            guard case .bool(let value) = raw else { throw mismatch("true or false") }
            return .bool(value)
        case .integer(let range):
            guard let number = raw.asNumber, number.isFinite else {
                throw mismatch("a whole number")
            }
            guard number == number.rounded() else {
                throw problem(
                    .wrongType,
                    "has a fraction where a whole number is expected (\(allowed))")
            }
            guard let value = Self.wholeNumber(raw), range.contains(value) else {
                throw problem(.outOfRange, "is outside \(allowed)")
            }
            return .integer(value)
        case .number(let range):
            guard let value = raw.asNumber, value.isFinite else { throw mismatch("a number") }
            guard range.contains(value) else { throw problem(.outOfRange, "is outside \(allowed)") }
            return .number(value == 0 ? 0 : value)
        case .choice(let words, let unavailable):
            // 57600 is a word of a choice as well.
            if case .integer(let number) = raw, words.contains(String(number)) {
                return .text(String(number))
            }
            guard case .text(let word) = raw else { throw mismatch("one of these words") }
            if words.contains(word) { return .text(word) }
            if let reason = unavailable[word] {
                throw problem(
                    .unavailable, "is not available: \(reason)", hint: "Use \(allowed).")
            }
            let guess = Suggestion.nearest(to: word, in: words)
            throw problem(
                .outOfRange, "is not one of \(allowed)", hint: guess.map { "Did you mean \($0)?" })
        case .text(let length):
            guard case .text(let text) = raw else { throw mismatch("a string") }
            guard Self.isPrintable(text), (1...length).contains(text.utf8.count) else {
                throw problem(.outOfRange, "is not \(allowed)")
            }
            return .text(text)
        case .path(let length):
            guard case .text(let text) = raw else { throw mismatch("a path in quotes") }
            guard Self.isPrintable(text), text.hasPrefix("/"), text.utf8.count <= length else {
                throw problem(.outOfRange, "is not an \(allowed)")
            }
            return .text(text)
        case .optionalPath(let length):
            guard case .text(let text) = raw else { throw mismatch("off, or a path in quotes") }
            guard
                text == "off"
                    || Self.isPrintable(text) && text.hasPrefix("/") && text.utf8.count <= length
            else { throw problem(.outOfRange, "is not \(allowed)") }
            return .text(text)
        case .endpoint:
            guard case .text(let text) = raw else { throw mismatch("off, or an address in quotes") }
            guard text == "off" || NetworkEndpoint(text) != nil else {
                throw problem(.outOfRange, "is not \(allowed)")
            }
            return .text(text)
        case .triple(let range):
            let values = try numbers(raw, in: range, problem: problem, mismatch: mismatch)
            return .triple(AxisVector(yaw: values[0], roll: values[1], pitch: values[2]))
        case .signs:
            let parts = ["pitch", "roll", "yaw"].map { ($0, -1.0...1.0) }
            let values = try elements(
                raw, named: "[pitch, roll, yaw]", parts, problem: problem, mismatch: mismatch)
            guard values.allSatisfy({ abs($0) == 1 }) else {
                throw problem(.outOfRange, "is not \(allowed)")
            }
            return .signs(
                AxisSigns(pitch: Int(values[0]), roll: Int(values[1]), yaw: Int(values[2])))
        case .notches(let count):
            let shape = "[[centre, Q, depth], …]"
            guard case .array(let rows) = raw else { throw mismatch(shape) }
            guard rows.count <= count else {
                throw problem(.outOfRange, "has \(rows.count) notches where \(count) fit")
            }
            var notches: [Notch] = []
            for row in rows {
                let values = try elements(
                    row, named: "[centre, Q, depth]", Self.notchParts, problem: problem,
                    mismatch: mismatch)
                notches.append(Notch(hz: values[0], q: values[1], depth: values[2]))
            }
            return .notches(notches)
        case .pid(let p, let i, let d):
            let values = try elements(
                raw, named: "[p, i, d]", Self.parts(p: p, i: i, d: d), problem: problem,
                mismatch: mismatch)
            return .pid(PIDTriple(p: values[0], i: values[1], d: values[2]))
        case .ranges(let range):
            return .ranges(try intervals(raw, in: range, problem: problem, mismatch: mismatch))
        }
    }

    private typealias Complain = (ConfigurationProblem.Kind, String, String?) ->
        ConfigurationProblem

    private func numbers(
        _ raw: RawValue, in range: ClosedRange<Double>, problem: Complain,
        mismatch: (String) -> ConfigurationProblem
    ) throws(ConfigurationProblem) -> [Double] {
        try elements(
            raw, named: "[yaw, roll, pitch]", Self.axes.map { ($0, range) }, problem: problem,
            mismatch: mismatch)
    }

    /// An array with one number for each part.
    private func elements(
        _ raw: RawValue, named shape: String, _ parts: [(name: String, range: ClosedRange<Double>)],
        problem: Complain, mismatch: (String) -> ConfigurationProblem
    ) throws(ConfigurationProblem) -> [Double] {
        guard case .array(let items) = raw else { throw mismatch(shape) }
        guard items.count == parts.count else {
            throw problem(
                .wrongType, "has \(items.count) elements where \(shape) has \(parts.count)", nil)
        }
        var values: [Double] = []
        for (item, part) in zip(items, parts) {
            guard let value = item.asNumber, value.isFinite else {
                throw problem(
                    .wrongType, "has \(item.typeName) for \(part.name) where a number is expected",
                    nil)
            }
            guard part.range.contains(value) else {
                throw problem(
                    .outOfRange, "is outside \(Self.text(of: part.range)) for \(part.name)", nil)
            }
            values.append(value == 0 ? 0 : value)
        }
        return values
    }

    private func intervals(
        _ raw: RawValue, in range: ClosedRange<Double>, problem: Complain,
        mismatch: (String) -> ConfigurationProblem
    ) throws(ConfigurationProblem) -> AxisRanges {
        let shape = "[[min, max], [min, max], [min, max]]"
        guard case .array(let items) = raw else { throw mismatch(shape) }
        guard items.count == 3 else {
            throw problem(.wrongType, "has \(items.count) elements where \(shape) has 3", nil)
        }
        var ends: [(Double, Double)] = []
        for (item, axis) in zip(items, Self.axes) {
            guard case .array(let pair) = item, pair.count == 2,
                let lower = pair[0].asNumber, let upper = pair[1].asNumber,
                lower.isFinite, upper.isFinite
            else {
                throw problem(
                    .wrongType, "has no [min, max] of two finite numbers for \(axis)", nil)
            }
            guard range.contains(lower), range.contains(upper) else {
                throw problem(
                    .outOfRange, "is outside \(Self.text(of: range)) for \(axis)", nil)
            }
            guard lower < upper else {
                throw problem(.outOfRange, "has min not below max for \(axis)", nil)
            }
            ends.append((lower == 0 ? 0 : lower, upper == 0 ? 0 : upper))
        }
        return AxisRanges(
            lower: AxisVector(yaw: ends[0].0, roll: ends[1].0, pitch: ends[2].0),
            upper: AxisVector(yaw: ends[0].1, roll: ends[1].1, pitch: ends[2].1))
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
