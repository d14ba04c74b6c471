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
    /// Creates the command source for a MAVLink peer.
    public init(_ peer: MAVLinkAddress) {
        self.init(
            link: .mavlink, connection: UInt64(peer.system) << 8 | UInt64(peer.component))
    }
}

// Requests to the gimbal on behalf of a MAVLink peer. Angles are in radians; NaN on an axis means
// no request.
extension GimbalPort {
    /// Sends a request to the gimbal on behalf of a MAVLink peer.
    func ask(
        _ request: MotionRequest, for peer: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        try self.request(request, from: CommandSource(peer), now: now)
    }

    /// Largest rate limit of a turn to given angles, rad/s. A peer can send any limit.
    private var fastest: Double { Angle.degrees(MotionRequest.fastest.upperBound).radians }

    /// Changes the mode if necessary. Motors that are off remain off.
    func enter(_ mode: Mode, for peer: MAVLinkAddress, now: Instant) throws(Refusal) {
        let present = control.mode
        guard present != .inactive else { throw Refusal.inactive }
        if present != mode { try ask(.mode(mode), for: peer, now: now) }
    }

    /// Turns to the given angles in the loop's earth frame, and holds the angles. The largest rate
    /// is `rate`; 0 means as fast as the limits permit.
    func lock(
        _ angles: AxisVector, rate: Double, for peer: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        try enter(.locked, for: peer, now: now)
        try ask(.point(angles, duration: 0, rate: min(rate, fastest)), for: peer, now: now)
    }

    /// Holds roll and pitch as in `lock`; yaw keeps the given angle relative to the vehicle's
    /// heading, and leads a turn of the vehicle by the angle `lead`, rad.
    func follow(
        _ angles: AxisVector, lead: Double, rate: Double, for peer: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        try enter(.panFollow, for: peer, now: now)
        let own = AxisVector(yaw: .nan, roll: angles.roll, pitch: angles.pitch)
        let rate = min(rate, fastest)
        try ask(.point(own, duration: 0, rate: rate), for: peer, now: now)
        let yawRate = angles.yaw.isNaN ? 0 : rate
        try ask(.lookAside(yaw: angles.yaw, rate: yawRate, lead: lead), for: peer, now: now)
    }

    /// Turns the camera at the given rates until the next request or until the dead-man time has
    /// passed.
    func turn(
        _ rates: AxisVector, isFollowing: Bool, for peer: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        try enter(isFollowing ? .panFollow : .locked, for: peer, now: now)
        guard isFollowing else { return try ask(.rate(rates), for: peer, now: now) }
        let own = AxisVector(yaw: 0, roll: rates.roll, pitch: rates.pitch)
        try ask(.rate(own), for: peer, now: now)
        try ask(.lookAside(yaw: .nan, rate: rates.yaw), for: peer, now: now)
    }
}
