public import Port

/// An app's command on the control characteristic: a word (in upper or lower case), or a word with
/// a speed.
public enum AirOSCommand: Sendable, Equatable {
    /// Calibrate the gyroscope's offset; the camera must be still during the calibration.
    case calibrate
    /// Save the mode, the PID gains and the Kalman parameters for the next start.
    case save
    /// Set the mode, the PID gains and the Kalman parameters to their defaults, and save them.
    case defaults
    /// Set the reported yaw to zero.
    case resetYaw
    /// Reset the controllers' integrals.
    case resetPID
    /// Write the heading to the log.
    case yawStatus
    /// Reduce the reported yaw by 10 %.
    case forceDecay
    /// Emergency stop, latched. This command is an extension of airframe; no app sends it yet.
    case emergencyStop
    /// Reset a latched emergency stop. The mode remains `inactive`. This command is an extension of
    /// airframe.
    case resetEmergencyStop
    /// Pan at this speed, degrees per second, right positive; a finite number.
    case trackPan(Double)
    /// Tilt at this speed, degrees per second, down positive; a finite number.
    case trackTilt(Double)

    /// Parses the written bytes.
    ///
    /// - Parameter bytes: Text without a terminator. As in the sample firmware, the whole text is
    ///   converted to lower case. The parser does not remove spaces. Unlike the original firmware,
    ///   the parser refuses a speed with characters that are not part of a number. The original
    ///   firmware parses invalid text as zero, which hides faults in an app.
    /// - Throws: `notText`, `unknownCommand`, `notANumber` or `notFinite`.
    public init(bytes: [UInt8]) throws(Refusal) {
        guard let text = String(validating: bytes.map(Self.lowerCased), as: UTF8.self) else {
            throw .notText
        }
        switch text {
        case "calibrate": self = .calibrate
        case "save": self = .save
        case "defaults": self = .defaults
        case "reset_yaw": self = .resetYaw
        case "reset_pid": self = .resetPID
        case "yaw_status": self = .yawStatus
        case "force_decay": self = .forceDecay
        case "emergency_stop": self = .emergencyStop
        case "reset_emergency_stop": self = .resetEmergencyStop
        default:
            if let speed = try Self.speed(text, after: "track_pan:") {
                self = .trackPan(speed)
            } else if let speed = try Self.speed(text, after: "track_tilt:") {
                self = .trackTilt(speed)
            } else {
                throw .unknownCommand(text)
            }
        }
    }

    /// Converts an ASCII letter to lower case, as in the firmware; other bytes do not change.
    private static func lowerCased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func speed(
        _ text: String, after word: String
    ) throws(Refusal) -> Double? {
        guard text.hasPrefix(word) else { return nil }
        let digits = text.dropFirst(word.count)
        if ["nan", "inf", "-inf", "+inf"].contains(digits) { throw .notFinite("the speed") }
        // The characters are checked first, because Swift's parser also accepts non-decimal
        // numbers.
        guard digits.utf8.allSatisfy(isDecimal), let value = Double(digits) else {
            throw .notANumber(String(digits))
        }
        guard value.isFinite else { throw .notFinite("the speed") }
        return value
    }

    private static func isDecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "e"):
            true
        default: false
        }
    }
}
