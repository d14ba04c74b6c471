/// Attitude to absolute joint angles, for position servos.
///
/// A servo hides its position, answers after a delay, and cannot be pushed by torque, so feedback alone is slow.
/// The controller therefore carries a model of the servos (pure delay, rate limit): camera attitude and modelled joint
/// angles together tell where the handle is and how fast it turns; the handle is extrapolated to the moment at which
/// a command takes effect, and the joints are set to what will be right then (internal model control). An error of the
/// model, such as a servo's zero, appears as handle attitude and is thereby taken out like an integral would.
///
/// Loop thread only; constant time, no allocation.
public struct ServoController: Sendable, BitwiseCopyable {
    /// What the user tunes.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// From command to the start of the servo's answer, including half a frame of waiting, s.
        public var delay = 0.011
        /// Lag of the servo's own position loop, s.
        public var lag = 0.004
        /// From the camera's motion to the sample that shows it, s.
        public var sensorDelay = 0.0015
        /// How far the attitude that the controller is given looks ahead of its sample, s.
        public var attitudeLead = 0.003
        /// Corner of the low-pass on the handle's rate before extrapolation, Hz: lower is calmer, higher follows
        /// faster motion.
        public var rateCutoffHz = 14.0
        /// Factor on `rateCutoffHz` for rotation about each of the camera's axes.
        public var bandwidth = AxisVector(repeating: 1)
        /// Gain of the loop: how much of an attitude error that the model does not explain is taken out at once; 1 is
        /// all of it, 2 the end of stability without look-ahead.
        public var loopGain = AxisVector(repeating: 1)
        /// Share of the handle's motion until a command takes effect that is looked ahead, 1 is all of it.
        public var lookAhead = AxisVector(repeating: 1)
        /// Fastest movement of the servos, rad/s.
        public var maxRate = AxisVector(repeating: 10.0)
        /// Smallest joint angle, rad.
        public var minimum = AxisVector(repeating: -1.5)
        /// Largest joint angle, rad.
        public var maximum = AxisVector(repeating: 1.5)

        /// The defaults, tuned for the default servo.
        public init() {}
    }

    /// What the user tunes.
    public var parameters: Parameters
    /// From attitude to set-point the short way, camera frame, rad; as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// Whether a joint was asked to leave its range or to outrun its servo in the last step.
    public private(set) var isSaturated = false
    /// The absolute joint angles commanded last, rad.
    public private(set) var joints = AxisVector.zero
    /// Where the model believes the joints to be, rad: the joint source when there is no encoder.
    public private(set) var modelledJoints = AxisVector.zero

    private var history = JointHistory()
    private var baseRate = Vector3.zero
    private var isFirst = true

    /// A controller whose servos stand at zero.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// One period.
    ///
    /// - Parameters:
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - rate: Camera rate without bias, body frame, rad/s.
    ///   - setpoint: Where the camera is to look now.
    ///   - authority: 0...1, how much of the way from the present command to the wanted one may be gone: the soft
    ///     start. At 0 the command stands still.
    ///   - dt: Seconds since the previous call, more than 0, at most 0.1.
    /// - Returns: Absolute joint angles, rad, within the range. Unchanged when an argument is not finite or `dt` is out
    ///   of range.
    @_noLocks @_noAllocation
    public mutating func step(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, authority: Double, dt: Double
    ) -> AxisVector {
        guard attitude.isFinite, rate.isFinite, setpoint.isFinite, authority.isFinite, dt > 0,
            dt <= 0.1
        else { return joints }
        attitudeError = attitude.error(to: setpoint.attitude)
        let arrived = history.value(age: parameters.delay + parameters.sensorDelay, dt: dt)
        let modelStep = (arrived - modelledJoints) * (dt / (parameters.lag + dt))
        let modelRates = modelStep * (1 / dt)
        modelledJoints = modelledJoints + modelStep

        // Where the handle is, and how it turns.
        let relative = JointKinematics.attitude(joints: modelledJoints)
        let kinematics = JointKinematics(joints: modelledJoints)
        // Attitude and model must speak of the same instant, that of the sample.
        let sampled = attitude * Quaternion(rotationVector: rate * -parameters.attitudeLead)
        let handle = sampled * relative.conjugate
        let turning = relative.rotate(rate - kinematics.relativeRate(jointRates: modelRates))
        if isFirst { baseRate = turning }
        isFirst = false
        baseRate += lowPassed(turning - baseRate, dt: dt)

        // Where it will be when the command takes effect, and where it is to look then.
        let horizon = parameters.sensorDelay + parameters.delay + parameters.lag
        let ahead = parameters.lookAhead
        let turn = Vector3(
            baseRate.x * ahead.roll, baseRate.y * ahead.pitch, baseRate.z * ahead.yaw)
        let predicted = handle * Quaternion(rotationVector: turn * horizon)
        let goal =
            setpoint.attitude
            * Quaternion(rotationVector: setpoint.rate * horizon + surplus(of: attitudeError))
        let wanted = JointKinematics.joints(attitude: predicted.conjugate * goal)
        move(towards: wanted, authority: min(max(authority, 0), 1), dt: dt)
        history.append(joints)
        return joints
    }

    /// Starts afresh with the servos believed to stand at `joints`, rad.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        self.joints = joints
        modelledJoints = joints
        history.fill(joints)
        baseRate = .zero
        isFirst = true
        attitudeError = .zero
        isSaturated = false
    }

    /// What a first-order low-pass adds to its state in one step, handle frame.
    private func lowPassed(_ innovation: Vector3, dt: Double) -> Vector3 {
        let corner = 2 * Double.pi * parameters.rateCutoffHz * dt
        let x = corner * parameters.bandwidth.roll
        let y = corner * parameters.bandwidth.pitch
        let z = corner * parameters.bandwidth.yaw
        return Vector3(
            innovation.x * (x / (1 + x)), innovation.y * (y / (1 + y)),
            innovation.z * (z / (1 + z)))
    }

    /// The part of an error, camera frame, rad, by which a loop gain other than 1 goes beyond it or stays behind.
    private func surplus(of error: Vector3) -> Vector3 {
        let gain = parameters.loopGain
        return Vector3(
            error.x * (gain.roll - 1), error.y * (gain.pitch - 1), error.z * (gain.yaw - 1))
    }

    private mutating func move(towards wanted: AxisVector, authority: Double, dt: Double) {
        let bounded = AxisVector(
            yaw: min(max(wanted.yaw, parameters.minimum.yaw), parameters.maximum.yaw),
            roll: min(max(wanted.roll, parameters.minimum.roll), parameters.maximum.roll),
            pitch: min(max(wanted.pitch, parameters.minimum.pitch), parameters.maximum.pitch))
        let change = (bounded - joints) * authority
        let limit = parameters.maxRate * dt
        let step = change.clamped(to: limit)
        isSaturated = !(bounded == wanted && step == change)
        joints = joints + step
    }
}
