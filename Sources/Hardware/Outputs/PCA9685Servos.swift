internal import GimbalCore
internal import Realtime

/// Three servos on a PCA9685. Only the bus thread uses this class.
///
/// The driver writes a new position at most once per pulse, and only if a count has changed. When
/// the servos are off, they receive no pulses, so they exert no torque.
final class PCA9685Servos: MotorPort {
    private let outputs: PCA9685Outputs
    private let pulses: ServoPulses
    private var lastWrite = Instant(nanoseconds: .min / 2)

    /// Creates servos.
    ///
    /// - Parameters:
    ///   - outputs: Outputs of the chip for the servos of yaw, roll and pitch.
    ///   - pulses: Conversion from joint angles to the pulses of the three servos.
    init(outputs: PCA9685Outputs, pulses: ServoPulses) {
        self.outputs = outputs
        self.pulses = pulses
    }

    func prepare(now: Instant) throws(BusError) -> Bool { try outputs.prepare(now: now) }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard output.enabled else { return try outputs.keepOff(now: now) }
        guard now.seconds(since: lastWrite) * outputs.chip.frameRate >= 0.9 else { return }
        set(pulses.yaw, output, .yaw, at: 0)
        set(pulses.roll, output, .roll, at: 1)
        set(pulses.pitch, output, .pitch, at: 2)
        if try outputs.write() { lastWrite = now }
    }

    private func set(_ servo: ServoPulse, _ output: MotorOutput, _ axis: GimbalAxis, at index: Int)
    {
        let counts = outputs.chip.counts(pulse: servo.pulse(for: output.angle[axis]))
        outputs.set(output.power[axis] > 0 ? counts : 0, at: index)
    }

    func allOff() throws(BusError) { try outputs.allOff() }
}
