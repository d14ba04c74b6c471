import Wire

/// Command from the wheels' remote control, one in each datagram. The app sends JSON,
/// `{"left":40,"right":-40,"timestamp":1.0}`; the app's documentation describes the text
/// `left,right,direction`. The parser accepts the JSON format and the text format.
///
/// Speeds are in percent of full speed, forwards positive, limited to ±100. The timestamp and the
/// direction (0 straight, 1 left, 2 right) are checked, but have no effect.
public enum RiderCommand: Sendable, Equatable {
    /// Turn the wheels at the given fractions of full speed, -1...1.
    case drive(left: Double, right: Double)
    /// Emergency stop of camera and wheels, latched: `{"command":"emergency_stop"}`.
    case emergencyStop
    /// Reset of a latched emergency stop: `{"command":"reset_emergency_stop"}`.
    case resetEmergencyStop

    /// Size of the longest accepted datagram, bytes.
    public static let longest = 1024

    /// Parses a datagram.
    ///
    /// - Parameter datagram: The received bytes.
    /// - Throws: The reason why the datagram contains no valid command.
    public init(datagram: [UInt8]) throws(RiderError) {
        guard datagram.count <= Self.longest else { throw .tooLong(datagram.count) }
        let isObject = datagram.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        self = isObject ? try Self.json(datagram) : try Self.text(datagram)
    }

    private static func json(_ datagram: [UInt8]) throws(RiderError) -> RiderCommand {
        guard let value = try? JSONValue(parsing: datagram) else { throw .notJSON }
        if let command = value["command"] {
            switch command.string {
            case "emergency_stop": return .emergencyStop
            case "reset_emergency_stop": return .resetEmergencyStop
            default: throw .unknownCommand
            }
        }
        if let timestamp = value["timestamp"], timestamp.number == nil {
            throw .notANumber("timestamp")
        }
        guard let left = value["left"]?.number else { throw .notANumber("left") }
        guard let right = value["right"]?.number else { throw .notANumber("right") }
        return .drive(left: share(left), right: share(right))
    }

    private static func text(_ datagram: [UInt8]) throws(RiderError) -> RiderCommand {
        guard let text = String(validating: datagram, as: UTF8.self) else { throw .notText }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingBlanks() }
        guard words.count == 3 else { throw .fields(words.count) }
        guard let left = Self.number(words[0]) else { throw .notANumber("left") }
        guard let right = Self.number(words[1]) else { throw .notANumber("right") }
        guard ["0", "1", "2"].contains(words[2]) else { throw .direction }
        return .drive(left: share(left), right: share(right))
    }

    /// Parses a decimal number with an optional sign, point and exponent; "inf" and "0x10" are
    /// refused.
    private static func number(_ word: Substring) -> Double? {
        guard word.allSatisfy({ "0123456789+-.eE".contains($0) }), let value = Double(word),
            value.isFinite
        else { return nil }
        return value
    }

    private static func share(_ percent: Double) -> Double { min(max(percent / 100, -1), 1) }
}

/// Error in a datagram of a remote control.
public enum RiderError: Error, Sendable, Equatable {
    /// The datagram is longer than every command. The associated value is the datagram's size,
    /// bytes.
    case tooLong(Int)
    /// The datagram begins like JSON, but is not valid JSON.
    case notJSON
    /// The datagram is neither JSON nor text.
    case notText
    /// The text does not have three fields. The associated value is the number of fields.
    case fields(Int)
    /// A field is missing or not a finite number. The associated value is the field's name.
    case notANumber(String)
    /// The direction is not 0, 1 or 2.
    case direction
    /// The datagram contains an unknown command.
    case unknownCommand
}

extension Substring {
    /// The text without leading and trailing spaces and line ends.
    fileprivate func trimmingBlanks() -> Substring {
        var result = self
        while let first = result.first, first.isWhitespace { result.removeFirst() }
        while let last = result.last, last.isWhitespace { result.removeLast() }
        return result
    }
}
