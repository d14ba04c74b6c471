/// Target direction of the camera, and the rate of this direction.
public struct Aim: Sendable, BitwiseCopyable, Equatable, Recordable {
    /// Earth-frame angles yaw and pitch, rad; roll is level.
    public var target: AxisVector
    /// Rates of the earth-frame angles yaw and pitch, rad/s.
    public var rate: AxisVector
    /// Time constant with which the camera approaches the target direction, s.
    public var smoothing: Double

    /// Creates a direction.
    @_noLocks
    public init(target: AxisVector, rate: AxisVector, smoothing: Double) {
        self.target = target
        self.rate = rate
        self.smoothing = smoothing
    }
}

/// State of the mode `tracking`: end of the mode, heading at the centre of the range, and target
/// direction. Runs on the loop thread only.
struct Tracking: Sendable, BitwiseCopyable {
    /// Time at which the mode ends automatically; nil in other modes.
    var until: Instant?

    /// Heading at which the pan angle is zero, rad. The value is the handle's heading; if the
    /// handle's heading is unknown, the value is the camera's heading at the first start of
    /// tracking.
    private var heading = Double.nan
    /// Target direction, earth-frame angles, rad, continuous over whole turns; NaN without a target
    /// direction.
    private var target = AxisVector.unknown
    /// Rate of the target direction, rad/s.
    private var rate = AxisVector.zero
    /// Time constant with which the camera approaches the target direction, s.
    private var smoothing = 0.0

    /// True if the latest request contained a direction; false if it contained rates.
    var isAiming: Bool { @_noLocks get { !target.yaw.isNaN } }

    @_noLocks
    init() {}

    /// Discards the target direction. The camera then turns at requested rates, or stops.
    @_noLocks
    mutating func endAim() { target = .unknown }

    /// Discards the heading and the target direction, because a person can turn the camera while
    /// the outputs are off.
    @_noLocks
    mutating func letGo() {
        heading = .nan
        endAim()
    }

    /// Starts pointing the camera at a target.
    ///
    /// - Parameters:
    ///   - aim: Present direction, with its rate and time constant.
    ///   - angles: Present angles of the set-point. Yaw turns from its present angle in the shorter
    ///     direction.
    @_noLocks
    mutating func begin(_ aim: Aim, from angles: AxisVector) {
        let way = Angle(radians: angles.yaw).shortestArc(to: .radians(aim.target.yaw)).radians
        target = AxisVector(yaw: angles.yaw + way, roll: 0, pitch: aim.target.pitch)
        rate = AxisVector(yaw: aim.rate.yaw, roll: 0, pitch: aim.rate.pitch)
        smoothing = aim.smoothing
    }

    /// Updates the direction for one control period, and passes the direction to the set-point. The
    /// camera stops when the dead-man time has passed.
    ///
    /// - Parameters:
    ///   - generator: Generator of the set-point.
    ///   - now: Present time.
    ///   - dt: Seconds since the previous call.
    ///   - fastest: Largest rate of each axis, rad/s.
    @_noLocks
    mutating func step(
        _ generator: inout SetpointGenerator, now: Instant, dt: Double, fastest: Double
    ) {
        guard isAiming else { return }
        guard let until, now < until else {
            endAim()
            generator.stopFollowing()
            return
        }
        target = target + rate * dt
        generator.follow(
            target, rates: rate,
            FollowTuning(
                maxRate: AxisVector(repeating: fastest),
                smoothing: AxisVector(repeating: smoothing)))
    }

    /// Limits the angles in mode `tracking`: pan relative to the handle, tilt relative to level. A
    /// restart of tracking does not change the zero directions of pan and tilt, so repeated starts
    /// cannot extend the range.
    ///
    /// - Parameters:
    ///   - generator: Generator of the set-point.
    ///   - handle: Pose of the handle; nil if unknown.
    ///   - modes: Parameters of the modes, with the angle range and the largest rate.
    mutating func confine(
        _ generator: inout SetpointGenerator, _ handle: HandlePose?, _ modes: ModeParameters
    ) {
        let yaw = generator.angles.yaw
        if let handle {
            heading = yaw + generator.yawRoom.way(from: yaw, to: handle.angles.yaw)
        } else if heading.isNaN {
            heading = yaw
        }
        let centre = AxisVector(yaw: heading, roll: 0, pitch: 0)
        var range = modes.trackingRange
        range.roll = .infinity
        generator.confine(
            from: centre - range, to: centre + range, atMost: modes.trackingMaxRate)
    }
}
