import GimbalCore
import Wire

/// Converter of conditions into status texts for ground stations. The text about a condition is
/// sent when the condition appears, at most once a second.
struct FaultAnnouncer {
    private static let quietSeconds = 1.0
    /// Largest size of one chunk of a status text, bytes.
    private static let chunk = 50

    private var last = Conditions.none
    private var named: [UInt64: Instant] = [:]
    private var number: UInt16 = 0

    /// Creates the messages that must be sent now about the present conditions.
    mutating func messages(for conditions: Conditions, now: Instant) -> [StatusText] {
        let appeared = conditions.subtracting(last)
        last = conditions
        return Conditions.catalogue.filter { appeared.intersects($0.condition) }
            .flatMap { words -> [StatusText] in
                let bit = words.condition.rawValue
                if let before = named[bit], now.seconds(since: before) < Self.quietSeconds {
                    return []
                }
                named[bit] = now
                return sentence(words.sentence, severity: Self.severity(of: words.condition))
            }
    }

    /// Creates the STATUSTEXT messages for one text, in as many chunks as necessary. The last of
    /// several chunks contains fewer bytes than fit, because the NUL after the text marks the end.
    mutating func sentence(_ text: String, severity: UInt8) -> [StatusText] {
        var bytes = Array(text.utf8)
        let isWhole = bytes.count <= Self.chunk
        if !isWhole { number = number == .max ? 1 : number + 1 }
        Self.align(&bytes)
        let last = isWhole ? 0 : bytes.count
        return stride(from: 0, through: last, by: Self.chunk).enumerated().map {
            index, start in
            var message = StatusText()
            message.severity = severity
            message.text = String(
                decoding: bytes[start..<min(start + Self.chunk, bytes.count)], as: UTF8.self)
            message.number = isWhole ? 0 : number
            message.chunk = UInt8(truncatingIfNeeded: index)
            return message
        }
    }

    /// Inserts spaces between words, so that no chunk ends within a UTF-8 character. A chunk before
    /// the last one cannot be shorter instead, because the NUL after it would end the text.
    private static func align(_ bytes: inout [UInt8]) {
        var end = chunk
        while end < bytes.count {
            // The bits 10 mark every byte of a character but the first.
            let first = bytes[...end].lastIndex { $0 & 0xC0 != 0x80 } ?? end
            let gap = bytes[(end - chunk)..<first].lastIndex(of: UInt8(ascii: " ")) ?? first
            bytes.insert(contentsOf: repeatElement(UInt8(ascii: " "), count: end - first), at: gap)
            end += chunk
        }
    }

    /// Severity of a condition, as a value of MAV_SEVERITY. Outputs that are off at a user's request
    /// are not an error.
    private static func severity(of condition: Conditions) -> UInt8 {
        if condition.intersects(.emergencyStop) { return 1 }
        switch Supervisor.response(to: condition.subtracting(Supervisor.wishes | .shutdown)) {
        case .off, .brake, .softOff: return 3
        case .blockStart, .report: return 5
        }
    }
}
