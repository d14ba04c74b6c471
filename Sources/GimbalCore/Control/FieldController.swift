internal import CMathShim

/// Attitude to field angles, for brushless motors without encoders.
///
/// Each rotor hangs in its stator's field like on a spring. A field that stood still would drag the camera along with the
/// handle; therefore an observer (`FieldObserver`) finds from the gyroscope where each rotor is, the field is set on
/// it, and is led by just the load angle whose torque the attitude loop asks for. The motor thereby acts as a torque
/// motor whose limit is the pull-out torque, and the field follows a rotor that is turned by force instead of losing it.
///
/// Nobody knows the rotor's electrical angle at the start. The power ramps up while the observer locks on to the
/// rotor: the field comes to the rotor, and the camera stays where it is.
///
/// Loop thread only; constant time, no allocation.
public struct FieldController: Sendable, BitwiseCopyable {
    /// What the user tunes. Axis values of gains and inertia act about the camera's own axes.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Pairs of magnet poles on the rotors.
        public var polePairs = 7.0
        /// Power with which the motors hold, 0...1 of what the stage can give.
        public var power = 0.5
        /// Torque of each motor at full power and 90 electrical degrees, N·m.
        public var peakTorque = AxisVector(repeating: 0.25)
        /// Inertia of camera and carried parts about the camera's axes, kg·m².
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// Attitude error to rate, 1/s.
        public var attitudeGain = 30.0
        /// Rate error to acceleration, 1/s.
        public var rateGain = 110.0
        /// Natural frequency of the rotors' observers, rad/s.
        public var observerBandwidth = 100.0
        /// Largest rate that an attitude error may command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration that a large attitude error plans with, rad/s².
        public var maxAcceleration = 15.0
        /// From the camera's motion to the torque that answers it, s: sensor filter, bus, power stage.
        public var loopDelay = 0.0035
        /// How far the attitude that the controller is given looks ahead of its sample, s.
        public var attitudeLead = 0.003
        /// Largest load angle that the field leads the rotor by, electrical rad: below the 90° of pull-out.
        public var loadLimit = 65 * Double.pi / 180

        /// The defaults, tuned for the default plant.
        public init() {}
    }

    /// What the motors are to be told.
    public struct Output: Sendable, BitwiseCopyable {
        /// Electrical angle of each field, rad, not wrapped.
        public var field = AxisVector.zero
        /// Strength of each field, 0...1.
        public var power = AxisVector.zero

        /// Power off.
        @_noLocks
        public init() {}
    }

    /// What the user tunes.
    public var parameters: Parameters
    /// From attitude to set-point the short way, camera frame, rad; as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// Whether a motor was asked for more than its largest load angle can give in the last step.
    public private(set) var isSaturated = false
    /// What the motors were told last.
    public private(set) var output = Output()
    /// Where the rotors' observers believe the joints to be, rad: the joint source when there is no encoder.
    public private(set) var modelledJoints = AxisVector.zero

    private var yaw = FieldObserver()
    private var roll = FieldObserver()
    private var pitch = FieldObserver()
    private var fields = JointHistory()
    private var powers = JointHistory()

    /// A controller whose rotors are believed at joint angle zero.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// One period.
    ///
    /// - Parameters:
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - rate: Camera rate without bias, body frame, rad/s.
    ///   - setpoint: Where the camera is to look now.
    ///   - authority: 0...1, scales the power: the soft start. Until it is 1 the rotors' electrical angles are learned.
    ///   - dt: Seconds since the previous call, more than 0, at most 0.1.
    /// - Returns: Field angles and powers. Unchanged when an argument is not finite or `dt` is out of range.
    @_noLocks @_noAllocation
    public mutating func step(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, authority: Double, dt: Double
    ) -> Output {
        guard attitude.isFinite, rate.isFinite, setpoint.isFinite, authority.isFinite, dt > 0,
            dt <= 0.1
        else { return output }
        attitudeError = attitude.error(to: setpoint.attitude)
        let share = min(max(authority, 0), 1)
        let kinematics = JointKinematics(joints: modelledJoints)
        observe(rate: rate, kinematics: kinematics, isLearning: share < 1, dt: dt)
        let torques = kinematics.torques(
            moment: moment(attitude: attitude, rate: rate, setpoint: setpoint))
        drive(torques: torques, rates: kinematics.jointRates(relativeRate: rate), share: share)
        fields.append(output.field)
        powers.append(output.power)
        return output
    }

    /// Starts afresh: power off, the joints believed at `joints`, rad, the rotors' electrical angles unknown.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        modelledJoints = joints
        let field = joints * parameters.polePairs
        yaw.reset(electrical: field.yaw)
        roll.reset(electrical: field.roll)
        pitch.reset(electrical: field.pitch)
        output = Output()
        output.field = field
        fields.fill(field)
        powers.fill(.zero)
        attitudeError = .zero
        isSaturated = false
    }

    /// Follows the rotors by one period.
    private mutating func observe(
        rate: Vector3, kinematics: JointKinematics, isLearning: Bool, dt: Double
    ) {
        let p = parameters
        let rates = kinematics.jointRates(relativeRate: rate)
        let field = fields.value(age: p.loopDelay, dt: dt)
        let power = powers.value(age: p.loopDelay, dt: dt)
        let inertia = jointInertia(kinematics)
        let full = AxisVector(
            yaw: p.peakTorque.yaw / inertia.yaw, roll: p.peakTorque.roll / inertia.roll,
            pitch: p.peakTorque.pitch / inertia.pitch)
        let before = AxisVector(
            yaw: yaw.electrical, roll: roll.electrical, pitch: pitch.electrical)
        let slip = AxisVector(
            yaw: yaw.update(
                measured: rates.yaw, knownJointRate: rates.yaw, field: field.yaw,
                pull: full.yaw * power.yaw, smallestPull: full.yaw * p.power * 0.2,
                polePairs: p.polePairs, bandwidth: p.observerBandwidth, dt: dt),
            roll: roll.update(
                measured: rates.roll, knownJointRate: rates.roll, field: field.roll,
                pull: full.roll * power.roll, smallestPull: full.roll * p.power * 0.2,
                polePairs: p.polePairs, bandwidth: p.observerBandwidth, dt: dt),
            pitch: pitch.update(
                measured: rates.pitch, knownJointRate: rates.pitch, field: field.pitch,
                pull: full.pitch * power.pitch, smallestPull: full.pitch * p.power * 0.2,
                polePairs: p.polePairs, bandwidth: p.observerBandwidth, dt: dt))
        let after = AxisVector(
            yaw: yaw.electrical, roll: roll.electrical, pitch: pitch.electrical)
        // While the electrical zero is learned, a correction says where the field is, not where the joint is.
        let moved = isLearning ? after - before - slip : after - before
        modelledJoints = modelledJoints + moved * (1 / p.polePairs)
    }

    /// Inertia about each joint's axis, kg·m²: roll and yaw exchange theirs when the camera looks straight up.
    private func jointInertia(_ kinematics: JointKinematics) -> AxisVector {
        let inertia = parameters.inertia
        let a = kinematics.yawAxis
        let b = kinematics.rollAxis
        return AxisVector(
            yaw: a.x * a.x * inertia.roll + a.y * a.y * inertia.pitch + a.z * a.z * inertia.yaw,
            roll: b.x * b.x * inertia.roll + b.z * b.z * inertia.yaw, pitch: inertia.pitch)
    }

    /// The moment on the camera that the errors ask for, body frame, N·m.
    private func moment(attitude: Quaternion, rate: Vector3, setpoint: Setpoint) -> Vector3 {
        let p = parameters
        // What the measurement can show is the set-point of a delay ago, less what the estimator looks ahead.
        let age = p.loopDelay - p.attitudeLead
        let lag = setpoint.acceleration * (0.5 * age * age) - setpoint.rate * age
        let reference = setpoint.attitude * Quaternion(rotationVector: lag)
        let toCamera = attitude.conjugate * reference
        let wanted =
            rateCommand(error: toCamera.rotationVector)
            + toCamera.rotate(setpoint.rate - setpoint.acceleration * p.loopDelay)
        let acceleration =
            (wanted - rate) * p.rateGain + toCamera.rotate(setpoint.acceleration)
        let inertia = p.inertia
        let momentum = Vector3(inertia.roll * rate.x, inertia.pitch * rate.y, inertia.yaw * rate.z)
        return Vector3(
            inertia.roll * acceleration.x, inertia.pitch * acceleration.y,
            inertia.yaw * acceleration.z) + rate.cross(momentum)
    }

    /// The rate that takes an attitude error away, no faster than a constant deceleration can still stop.
    private func rateCommand(error: Vector3) -> Vector3 {
        let p = parameters
        let angle = error.norm
        let knee = p.maxAcceleration / (p.attitudeGain * p.attitudeGain)
        guard angle > knee else { return error * p.attitudeGain }
        let speed = cm_sqrt(2 * p.maxAcceleration * (angle - knee / 2))
        return error * (min(speed, p.maxRate) / angle)
    }

    /// Sets each field on its rotor, led by the load angle that gives the torque.
    private mutating func drive(torques: AxisVector, rates: AxisVector, share: Double) {
        let p = parameters
        let peak = p.peakTorque * p.power
        let bound = cm_sin(p.loadLimit)
        let load = AxisVector(
            yaw: peak.yaw > 0 ? torques.yaw / peak.yaw : 0,
            roll: peak.roll > 0 ? torques.roll / peak.roll : 0,
            pitch: peak.pitch > 0 ? torques.pitch / peak.pitch : 0)
        let bounded = load.clamped(to: AxisVector(repeating: bound))
        isSaturated = !(bounded == load)
        let ahead = p.loopDelay * p.polePairs
        output.field = AxisVector(
            yaw: yaw.electrical + (rates.yaw + yaw.hiddenRate) * ahead + cm_asin(bounded.yaw),
            roll: roll.electrical + (rates.roll + roll.hiddenRate) * ahead + cm_asin(bounded.roll),
            pitch: pitch.electrical + (rates.pitch + pitch.hiddenRate) * ahead
                + cm_asin(bounded.pitch))
        output.power = AxisVector(repeating: p.power * share)
    }
}
