public import GimbalCore

/// Model of an XGO robot, from the first character of its firmware's version.
public enum XGOModel: String, Sendable, BitwiseCopyable {
    /// XGO Rider: two wheels on legs.
    case rider
    /// XGO Mini, a dog with four legs.
    case mini
    /// XGO Lite, a small dog.
    case lite
    /// Another model; its speeds can be set, but not its pose.
    case other

    /// Creates the model from the version of the robot's firmware, such as "R-1.2.3".
    package init(firmware: String) {
        // RA and W are robots whose memory table has not been published.
        self =
            switch firmware.first {
            case "R" where !firmware.hasPrefix("RA"): .rider
            case "M": .mini
            case "L": .lite
            default: .other
            }
    }

    /// Largest roll of the body, degrees; the lowest and highest values of the register command
    /// this roll to either side. nil if the roll is unknown. The limits are from the vendor's
    /// library xgolib.
    package var largestRoll: Double? {
        switch self {
        case .rider: 17
        case .mini, .lite: 20
        case .other: nil
        }
    }
}

/// Pose of an XGO robot's body, which the robot's own controller holds.
public struct XGOPose: Sendable, BitwiseCopyable, Equatable {
    /// True if the controller keeps the body level; `roll` then has no effect.
    public var isLevel = false
    /// Height of the body, 0...1: lowest to highest; 0.5 is the robot's own default.
    public var height = 0.5
    /// Roll of the body, degrees, with the robot's own sign convention; limited to the range of the
    /// model.
    public var rollDeg = 0.0

    /// Creates the robot's own default pose.
    public init() {}
}

/// Values that the board of an XGO robot has sent, and the state of its serial port.
public struct XGOReport: Sendable, BitwiseCopyable {
    /// True if the serial port is open.
    public var isOpen = false
    /// The errno of the last failure to open or use the port; 0 without an error.
    public var error: Int32 = 0
    /// Number of times that the port was opened.
    public var opened: UInt32 = 0
    /// Number of valid replies.
    public var replies: UInt32 = 0
    /// Number of bytes that did not belong to a valid reply.
    public var damaged: UInt32 = 0
    /// Time of the newest reply.
    public var heard = Instant(nanoseconds: .min / 2)
    /// Charge of the battery, 0...100 %; NaN if it is not known.
    public var battery = Double.nan
    /// True after a fall, and until a new XGO Rider has reported that it is upright. Other models
    /// do not report falls.
    public var isFallen = false
    /// Measured roll, degrees, with the robot's own sign convention; NaN if it is not known.
    public var rollDeg = Double.nan
    /// Measured pitch, degrees; NaN if it is not known.
    public var pitchDeg = Double.nan
    /// Measured yaw, degrees; NaN if it is not known.
    public var yawDeg = Double.nan
    /// Model of the robot; nil until the board has answered.
    public var model: XGOModel?
    /// Characters of the firmware's version.
    package var firmwareBytes = InlineArray<10, UInt8>(repeating: 0)

    /// Time without a reply after which the board counts as silent, s.
    static let silentSeconds = 0.5

    /// Creates the report of a port that has not been opened.
    public init() {}

    /// Version of the firmware, printable ASCII characters; empty until the board has answered.
    public var firmware: String {
        var text = ""
        for index in firmwareBytes.indices {
            let byte = firmwareBytes[index]
            guard (0x20..<0x7F).contains(byte) else { break }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text
    }

    /// True if the board has not answered for half a second.
    public func isSilent(now: Instant) -> Bool {
        model == nil || now.seconds(since: heard) > Self.silentSeconds
    }

    /// True if the robot can drive: the board answers, and the robot has not fallen.
    public func isReady(now: Instant) -> Bool { isOpen && !isSilent(now: now) && !isFallen }
}
