/// What the motors do to the camera's rate, as the next sample will show it: the witness of torque and inertia.
///
/// Loop thread only; constant time, no allocation.
struct MotorEffect: Sendable, BitwiseCopyable {
    /// What the set-point alone asks of the motors.
    struct Planned: Sendable, BitwiseCopyable {
        /// On the camera, its frame, N·m.
        var moment = Vector3.zero
        /// That the camera can show of it in the newest sample, its frame, rad/s.
        var rate = Vector3.zero

        @_noLocks
        init(moment: Vector3 = .zero, rate: Vector3 = .zero) {
            self.moment = moment
            self.rate = rate
        }
    }

    /// The torques whose mirror image is looked for in the camera's answer.
    enum Push: Sendable, BitwiseCopyable {
        /// The part of the commanded torques that answers errors, N·m, a delay later.
        case told(AxisVector, planned: Planned)
        /// The torques of rotors without encoder when the newest sample was measured, N·m.
        case exerted(AxisVector)
        /// None: the place of a rotor is not known.
        case unknown
    }

    /// As of the last step; nil while the outputs are off.
    private(set) var motors: GyroWitness.Motors?

    /// The torques that the motors were told, N·m.
    private var told = JointHistory()
    /// The part of them that answers errors, N·m.
    private var answers = JointHistory()
    /// The fastest turn of the servos in the last moments, rad/s.
    private var fastest = 0.0

    /// How many times the believed acceleration is possible at least: with a third of the believed inertia, and a motor that
    /// is stronger than its data sheet.
    private static var doubt: Double { @_noLocks get { 3.5 } }
    /// A camera whose inertia is not known may be thrown against a stop, rad/s².
    private static var stop: Double { @_noLocks get { 12000 } }
    /// A servo is as fast as its model at most this much later or earlier, s.
    private static var servoMemory: Double { @_noLocks get { 0.05 } }

    @_noLocks
    init() {}

    /// The outputs are off.
    @_noLocks
    mutating func rest() {
        if motors != nil {
            told.fill(.zero)
            answers.fill(.zero)
        }
        motors = nil
        fastest = 0
    }

    /// One period of motors that exert a torque.
    ///
    /// - Parameters:
    ///   - torques: As commanded in this period, N·m.
    ///   - push: The torques whose mirror image is looked for; ignored until the inertia is found.
    ///   - delay: From command to the sample that shows it, s.
    ///   - limit: The largest torques, N·m.
    ///   - inertia: About the camera's axes, kg·m², and its standard deviation, natural logarithm.
    ///   - kinematics: The joints' geometry.
    ///   - dt: Seconds since the previous period, more than 0.
    @_noLocks
    mutating func exert(
        torques: AxisVector, push: Push, delay: Double, limit: AxisVector,
        inertia: (values: AxisVector, sigmas: AxisVector), kinematics: JointKinematics, dt: Double
    ) {
        told.append(torques, dt: dt)
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
        let expected = acceleration(told.value(age: delay, dt: dt))
        let isFound = sigma <= 0.3
        var answer: Vector3?
        var planned = (rate: Vector3.zero, acceleration: Vector3.zero)
        switch push {
        case .told(let torques, let motion):
            answers.append(torques, dt: dt)
            if isFound { answer = acceleration(answers.value(age: delay, dt: dt)) }
            planned = (motion.rate, acceleration(motion.moment))
        case .exerted(let torques) where isFound: answer = acceleration(torques)
        case .exerted, .unknown: answer = nil
        }
        motors = GyroWitness.Motors(
            acceleration: expected, exerted: answer, planned: planned,
            strongest: max(isFound ? 0 : Self.stop, Self.doubt * largest / smallest))
    }

    /// One period of servos. Their horns change their rate within a sample, but only when they were told to turn.
    ///
    /// - Parameters:
    ///   - rates: How fast they turn at most, rad/s: as their model does, or at a start, where their horns may be elsewhere, as
    ///     they can.
    ///   - kinematics: The joints' geometry.
    ///   - dt: Seconds since the previous period, more than 0.
    @_noLocks
    mutating func turn(rates: AxisVector, kinematics: JointKinematics, dt: Double) {
        let rate = kinematics.relativeRate(jointRates: rates).norm
        fastest = max(rate, fastest * (1 - min(dt / Self.servoMemory, 1)))
        motors = GyroWitness.Motors(
            acceleration: .zero, exerted: nil, strongest: 2 * fastest / dt)
    }
}
