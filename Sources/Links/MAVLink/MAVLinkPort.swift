import GimbalCore
public import Port
public import Wire

extension MAVLinkResult {
    /// Creates the MAV_RESULT that a peer receives for a refusal.
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

extension CommandSource {
    /// Creates the command source for a MAVLink component.
    ///
    /// - Parameters:
    ///   - component: Address of the component.
    ///   - link: Link over which the component's frames arrive.
    public init(_ component: MAVLinkAddress, link: Link = .mavlink) {
        self.init(link: link, system: component.system, component: component.component)
    }
}

// Requests to the gimbal on behalf of a MAVLink component. Angles are in radians; NaN on an axis
// means no request.
extension GimbalPort {
    /// Largest rate limit of a turn to given angles, rad/s. A peer can send any limit.
    private var fastest: Double { Angle.degrees(MotionRequest.fastest.upperBound).radians }

    /// Changes the mode if necessary. Motors that are off remain off.
    func enter(_ mode: Mode, for source: CommandSource, now: Instant) throws(Refusal) {
        let present = control.mode
        guard present != .inactive else { throw Refusal.inactive }
        if present != mode { try request(.mode(mode), from: source, now: now) }
    }

    /// Turns to the given angles in the loop's earth frame, and holds the angles. The largest rate
    /// is `rate`; 0 means as fast as the limits permit.
    func lock(
        _ angles: AxisVector, rate: Double, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        try enter(.locked, for: source, now: now)
        try request(.point(angles, duration: 0, rate: min(rate, fastest)), from: source, now: now)
    }

    /// Holds roll and pitch as in `lock`; yaw keeps the given angle relative to the vehicle's
    /// heading, and leads a turn of the vehicle by the angle `lead`, rad.
    func follow(
        _ angles: AxisVector, lead: Double, rate: Double, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        try enter(.panFollow, for: source, now: now)
        let own = AxisVector(yaw: .nan, roll: angles.roll, pitch: angles.pitch)
        let rate = min(rate, fastest)
        try request(.point(own, duration: 0, rate: rate), from: source, now: now)
        let yawRate = angles.yaw.isNaN ? 0 : rate
        try request(.lookAside(yaw: angles.yaw, rate: yawRate, lead: lead), from: source, now: now)
    }

    /// Turns the camera at the given rates until the next request or until the dead-man time has
    /// passed.
    func turn(
        _ rates: AxisVector, isFollowing: Bool, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        try enter(isFollowing ? .panFollow : .locked, for: source, now: now)
        guard isFollowing else { return try request(.rate(rates), from: source, now: now) }
        let own = AxisVector(yaw: 0, roll: rates.roll, pitch: rates.pitch)
        try request(.rate(own), from: source, now: now)
        try request(.lookAside(yaw: .nan, rate: rates.yaw), from: source, now: now)
    }
}
