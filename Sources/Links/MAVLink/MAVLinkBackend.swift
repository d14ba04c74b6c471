public import GimbalCore
public import Port
public import Wire

/// What the daemon does for MAVLink peers. Thread airframed-mav; none may wait, but for the disk when
/// parameters are saved.
public protocol MAVLinkBackend: Sendable {
    /// The gimbal now; nil before the first sample.
    var view: MAVLinkView? { get }
    /// Asks for motion.
    ///
    /// - Parameters:
    ///   - motion: What is wanted.
    ///   - peer: Who is in control by it.
    ///   - now: When it was received.
    /// - Throws: Why it was refused.
    func ask(_ motion: MAVLinkMotion, for peer: MAVLinkAddress, now: Instant)
        throws(Refusal)
    /// A peer is not in control any more: what it turned stands still.
    func disconnected(_ peer: MAVLinkAddress, now: Instant)
    /// Finds the gyroscope's zero.
    func calibrateGyro(for peer: MAVLinkAddress, now: Instant) throws(Refusal)
    /// What can be tuned, always in the same order.
    var parameters: [MAVLinkParameter] { get }
    /// Changes one of them until the end of the process, or until all are saved.
    func set(_ name: String, to value: Double, by peer: MAVLinkAddress) throws(Refusal)
    /// Writes what can be tuned to the disk; `done` hears of it on any thread, and that it survives a power cut.
    func saveParameters(by peer: MAVLinkAddress, _ done: @escaping Later<Void>)
}

/// The gimbal as MAVLink peers see it.
public struct MAVLinkView: Sendable {
    /// Who may steer now.
    public enum Holder: Sendable, Equatable {
        /// Whoever asks first.
        case nobody
        /// A MAVLink peer.
        case peer(MAVLinkAddress)
        /// Somebody on another link, in words.
        case other(String)
    }

    /// The loop's newest.
    public var snapshot: StabilizerSnapshot
    /// Lowest angles of the set-point, rad.
    public var lower: AxisVector
    /// Highest angles of the set-point, rad.
    public var upper: AxisVector
    /// Lowest joint angles, rad.
    public var jointLower = AxisVector.unknown
    /// Highest joint angles, rad.
    public var jointUpper = AxisVector.unknown
    /// How long a yaw that follows the vehicle stays behind a steady turn, s.
    public var followLag = 0.0
    /// Who is in control.
    public var holder: Holder

    /// A view with these values; the joints' range is not known.
    public init(
        snapshot: StabilizerSnapshot, lower: AxisVector, upper: AxisVector, holder: Holder
    ) {
        self.snapshot = snapshot
        self.lower = lower
        self.upper = upper
        self.holder = holder
    }
}

/// What a MAVLink peer may ask for. Radians; an axis that is NaN is not asked for.
public enum MAVLinkMotion: Sendable, Equatable {
    /// Take control.
    case take
    /// Hold these angles in the loop's earth frame, turning no faster than `rate`; 0 = as the limits allow.
    case lock(AxisVector, rate: Double)
    /// Roll and pitch as in `lock`; yaw follows the vehicle, this far from where it points.
    case follow(AxisVector, rate: Double)
    /// Turn at these rates until the next request or the dead-man.
    case turn(AxisVector, isFollowing: Bool)
    /// The pose of rest.
    case retract
    /// Level and ahead.
    case neutral
    /// Motors on.
    case arm
    /// Motors off, softly.
    case disarm
    /// Motors off, latched.
    case emergencyStop
    /// The end of that; the motors stay off.
    case resetEmergencyStop
}

extension MAVLinkResult {
    /// A refusal, as a peer hears it.
    init(_ refusal: Refusal) {
        self =
            switch refusal.code {
            case .held, .busy, .sensorSilent, .noValue: .temporarilyRejected
            case .failed: .failed
            case .unsupported: .unsupported
            case .notInControl: .notInControl
            default: .denied
            }
    }
}

/// Something that can be tuned, as ground stations list it.
public struct MAVLinkParameter: Sendable, Equatable {
    /// At most 16 bytes.
    public var name: String
    /// In the unit of the setting behind it.
    public var value: Double

    /// A parameter with this value.
    public init(_ name: String, _ value: Double) {
        self.name = name
        self.value = value
    }
}
