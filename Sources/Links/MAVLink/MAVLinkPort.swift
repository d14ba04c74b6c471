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

    /// Changes the mode if necessary; a repeated request for the mode prolongs the control of the
    /// source. Otherwise a source that repeats only this request would count as silent.
    func stay(in mode: Mode, for source: CommandSource, now: Instant) throws(Refusal) {
        guard control.mode == mode else { return try enter(mode, for: source, now: now) }
        try request(.take, from: source, now: now)
    }

    /// Changes the mode if necessary, and then sends the requests. If a value is outside its range,
    /// nothing changes, so that a refused request does not leave the mode `retract`, for example.
    private func send(
        _ requests: [MotionRequest], in mode: Mode, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        if let misfit = requests.lazy.compactMap(\.misfit).first { throw misfit }
        try enter(mode, for: source, now: now)
        for wanted in requests { try request(wanted, from: source, now: now) }
    }

    /// Turns to the given angles in the loop's earth frame, and holds the angles. The largest rate
    /// is `rate`; 0 means as fast as the limits permit.
    func lock(
        _ angles: AxisVector, rate: Double, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        let turn = MotionRequest.point(angles, duration: 0, rate: min(rate, fastest))
        try send([turn], in: .locked, for: source, now: now)
    }

    /// Holds roll and pitch as in `lock`; yaw keeps the given angle relative to the vehicle's
    /// heading, and leads a turn of the vehicle by the angle `lead`, rad.
    func follow(
        _ angles: AxisVector, lead: Double, rate: Double, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        let own = AxisVector(yaw: .nan, roll: angles.roll, pitch: angles.pitch)
        let rate = min(rate, fastest)
        let turn = MotionRequest.point(own, duration: 0, rate: rate)
        let yawRate = angles.yaw.isNaN ? 0 : rate
        let aside = MotionRequest.lookAside(yaw: angles.yaw, rate: yawRate, lead: lead)
        try send([turn, aside], in: .panFollow, for: source, now: now)
    }

    /// Turns the camera at the given rates until the next request or until the dead-man time has
    /// passed.
    func turn(
        _ rates: AxisVector, isFollowing: Bool, for source: CommandSource, now: Instant
    ) throws(Refusal) {
        guard isFollowing else {
            return try send([.rate(rates)], in: .locked, for: source, now: now)
        }
        let own = AxisVector(yaw: 0, roll: rates.roll, pitch: rates.pitch)
        let aside = MotionRequest.lookAside(yaw: .nan, rate: rates.yaw)
        try send([.rate(own), aside], in: .panFollow, for: source, now: now)
    }
}
