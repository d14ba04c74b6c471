internal import CMathShim

/// Moves one motor a little to and fro while the loop drives nothing, so that somebody sees which
/// one it is and which way it turns: first in the joint's positive direction. Needs no sensor.
///
/// Held by a dead-man: it ends by itself unless it is asked for again. Loop thread only.
struct MotorSwing: Sendable, BitwiseCopyable {
    private var axis = GimbalAxis.yaw
    private var start = Instant(nanoseconds: 0)
    private var validUntil = Instant(nanoseconds: .min)

    /// How far it moves, rad.
    private static var swing: Double { @_noLocks get { 4 * Double.pi / 180 } }
    /// One to and fro, s.
    private static var period: Double { @_noLocks get { 2 } }
    /// Share of the largest torque.
    private static var torqueShare: Double { @_noLocks get { 0.2 } }
    /// Time until it has its full strength, s.
    private static var rampSeconds: Double { @_noLocks get { 0.5 } }

    @_noLocks
    init() {}

    /// Begins, or goes on with the same motor.
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

    /// Whether the dead-man is held.
    @_noLocks
    func isRunning(now: Instant) -> Bool { now < validUntil }

    /// What the motors are to do; the others get no strength.
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
