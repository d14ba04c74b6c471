internal import CMathShim

/// Turns requests (hold, point, rate) into a set-point that moves smoothly within limits.
///
/// Works on the earth-frame angles yaw, roll, pitch (Z-X-Y). A `point` follows one fifth-order polynomial per axis from
/// the present angle, rate and acceleration to the target at rest, all axes over the same duration: acceleration is
/// continuous and jerk finite. A `rate` accelerates at the limit.
///
/// Loop thread only; constant time.
public struct SetpointGenerator: Sendable, BitwiseCopyable {
    /// The limits of the movement.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Largest rate, rad/s.
        public var maxRate = AxisVector(repeating: 240 * .pi / 180)
        /// Largest acceleration, rad/s².
        public var maxAcceleration = AxisVector(repeating: 2000 * .pi / 180)
        /// Smallest angle, rad; yaw may turn without end where both of its bounds are infinite.
        public var minimum = AxisVector(yaw: -.infinity, roll: -1.05, pitch: -2.1)
        /// Largest angle, rad.
        public var maximum = AxisVector(yaw: .infinity, roll: 1.05, pitch: 2.1)

        /// The defaults.
        public init() {}
    }

    private enum Motion: Sendable, BitwiseCopyable {
        case hold
        case point(target: AxisVector, duration: Double)
        case rate(AxisVector, validUntil: Instant)
    }

    /// The limits of the movement; they apply from the next request on.
    public var parameters: Parameters
    /// Whether the last rate request outlived its dead-man.
    public private(set) var isExpired = false

    private var motion = Motion.hold
    private var yaw = AxisProfile()
    private var roll = AxisProfile()
    private var pitch = AxisProfile()
    private var elapsed = 0.0
    private var planned = 0.0

    /// A generator that stands at zero angles.
    public init(parameters: Parameters = Parameters()) { self.parameters = parameters }

    /// The present set-point angles, rad.
    public var angles: AxisVector {
        @_noLocks get { AxisVector(yaw: yaw.angle, roll: roll.angle, pitch: pitch.angle) }
    }

    /// The present rates of the set-point angles, rad/s.
    public var rates: AxisVector {
        AxisVector(yaw: yaw.rate, roll: roll.rate, pitch: pitch.rate)
    }

    /// Whether the set-point is on its way, or about to be.
    public var isMoving: Bool {
        @_noLocks @_noAllocation get {
            switch motion {
            case .hold: return false
            case .point: return elapsed < planned
            case .rate(let wanted, _):
                return yaw.rate != 0 || roll.rate != 0 || pitch.rate != 0
                    || (!isExpired && !(wanted == .zero))
            }
        }
    }

    /// Stands still at `attitude` at once, as on engaging; not limited.
    ///
    /// - Parameter attitude: Body to earth. Not finite: ignored.
    @_noLocks @_noAllocation
    public mutating func hold(at attitude: Quaternion) {
        guard attitude.isFinite else { return }
        let angles = EulerZXY.angles(attitude.normalized)
        yaw = AxisProfile(angle: angles.yaw)
        roll = AxisProfile(angle: angles.roll)
        pitch = AxisProfile(angle: angles.pitch)
        motion = .hold
        isExpired = false
    }

    /// Turns to `target` within `duration`; repeating the request that is being followed changes nothing.
    ///
    /// - Parameters:
    ///   - target: Earth-frame angles, rad; limited to the range. Yaw takes the short way round where its range has
    ///     no bounds. Not finite: ignored.
    ///   - duration: Seconds, 0 = as fast as the limits allow; a duration that would break a limit is lengthened.
    @_noLocks @_noAllocation
    public mutating func point(target: AxisVector, duration: Double) {
        guard target.isFinite, duration.isFinite else { return }
        if case .point(let current, let currentDuration) = motion, current == target,
            currentDuration == duration
        {
            return
        }
        motion = .point(target: target, duration: duration)
        isExpired = false
        var goal = target
        if parameters.minimum.yaw == -.infinity, parameters.maximum.yaw == .infinity {
            goal.yaw =
                yaw.angle + Angle(radians: yaw.angle).shortestArc(to: .radians(goal.yaw)).radians
        }
        goal = limited(goal)
        let p = parameters
        planned = max(duration, 0)
        planned = yaw.shortestDuration(
            to: goal.yaw, maxRate: p.maxRate.yaw, maxAcceleration: p.maxAcceleration.yaw,
            atLeast: planned)
        planned = roll.shortestDuration(
            to: goal.roll, maxRate: p.maxRate.roll, maxAcceleration: p.maxAcceleration.roll,
            atLeast: planned)
        planned = pitch.shortestDuration(
            to: goal.pitch, maxRate: p.maxRate.pitch, maxAcceleration: p.maxAcceleration.pitch,
            atLeast: planned)
        yaw.plan(to: goal.yaw, duration: planned)
        roll.plan(to: goal.roll, duration: planned)
        pitch.plan(to: goal.pitch, duration: planned)
        elapsed = 0
    }

    /// Turns at `rates` until `validUntil`, then comes to a standstill at the acceleration limit.
    ///
    /// - Parameters:
    ///   - rates: Rates of the earth-frame angles, rad/s; limited. Not finite: ignored.
    ///   - validUntil: When the request's dead-man fires.
    @_noLocks @_noAllocation
    public mutating func rate(_ rates: AxisVector, validUntil: Instant) {
        guard rates.isFinite else { return }
        motion = .rate(rates.clamped(to: parameters.maxRate), validUntil: validUntil)
        isExpired = false
    }

    /// The set-point one period later.
    ///
    /// - Parameters:
    ///   - now: For the dead-man of a rate request.
    ///   - dt: Seconds since the previous call; outside 0...0.1 the set-point stands still for this period.
    /// - Returns: The set-point with its rate and acceleration.
    @_noLocks @_noAllocation
    public mutating func step(now: Instant, dt: Double) -> Setpoint {
        if dt > 0, dt <= 0.1 {
            switch motion {
            case .hold:
                break
            case .point:
                elapsed += dt
                yaw.follow(elapsed: elapsed, duration: planned)
                roll.follow(elapsed: elapsed, duration: planned)
                pitch.follow(elapsed: elapsed, duration: planned)
            case .rate(let rates, let validUntil):
                isExpired = validUntil < now
                turn(at: isExpired ? .zero : rates, dt: dt)
            }
        }
        return setpoint()
    }

    private mutating func turn(at rates: AxisVector, dt: Double) {
        let p = parameters
        yaw.turn(
            at: rates.yaw, maxAcceleration: p.maxAcceleration.yaw, minimum: p.minimum.yaw,
            maximum: p.maximum.yaw, dt: dt)
        roll.turn(
            at: rates.roll, maxAcceleration: p.maxAcceleration.roll, minimum: p.minimum.roll,
            maximum: p.maximum.roll, dt: dt)
        pitch.turn(
            at: rates.pitch, maxAcceleration: p.maxAcceleration.pitch, minimum: p.minimum.pitch,
            maximum: p.maximum.pitch, dt: dt)
    }

    /// Angles, rates and accelerations of Z-X-Y angles as attitude, body rate and body acceleration.
    private func setpoint() -> Setpoint {
        let kinematics = JointKinematics(joints: angles)
        let rate = kinematics.relativeRate(jointRates: rates)
        let direct = kinematics.relativeRate(
            jointRates: AxisVector(
                yaw: yaw.acceleration, roll: roll.acceleration, pitch: pitch.acceleration))
        // The axes turn too: the yaw axis against roll and pitch, the roll axis against pitch.
        let outer = kinematics.yawAxis * yaw.rate
        let middle = kinematics.rollAxis * roll.rate
        let inner = kinematics.pitchAxis * pitch.rate
        let turning = outer.cross(middle) + outer.cross(inner) + middle.cross(inner)
        return Setpoint(
            attitude: EulerZXY.quaternion(angles), rate: rate, acceleration: direct + turning)
    }

    private func limited(_ angles: AxisVector) -> AxisVector {
        AxisVector(
            yaw: min(max(angles.yaw, parameters.minimum.yaw), parameters.maximum.yaw),
            roll: min(max(angles.roll, parameters.minimum.roll), parameters.maximum.roll),
            pitch: min(max(angles.pitch, parameters.minimum.pitch), parameters.maximum.pitch))
    }
}
