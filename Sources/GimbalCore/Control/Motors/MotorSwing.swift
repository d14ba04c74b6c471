internal import CMathShim

/// Motor test: a small swing of one motor while the outputs are otherwise off. The swing starts in
/// the joint's positive direction. A person can thus check the motor's assignment to the axis and
/// its direction. The swing needs no sensor.
///
/// The swing ends at the end of its dead-man time, unless the request is repeated. Runs on the loop
/// thread only.
struct MotorSwing: Sendable, BitwiseCopyable {
    private var axis = GimbalAxis.yaw
    private var start = Instant(nanoseconds: 0)
    private var validUntil = Instant(nanoseconds: .min)

    /// Amplitude of the swing, rad.
    private static var swing: Double { @_noLocks get { 4 * Double.pi / 180 } }
    /// Duration of one swing back and forth, s.
    private static var period: Double { @_noLocks get { 2 } }
    /// Torque of the swing, as a fraction of the motor's largest torque.
    private static var torqueShare: Double { @_noLocks get { 0.2 } }
    /// Rise time of the swing to full strength, s.
    private static var rampSeconds: Double { @_noLocks get { 0.5 } }

    @_noLocks
    init() {}

    /// Starts a swing of the motor of `axis` until the time `until`. If this motor already swings,
    /// the swing continues until the new time.
    @_noLocks
    mutating func hold(_ axis: GimbalAxis, until: Instant, now: Instant) {
        let isSame =
            switch (axis, self.axis) {
            case (.yaw, .yaw), (.roll, .roll), (.pitch, .pitch): true
            default: false
            }
        if !isRunning(now: now) || !isSame { start = now }
        self.axis = axis
        validUntil = until
    }

    @_noLocks
    mutating func stop() { validUntil = Instant(nanoseconds: .min) }

    /// True if the swing is in progress: its dead-man time has not ended.
    @_noLocks
    func isRunning(now: Instant) -> Bool { now < validUntil }

    /// Output that swings the tested motor; the other motors are off.
    @_noLocks
    func output(now: Instant, joints: JointObserver, parameters: Stabilizer.Parameters)
        -> MotorOutput
    {
        guard isRunning(now: now) else { return .off }
        let seconds = now.seconds(since: start)
        let wave = cm_sin(2 * .pi * seconds / Self.period)
        let ramp = min(seconds / Self.rampSeconds, 1)
        var strength = AxisVector.zero
        var angle = AxisVector.zero
        switch parameters.motorType {
        case .servo:
            strength[axis] = 1
            angle[axis] = Self.swing * wave
            return MotorOutput(enabled: true, angle: angle, power: strength)
        case .field:
            strength[axis] = parameters.field.power * ramp
            angle[axis] = Self.swing * wave * parameters.field.polePairs
            return MotorOutput(enabled: true, field: angle, power: strength)
        case .torque:
            strength[axis] = joints.isMeasured ? 1 : 0
            var torque = AxisVector.zero
            torque[axis] = Self.torqueShare * parameters.controller.torqueLimit[axis] * wave * ramp
            return MotorOutput(
                enabled: true, torque: torque, angle: joints.motion.angles, power: strength)
        }
    }
}
