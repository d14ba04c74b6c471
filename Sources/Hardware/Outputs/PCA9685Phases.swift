internal import GimbalCore
internal import Realtime

/// Three brushless motors on a PCA9685, each with three half bridges. Only the bus thread uses this
/// class.
///
/// If a count changes in a period, one transfer writes all nine outputs. When the motors are off,
/// every output is low. If the enable pin of a driver stays on, low outputs brake the motor;
/// therefore connect the enable pin to the power line.
///
/// The outputs are fractions of the supply voltage, so the motors' torque is proportional to the
/// supply voltage. The factor of `SupplyReport` corrects the fractions, up to the full supply
/// voltage.
final class PCA9685Phases: MotorPort {
    private let outputs: PCA9685Outputs
    private let motors: PhaseMotors
    private let hasEncoders: Bool
    private let supply: SupplyReport

    /// Creates motors.
    ///
    /// - Parameters:
    ///   - outputs: Nine outputs of the chip: three for yaw, three for roll, three for pitch.
    ///   - motors: Properties of the motors.
    ///   - hasEncoders: True if the driver commutates the commanded torques with the measured joint
    ///     angles; otherwise it sets the magnetic fields as commanded.
    ///   - supply: Scale factor for the strengths of the fields.
    init(
        outputs: PCA9685Outputs, motors: PhaseMotors, hasEncoders: Bool,
        supply: SupplyReport = SupplyReport()
    ) {
        self.outputs = outputs
        self.motors = motors
        self.hasEncoders = hasEncoders
        self.supply = supply
    }

    func prepare(now: Instant) throws(BusError) -> Bool { try outputs.prepare(now: now) }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard output.enabled else { return try outputs.keepOff(now: now) }
        set(motors.yaw, output, .yaw, at: 0)
        set(motors.roll, output, .roll, at: 3)
        set(motors.pitch, output, .pitch, at: 6)
        _ = try outputs.write()
    }

    func allOff() throws(BusError) { try outputs.allOff() }

    private func set(_ motor: PhaseMotor, _ output: MotorOutput, _ axis: GimbalAxis, at first: Int)
    {
        let duties = duties(motor, output, axis)
        outputs.set(Self.counts(duties.a), at: first)
        outputs.set(Self.counts(duties.b), at: first + 1)
        outputs.set(Self.counts(duties.c), at: first + 2)
    }

    /// Fractions of the supply voltage at the three outputs of a motor, 0...1.
    func duties(
        _ motor: PhaseMotor, _ output: MotorOutput, _ axis: GimbalAxis
    ) -> (a: Double, b: Double, c: Double) {
        let field =
            hasEncoders
            ? motor.commutate(
                torque: output.torque[axis], joint: output.angle[axis], share: output.power[axis])
            : (angle: motor.direction * output.field[axis], amplitude: output.power[axis])
        return ThreePhase.duties(angle: field.angle, amplitude: field.amplitude * supply.factor)
    }

    /// Converts a duty cycle, 0...1, to counts. A duty cycle of 1 is 4096 counts, but the result is
    /// at most 4095.
    static func counts(_ duty: Double) -> Int { min(max(Int((duty * 4096).rounded()), 0), 4095) }
}
