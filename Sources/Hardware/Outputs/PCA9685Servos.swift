internal import GimbalCore
internal import Realtime

/// Three servos on a PCA9685. Bus thread only.
///
/// A new position is written at most once a frame and only when a count has changed. Off means no pulses: a servo without
/// them lets go.
final class PCA9685Servos: MotorPort {
    private let outputs: PCA9685Outputs
    private let pulses: ServoPulses
    private var lastWrite = Instant(nanoseconds: .min / 2)

    /// - Parameters:
    ///   - outputs: Those of yaw, roll and pitch.
    ///   - pulses: What the servos take.
    init(outputs: PCA9685Outputs, pulses: ServoPulses) {
        self.outputs = outputs
        self.pulses = pulses
    }

    func prepare(now: Instant) throws(BusError) -> Bool { try outputs.prepare(now: now) }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard output.enabled else {
            if !outputs.isOff { try outputs.allOff() }
            return
        }
        let chip = outputs.chip
        guard now.seconds(since: lastWrite) * chip.frameRate >= 0.9 else { return }
        outputs.set(chip.counts(pulse: pulses.yaw.pulse(for: output.angle.yaw)), at: 0)
        outputs.set(chip.counts(pulse: pulses.roll.pulse(for: output.angle.roll)), at: 1)
        outputs.set(chip.counts(pulse: pulses.pitch.pulse(for: output.angle.pitch)), at: 2)
        if try outputs.write() { lastWrite = now }
    }

    func allOff() throws(BusError) { try outputs.allOff() }
}
