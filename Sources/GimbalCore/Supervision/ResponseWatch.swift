/// Polarity check of all joints: the camera's response must not be opposite to the motor commands.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct ResponseWatch: Sendable, BitwiseCopyable {
    private var axes = PerAxis(AxisResponse())
    private var commanded = JointHistory()
    private var lastRates: AxisVector?

    @_noLocks
    init() {}

    /// The joints with a reversed response.
    var reversed: AxisSet {
        @_noLocks @inline(always) get { axes.axes { $0.isReversed } }
    }

    /// The motors whose torque must be reduced in the next period, as a test of their sign.
    var paused: AxisSet {
        @_noLocks @inline(always) get { axes.axes { $0.isPaused } }
    }

    /// Restarts the check, because the outputs are about to be switched on.
    @_noLocks
    mutating func reset() { self = ResponseWatch() }

    /// Checks the camera's response to torque commands in one control period.
    ///
    /// - Parameters:
    ///   - accelerations: Expected accelerations of the camera about the joints' axes from the
    ///     present torques, rad/s².
    ///   - delay: Time from a command to the sample that contains its effect, s.
    ///   - rates: Camera's rate about the joints' axes, rad/s.
    ///   - wanted: Desired rate of the camera about the joints' axes, rad/s.
    ///   - errors: Rotation from the camera to the set-point about the joints' axes, rad.
    ///   - joints: Joint angles from encoders, rad; nil without encoders.
    ///   - bar: Thresholds at which a response counts as the inverted command.
    ///   - least: Smallest commanded accelerations that are evaluated, rad/s²; smaller ones do not
    ///     overcome friction.
    ///   - saturated: The motors at their torque limit.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks
    mutating func step(
        accelerations: AxisVector, delay: Double, rates: AxisVector, wanted: AxisVector,
        errors: AxisVector, joints: AxisVector?, bar: ResponseBar, least: AxisVector,
        saturated: AxisSet, dt: Double
    ) {
        let acted = commanded.value(age: delay, dt: dt)
        commanded.append(accelerations, dt: dt, covering: delay)
        let last = lastRates
        lastRates = rates
        guard let last else { return }
        compare(
            commanded: acted, observed: (rates - last) * (1 / dt), rates: rates, wanted: wanted,
            errors: errors, joints: joints, bar: bar, least: least, saturated: saturated, dt: dt)
    }

    /// Checks the camera's response to servo commands in one control period.
    ///
    /// - Parameters:
    ///   - jointRates: Present joint rates in the servos' model, rad/s.
    ///   - rates: Camera's rate about the joints' axes, rad/s.
    ///   - wanted: Desired rate of the camera about the joints' axes, rad/s.
    ///   - errors: Rotation from the camera to the set-point about the joints' axes, rad.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks
    mutating func step(
        jointRates: AxisVector, rates: AxisVector, wanted: AxisVector, errors: AxisVector,
        dt: Double
    ) {
        compare(
            commanded: jointRates, observed: rates, rates: rates, wanted: wanted, errors: errors,
            joints: nil,
            bar: ResponseBar(
                least: 0.6, most: 1.5, correlation: 0.96, evidence: ResponseBar.servoEvidence),
            least: .zero, saturated: .none, dt: dt)
    }

    private mutating func compare(
        commanded: AxisVector, observed: AxisVector, rates: AxisVector, wanted: AxisVector,
        errors: AxisVector, joints: AxisVector?, bar: ResponseBar, least: AxisVector,
        saturated: AxisSet, dt: Double
    ) {
        let pace = AxisResponse.Pace(dt: dt)
        axes.change {
            $0.step(
                commanded: commanded[$1], observed: observed[$1], rate: rates[$1],
                deviation: rates[$1] - wanted[$1], error: errors[$1], joint: joints?[$1], bar: bar,
                least: least[$1], isSaturated: saturated.contains($1), pace: pace)
        }
    }
}
