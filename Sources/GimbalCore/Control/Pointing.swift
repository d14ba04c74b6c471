/// Where the camera is to look: the mode, what was asked for within it, and the set-point that leads there.
///
/// Loop thread only; constant time, no allocation.
struct Pointing: Sendable, BitwiseCopyable {
    /// What the gimbal is asked to do.
    private(set) var mode: Mode
    /// When the rate command in force ends; nil without one.
    private(set) var rateValidUntil: Instant?
    /// Limits of the set-point's motion.
    var parameters: SetpointGenerator.Parameters {
        @_noLocks get { generator.parameters }
        @_noLocks set { generator.parameters = newValue }
    }

    /// Whether the set-point is on its way, or about to be.
    var isMoving: Bool { @_noLocks get { generator.isMoving } }

    private var generator: SetpointGenerator
    /// Where the last `point` leads; NaN on an axis that nobody has pointed since a rate command or since the outputs
    /// went off for good.
    private var target = AxisVector.unknown

    /// At zero angles, in this mode.
    init(mode: Mode, parameters: SetpointGenerator.Parameters) {
        self.mode = mode
        generator = SetpointGenerator(parameters: parameters)
    }

    /// Changes the mode.
    @_noLocks
    mutating func change(to wanted: Mode) {
        mode = wanted
        if case .inactive = wanted { target = .unknown }
    }

    /// Turns to earth-frame angles, rad; an axis that is NaN keeps where it is going. While the outputs are off the request
    /// waits for them, see `takeOver`.
    @_noLocks
    mutating func point(to wanted: AxisVector, duration: Double, isEnabled: Bool) {
        rateValidUntil = nil
        target = wanted.filled(from: target)
        guard isEnabled else { return }
        target = target.filled(from: generator.angles)
        generator.point(target: target, duration: duration)
    }

    /// Turns at rates of the earth-frame angles, rad/s, until `validUntil`.
    @_noLocks
    mutating func turn(at rate: AxisVector, validUntil: Instant) {
        rateValidUntil = rate == .zero ? nil : validUntil
        target = .unknown
        generator.rate(rate, validUntil: validUntil)
    }

    /// Outputs are about to come on: start from where the camera points, and go to where it was told to, or level, at the
    /// profile's pace.
    @_noLocks
    mutating func takeOver(from attitude: Quaternion) {
        let heading = EulerZXY.angles(attitude).yaw
        generator.hold(at: attitude)
        target = target.filled(from: AxisVector(yaw: heading, roll: 0, pitch: 0))
        generator.point(target: target, duration: 0)
        rateValidUntil = nil
    }

    /// The outputs have gone off. Whoever holds a camera that has gone limp turns it; the heading to return to is where it
    /// points then.
    @_noLocks
    mutating func letGo() { target.yaw = .nan }

    /// One period with the outputs off: the set-point is where the camera points.
    @_noLocks
    mutating func idle(at attitude: Quaternion) -> Setpoint {
        generator.hold(at: attitude)
        return Setpoint(attitude: attitude, rate: .zero)
    }

    /// The set-point one period later.
    @_noLocks
    mutating func step(now: Instant, dt: Double) -> Setpoint { generator.step(now: now, dt: dt) }
}
