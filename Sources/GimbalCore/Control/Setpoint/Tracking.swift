/// Direction in which the camera must look, and the rate of this direction.
public struct Aim: Sendable, BitwiseCopyable, Equatable {
    /// Earth-frame angles yaw and pitch, rad; roll is level.
    public var target: AxisVector
    /// Rates of the earth-frame angles yaw and pitch, rad/s.
    public var rate: AxisVector
    /// Time constant with which the camera turns to the direction, s.
    public var smoothing: Double

    /// Creates a direction.
    @_noLocks
    public init(target: AxisVector, rate: AxisVector, smoothing: Double) {
        self.target = target
        self.rate = rate
        self.smoothing = smoothing
    }
}

/// State of the mode `tracking`: its end, the heading from which its range is measured, and the
/// direction in which the camera is aimed. Runs on the loop thread only.
struct Tracking: Sendable, BitwiseCopyable {
    /// Time at which the mode ends automatically; nil in other modes.
    var until: Instant?

    /// Heading at which pan is zero, rad: the handle's heading, or if it is unknown, the camera's
    /// heading at the first start of tracking after the outputs were switched on.
    private var heading = Double.nan
    /// Direction in which the camera is aimed, earth-frame angles, rad, continuous over whole
    /// turns; NaN without a direction.
    private var target = AxisVector.unknown
    /// Rate of the direction in which the camera is aimed, rad/s.
    private var rate = AxisVector.zero
    /// Time constant with which the camera turns to the direction, s.
    private var smoothing = 0.0

    /// True if the latest request contained a direction; false if it contained rates.
    var isAiming: Bool { @_noLocks get { !target.yaw.isNaN } }

    @_noLocks
    init() {}

    /// Discards the direction in which the camera is aimed. The camera then turns at requested
    /// rates, or stops.
    @_noLocks
    mutating func endAim() { target = .unknown }

    /// Discards the heading and the direction, because a person can turn the camera while the
    /// outputs are off.
    @_noLocks
    mutating func letGo() {
        heading = .nan
        endAim()
    }

    /// Begins to aim the camera.
    ///
    /// - Parameters:
    ///   - aim: Present direction, with its rate and time constant.
    ///   - angles: Angles of the set-point, from which yaw turns in the shorter direction.
    @_noLocks
    mutating func begin(_ aim: Aim, from angles: AxisVector) {
        let way = Angle(radians: angles.yaw).shortestArc(to: .radians(aim.target.yaw)).radians
        target = AxisVector(yaw: angles.yaw + way, roll: 0, pitch: aim.target.pitch)
        rate = AxisVector(yaw: aim.rate.yaw, roll: 0, pitch: aim.rate.pitch)
        smoothing = aim.smoothing
    }

    /// Advances the direction by one control period, and passes it to the set-point. The camera
    /// stops when the dead-man time has passed.
    ///
    /// - Parameters:
    ///   - generator: The set-point.
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

    /// Limits the angles of the mode: pan relative to the handle, tilt relative to level. The zeros
    /// of pan and tilt are kept when tracking restarts, so that repeated starts cannot extend the
    /// range.
    ///
    /// - Parameters:
    ///   - generator: The set-point.
    ///   - handle: Pose of the handle; nil if unknown.
    ///   - modes: Range and largest rate.
    mutating func confine(
        _ generator: inout SetpointGenerator, _ handle: HandlePose?, _ modes: ModeParameters
    ) {
        let yaw = generator.angles.yaw
        if let handle {
            let away = Angle(radians: yaw).shortestArc(to: .radians(handle.angles.yaw))
            heading = yaw + away.radians
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
