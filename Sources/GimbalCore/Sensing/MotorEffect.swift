/// Prediction of the motors' effect on the camera's rate, computed from torque and inertia. The
/// prediction is delayed by the time from a command to the sample that contains its effect.
/// `GyroWitness` compares the gyroscope with the predicted rate.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct MotorEffect: Sendable, BitwiseCopyable {
    /// The part of the motors' effect that results from the set-point alone.
    struct Planned: Sendable, BitwiseCopyable {
        /// Moment on the camera, camera frame, N·m.
        var moment = Vector3.zero
        /// Camera's rate due to the set-point alone, at the time of the newest sample, camera
        /// frame, rad/s.
        var rate = Vector3.zero

        @_noLocks
        init(moment: Vector3 = .zero, rate: Vector3 = .zero) {
            self.moment = moment
            self.rate = rate
        }
    }

    /// Torques for the polarity check. `PolarityCheck` tests whether the camera responds in the
    /// opposite direction to these torques.
    enum Push: Sendable, BitwiseCopyable {
        /// Feedback part of the commanded torques, N·m; these torques take effect after the loop
        /// delay.
        case commanded(AxisVector, planned: Planned)
        /// Estimated torques of motors without encoders at the time of the newest sample, N·m.
        case exerted(AxisVector)
        /// The torques are unknown, because a rotor's position is unknown.
        case unknown
    }

    /// Effect of the motors at the last step; nil while the outputs are off.
    private(set) var motors: GyroWitness.Motors?

    /// Recently commanded torques, N·m.
    private var commanded = JointHistory()
    /// Feedback part of the recently commanded torques, N·m.
    private var answers = JointHistory()
    /// Largest recent change of the camera's rate due to the servos within a sample period, rad/s.
    private var largestJolt = 0.0

    /// Ratio of the largest possible acceleration to the acceleration with the assumed inertia. The
    /// true inertia can be a third of the assumed inertia, and a motor's torque can exceed the
    /// value in its data sheet.
    private static var doubt: Double { @_noLocks get { 3.5 } }
    /// Largest angular acceleration from a mechanical stop if the inertia is unknown, rad/s².
    private static var stop: Double { @_noLocks get { 12000 } }
    /// Largest time difference between the modelled and the real motion of a servo, s.
    private static var servoMemory: Double { @_noLocks get { 0.05 } }

    @_noLocks
    init() {}

    /// Suspends the prediction while the outputs are off.
    @_noLocks
    mutating func rest() {
        if motors != nil {
            commanded.fill(.zero)
            answers.fill(.zero)
        }
        motors = nil
        largestJolt = 0
    }

    /// Largest standard deviation of the natural logarithm of an inertia that predicts the motors'
    /// effect: 30 %.
    private static var foundSigma: Double { @_noLocks get { 0.3 } }

    /// Updates the prediction for one control period with motors that exert torques.
    ///
    /// - Parameters:
    ///   - torques: Torques commanded in this period, N·m.
    ///   - push: Torques for the polarity check (see `PolarityCheck`); ignored until the inertia is
    ///     identified.
    ///   - delay: Time from a command to the sample that contains its effect, s.
    ///   - limit: The largest torques, N·m.
    ///   - inertia: Inertia about the camera's axes, kg·m², and the standard deviation of its
    ///     natural logarithm.
    ///   - kinematics: The joints' geometry.
    ///   - dt: Seconds since the previous period, more than 0.
    @_noLocks
    mutating func exert(
        torques: AxisVector, push: Push, delay: Double, limit: AxisVector,
        inertia: (values: AxisVector, sigmas: AxisVector), kinematics: JointKinematics, dt: Double
    ) {
        commanded.append(torques, dt: dt, covering: delay)
        let values = inertia.values
        func acceleration(_ moment: Vector3) -> Vector3 {
            Vector3(moment.x / values.roll, moment.y / values.pitch, moment.z / values.yaw)
        }
        func acceleration(_ torques: AxisVector) -> Vector3 {
            acceleration(kinematics.moment(torques: torques))
        }
        let smallest = min(values.yaw, min(values.roll, values.pitch))
        let largest = max(limit.yaw, max(limit.roll, limit.pitch))
        let sigma = max(inertia.sigmas.yaw, max(inertia.sigmas.roll, inertia.sigmas.pitch))
        let expected = acceleration(commanded.value(age: delay, dt: dt))
        let isFound = sigma <= Self.foundSigma
        var answer: Vector3?
        var planned = (rate: Vector3.zero, acceleration: Vector3.zero)
        switch push {
        case .commanded(let torques, let motion):
            answers.append(torques, dt: dt, covering: delay)
            if isFound { answer = acceleration(answers.value(age: delay, dt: dt)) }
            planned = (motion.rate, acceleration(motion.moment))
        case .exerted(let torques) where isFound: answer = acceleration(torques)
        case .exerted, .unknown: answer = nil
        }
        motors = GyroWitness.Motors(
            acceleration: expected, exerted: answer, planned: planned,
            strongest: max(isFound ? 0 : Self.stop, Self.doubt * largest / smallest))
    }

    /// Updates the prediction for one control period with servos. A servo horn's rate can change
    /// within one sample period, but only in response to a change of the command.
    ///
    /// - Parameters:
    ///   - jolts: Largest possible change of each joint's rate within a sample period, given the
    ///     commands, rad/s. When the servos are switched on, their horns can be at any position, so
    ///     the value is twice the servos' largest rate.
    ///   - kinematics: The joints' geometry.
    ///   - dt: Seconds since the previous period, more than 0.
    @_noLocks
    mutating func turn(jolts: AxisVector, kinematics: JointKinematics, dt: Double) {
        let jolt = kinematics.relativeRate(jointRates: jolts).norm
        largestJolt = max(jolt, largestJolt * (1 - min(dt / Self.servoMemory, 1)))
        motors = GyroWitness.Motors(acceleration: .zero, exerted: nil, jolt: largestJolt)
    }
}
