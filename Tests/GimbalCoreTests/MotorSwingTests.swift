import GimbalCore
import Testing

@Suite("Test movement of one motor")
struct MotorSwingTests {
    private static let start = 10.0

    /// Stabilizer that has not received a sample.
    private static func stabilizer(_ type: MotorType, mode: Mode = .inactive) -> Stabilizer {
        var parameters = Stabilizer.Parameters()
        parameters.motorType = type
        parameters.bootMode = mode
        return Stabilizer(parameters: parameters)
    }

    private static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64((start + seconds) * 1e9))
    }

    /// Outputs during 1 s at 100 Hz; the request expires after `held` seconds.
    private static func outputs(
        _ stabilizer: inout Stabilizer, axis: GimbalAxis = .roll, held: Double = 1
    ) -> [MotorOutput] {
        stabilizer.apply(.testMotor(axis), validUntil: at(held), now: at(0))
        return (0..<100).map { stabilizer.step(now: at(Double($0) * 0.01)) }
    }

    @Test("only the tested servo gets pulses, and it swings by 4°, first in the positive direction")
    func servo() {
        var stabilizer = Self.stabilizer(.servo)
        let outputs = Self.outputs(&stabilizer)
        #expect(outputs.allSatisfy { $0.enabled })
        #expect(
            outputs.allSatisfy { $0.power.roll == 1 && $0.power.yaw == 0 && $0.power.pitch == 0 })
        let largest = outputs.map(\.angle.roll).max() ?? 0
        #expect(abs(largest - 4 * .pi / 180) < 1e-3)
        #expect(outputs.allSatisfy { $0.angle.roll >= 0 && $0.angle.yaw == 0 })
    }

    @Test("the power of one motor without encoder rises slowly to the configured power")
    func field() {
        var stabilizer = Self.stabilizer(.field)
        let outputs = Self.outputs(&stabilizer, axis: .pitch)
        #expect(outputs[0].power.pitch == 0)
        #expect(outputs[99].power.pitch == stabilizer.parameters.field.power)
        #expect(outputs.allSatisfy { $0.power.yaw == 0 && $0.power.roll == 0 })
        // The field does not turn until the rotor is aligned; then it turns by 16° in a period of 7
        // s.
        #expect(outputs[..<50].allSatisfy { $0.field.pitch == 0 })
        let half = 7 * 16 * Double.pi / 180 * 0.426
        #expect(abs(outputs[99].field.pitch - half) < 0.05, "\(outputs[99].field.pitch)")
    }

    @Test("a torque motor without encoders gets no power")
    func torque() {
        var stabilizer = Self.stabilizer(.torque)
        #expect(Self.outputs(&stabilizer).allSatisfy { $0.power == .zero })
    }

    @Test("the movement ends at its dead-man time")
    func deadMan() {
        var stabilizer = Self.stabilizer(.servo)
        let outputs = Self.outputs(&stabilizer, held: 0.5)
        #expect(outputs[49].enabled && !outputs[50].enabled)
    }

    @Test("another command ends the movement, and an emergency stop prevents a new movement")
    func commands() {
        var stabilizer = Self.stabilizer(.servo)
        _ = Self.outputs(&stabilizer, held: 9)
        stabilizer.apply(.mode(.inactive), now: Self.at(1))
        #expect(!stabilizer.step(now: Self.at(1)).enabled)
        stabilizer.apply(.emergencyStop, now: Self.at(1))
        #expect(Self.outputs(&stabilizer).allSatisfy { !$0.enabled })
    }

    @Test("a request in mode `locked` does not enable the motors")
    func otherModes() {
        var stabilizer = Self.stabilizer(.servo, mode: .locked)
        #expect(Self.outputs(&stabilizer).allSatisfy { !$0.enabled })
    }

    @Test(
        "a bus error, a fault of a drive, a lost bus, an empty supply or a control fault prevents the movement",
        arguments: [
            .busError, .controlFault, .canBusOff, .motorPortLost, .simulatorSilent, .driveSilent,
            .driveFault, .driveOverload, .driveOverheated, .driveVoltage, .drivesStarting,
            .driveUnguarded, .supplyEmpty,
        ] as [Conditions])
    func faults(condition: Conditions) {
        var stabilizer = Self.stabilizer(.servo)
        stabilizer.report(condition)
        #expect(Self.outputs(&stabilizer).allSatisfy { !$0.enabled })
    }

    @Test("a camera that turns too fast switches the motor off until the requests pause")
    func tooFast() {
        var stabilizer = Self.stabilizer(.field)
        var sample = IMUSample(time: Self.at(0), gyro: .zero, accel: Vector3(0, 0, -9.81))
        var outputs: [Bool] = []
        for tick in 0..<200 {
            let seconds = Double(tick) * 0.01
            sample.time = Self.at(seconds)
            // The camera turns at 200°/s between 0.5 s and 0.6 s.
            sample.gyro = Vector3(0, tick >= 50 && tick < 60 ? 3.5 : 0.001 * Double(tick % 3), 0)
            stabilizer.apply(
                .testMotor(.pitch), validUntil: Self.at(seconds + 0.3), now: Self.at(seconds))
            stabilizer.integrate(sample)
            outputs.append(stabilizer.step(now: Self.at(seconds)).enabled)
        }
        #expect(outputs[..<50].allSatisfy { $0 } && outputs[50...].allSatisfy { !$0 })
        stabilizer.apply(.testMotor(.pitch), validUntil: Self.at(4), now: Self.at(3))
        #expect(stabilizer.step(now: Self.at(3)).enabled)
    }
}
