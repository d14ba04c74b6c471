internal import GimbalCore
internal import Realtime

/// Three brushless motors on a PCA9685, each on three half bridges. Bus thread only.
///
/// All nine outputs are written in one transfer, in every period in which a count changes. When the
/// motors are off, every output is low. A driver whose enable pin stays on then brakes the motor,
/// so the enable pin must be connected to the power line.
final class PCA9685Phases: MotorPort {
    private let outputs: PCA9685Outputs
    private let motors: PhaseMotors
    private let hasEncoders: Bool

    /// Creates motors.
    ///
    /// - Parameters:
    ///   - outputs: Nine outputs of the chip: three for yaw, three for roll, three for pitch.
    ///   - motors: Properties of the motors.
    ///   - hasEncoders: Whether torques are commutated with the measured joint angles; otherwise
    ///     the fields are set as commanded.
    init(outputs: PCA9685Outputs, motors: PhaseMotors, hasEncoders: Bool) {
        self.outputs = outputs
        self.motors = motors
        self.hasEncoders = hasEncoders
    }

    func prepare(now: Instant) throws(BusError) -> Bool { try outputs.prepare(now: now) }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard output.enabled else {
            if !outputs.isOff { try outputs.allOff() }
            return
        }
        set(motors.yaw, output, .yaw, at: 0)
        set(motors.roll, output, .roll, at: 3)
        set(motors.pitch, output, .pitch, at: 6)
        _ = try outputs.write()
    }

    func allOff() throws(BusError) { try outputs.allOff() }

    private func set(_ motor: PhaseMotor, _ output: MotorOutput, _ axis: GimbalAxis, at first: Int)
    {
        let field =
            hasEncoders
            ? motor.commutate(
                torque: output.torque[axis], joint: output.angle[axis], share: output.power[axis])
            : (angle: motor.direction * output.field[axis], amplitude: output.power[axis])
        let duties = ThreePhase.duties(angle: field.angle, amplitude: field.amplitude)
        outputs.set(Self.counts(duties.a), at: first)
        outputs.set(Self.counts(duties.b), at: first + 1)
        outputs.set(Self.counts(duties.c), at: first + 2)
    }

    /// Converts a duty, 0...1, to counts; 4096 counts are a duty of 1.
    static func counts(_ duty: Double) -> Int { min(max(Int((duty * 4096).rounded()), 0), 4095) }
}
