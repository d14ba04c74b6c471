internal import CMathShim

/// Motor test: a small swing of one motor while the outputs are otherwise off. The swing starts in
/// the joint's positive direction. A person can thus check the motor's assignment to the axis and
/// its direction. The swing needs no sensor.
///
/// The swing ends at the end of its dead-man time, unless the request is repeated. The swing
/// depends on the camera's rate. While the rotor aligns with the field, the field strength rises
/// only while the camera turns slowly. A torque pulse ends when the camera reaches `pulseRate`, and
/// the next pulse starts from zero when the camera has nearly stopped. The motor is switched off
/// when the camera turns faster than `largestRate`. The motor then stays off until the requests
/// have paused for the dead-man time. Without samples of the gyroscope, nothing limits the swing.
/// Runs on the loop thread only.
///
/// For the set-up, the motor can also turn in one direction until the joint stops (`MotorTurn`).
struct MotorSwing: Sendable, BitwiseCopyable {
    /// Motion of the motor: the swing, or a turn to the joint's positive or negative end.
    enum Way: Sendable, BitwiseCopyable { case swing, up, down }

    /// True if the conditions permit a motor test, which needs the mode `inactive`. A condition that
    /// turns the outputs off at once, a calibration, a bus error, an empty supply, and faults of the
    /// drives prevent a motor test. Conditions of the sensors do not prevent a motor test.
    @_noLocks
    static func isPermitted(by conditions: Conditions) -> Bool {
        conditions.intersects(.inactiveMode)
            && !conditions.intersects(
                Supervisor.offAtOnce.subtracting(.imuMissing) | .calibrating | .busError
                    | .driveSilent | .driveFault | .driveOverload | .driveOverheated
                    | .driveVoltage | .drivesStarting | .driveUnguarded | .supplyEmpty)
    }

    private var way = Way.swing
    private var turn = MotorTurn()
    /// The tested axis.
    private(set) var axis = GimbalAxis.yaw
    private var start = Instant(nanoseconds: 0)
    private var validUntil = Instant(nanoseconds: .min)
    private var last = Instant(nanoseconds: 0)
    /// Strength of the swing during its rise, 0...1.
    private var ramp = 0.0
    /// Duration of the swing so far, excluding the rotor's alignment, s.
    private var elapsed = 0.0
    /// True if a torque pulse has ended, and the camera has not stopped yet.
    private var isPulseOver = false
    /// True if the torque of the current half period is positive.
    private var isPositive = true
    /// True if the camera has turned too fast; the motor is off until a new swing starts.
    private var isTripped = false

    /// Amplitude of the swing of a servo, rad.
    private static var swing: Double { @_noLocks get { 4 * Double.pi / 180 } }
    /// Amplitude of the swing of a motor without encoder, rad. The amplitude exceeds the play that
    /// friction causes: friction torque divided by the stiffness of the field.
    private static var fieldSwing: Double { @_noLocks get { 16 * Double.pi / 180 } }
    /// Duration of one swing back and forth, s.
    private static var period: Double { @_noLocks get { 2 } }
    /// Duration of one swing of a motor without encoder, s. The frequency is far below the
    /// resonance of a heavy camera with the field.
    private static var fieldPeriod: Double { @_noLocks get { 7 } }
    /// Torque of the swing, as a fraction of the motor's largest torque.
    private static var torqueShare: Double { @_noLocks get { 0.2 } }
    /// Rise time of the swing to full strength, s.
    private static var rampSeconds: Double { @_noLocks get { 0.5 } }
    /// Time constant with which the field strength falls above `calmRate`, s.
    private static var releaseSeconds: Double { @_noLocks get { 0.03 } }
    /// Camera rate at which a torque pulse ends, rad/s. The next pulse starts at a quarter of this
    /// rate.
    private static var pulseRate: Double { @_noLocks get { 10 * Double.pi / 180 } }
    /// Camera rate above which the field strength does not rise, rad/s.
    private static var calmRate: Double { @_noLocks get { 20 * Double.pi / 180 } }
    /// Camera rate above which the motor is switched off, rad/s.
    private static var largestRate: Double { @_noLocks get { 150 * Double.pi / 180 } }
    /// Time in which a servo can move to its middle position at any rate, s.
    private static var servoSettling: Double { @_noLocks get { 1 } }
    /// Time in which a rotor aligns with its field and comes to rest, s.
    private static var fieldSettling: Double { @_noLocks get { 0.7 } }

    @_noLocks
    init() {}

    /// Executes a command that moves one motor.
    ///
    /// - Returns: False if the command is of another kind.
    @_noLocks
    mutating func start(_ command: Command, until: Instant, now: Instant) -> Bool {
        switch command {
        case .testMotor(let axis): hold(axis, until: until, now: now)
        case .findEnd(let axis, let isPositive):
            hold(axis, isPositive ? .up : .down, until: until, now: now)
        default: return false
        }
        return true
    }

    /// Starts a motion of the motor of `axis`, which ends at the time `until`. If the motor already
    /// executes this motion, only the end time changes.
    @_noLocks
    private mutating func hold(
        _ axis: GimbalAxis, _ way: Way = .swing, until: Instant, now: Instant
    ) {
        let isSameAxis =
            switch (axis, self.axis) {
            case (.yaw, .yaw), (.roll, .roll), (.pitch, .pitch): true
            default: false
            }
        let isSame =
            switch (way, self.way) {
            case (.swing, .swing), (.up, .up), (.down, .down): isSameAxis
            default: false
            }
        if !isRunning(now: now) || !isSame {
            start = now
            last = now
            ramp = 0
            elapsed = 0
            isPulseOver = false
            isPositive = true
            isTripped = false
            turn = MotorTurn()
        }
        self.axis = axis
        self.way = way
        validUntil = until
    }

    @_noLocks
    mutating func stop() { validUntil = Instant(nanoseconds: .min) }

    /// True if the swing is in progress: its dead-man time has not ended.
    @_noLocks
    func isRunning(now: Instant) -> Bool { now < validUntil }

    /// Output that swings the tested motor; the other motors are off.
    ///
    /// - Parameters:
    ///   - now: Time of the tick.
    ///   - velocity: The camera's rate, camera frame, rad/s; zero if unknown.
    ///   - joints: The joint angles, for torques.
    ///   - parameters: The stabilizer's parameters.
    /// - Returns: Output for all motors; off if no swing is in progress or the swing was too fast.
    @_noLocks
    mutating func output(
        now: Instant, rate velocity: Vector3, joints: JointObserver,
        parameters: Stabilizer.Parameters
    ) -> MotorOutput {
        guard isRunning(now: now) else { return .off }
        let rate = velocity.norm
        if rate > Self.largestRate,
            parameters.motorType.exertsTorque || now.seconds(since: start) > Self.servoSettling
        {
            isTripped = true
        }
        guard !isTripped else { return .off }
        let dt = max(now.seconds(since: last), 0)
        last = now
        var strength = AxisVector.zero
        var angle = AxisVector.zero
        switch parameters.motorType {
        case .servo:
            elapsed += dt
            strength[axis] = 1
            switch way {
            case .swing: angle[axis] = Self.swing * cm_sin(2 * .pi * elapsed / Self.period)
            case .up, .down:
                // The servo first moves to its middle position.
                let follows = follows(velocity, joints)
                if elapsed > Self.servoSettling { turn.step(isUp: isUp, rate: follows, dt: dt) }
                guard !turn.isStuck else { return .off }
                angle[axis] = turn.angle
            }
            return MotorOutput(enabled: true, angle: angle, power: strength)
        case .field:
            if ramp >= 1 {
                elapsed += dt
            } else if rate < Self.calmRate {
                ramp = min(ramp + dt / Self.rampSeconds, 1)
            } else {
                ramp -= ramp * min(dt / Self.releaseSeconds, 1)
            }
            strength[axis] = parameters.field.power * ramp
            switch way {
            case .swing:
                let wave = cm_sin(2 * .pi * elapsed / Self.fieldPeriod)
                angle[axis] = Self.fieldSwing * wave * parameters.field.polePairs
            case .up, .down:
                let follows = follows(velocity, joints)
                if elapsed > Self.fieldSettling { turn.step(isUp: isUp, rate: follows, dt: dt) }
                guard !turn.isStuck else { return .off }
                angle[axis] = turn.angle * parameters.field.polePairs
            }
            return MotorOutput(enabled: true, field: angle, power: strength)
        case .torque:
            // Only the swing is possible: a person turns a joint with an encoder by hand.
            guard case .swing = way else { return .off }
            elapsed += dt
            strength[axis] = joints.isMeasured ? 1 : 0
            var torque = AxisVector.zero
            torque[axis] = pulse(rate: rate, dt: dt) * parameters.controller.torqueLimit[axis]
            return MotorOutput(
                enabled: true, torque: torque, angle: joints.motion.angles, power: strength)
        }
    }

    private var isUp: Bool { @_noLocks get { if case .up = way { true } else { false } } }

    /// The camera's rate about the axis of the moved joint, rad/s.
    @_noLocks
    private func follows(_ rate: Vector3, _ joints: JointObserver) -> Double {
        var unit = AxisVector.zero
        unit[axis] = 1
        return rate.dot(joints.motion.kinematics.relativeRate(jointRates: unit))
    }

    /// Torque of a motor with encoder at this tick, as a fraction of the largest torque.
    @_noLocks
    private mutating func pulse(rate: Double, dt: Double) -> Double {
        let wave = cm_sin(2 * .pi * elapsed / Self.period)
        if isPositive != (wave >= 0) {
            isPositive = wave >= 0
            isPulseOver = false
            ramp = 0
        }
        if rate > Self.pulseRate { isPulseOver = true }
        if rate < Self.pulseRate / 4 { isPulseOver = false }
        ramp = isPulseOver ? 0 : min(ramp + dt / Self.rampSeconds, 1)
        return Self.torqueShare * wave * ramp
    }
}
