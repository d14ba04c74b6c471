import GimbalCore
import Testing

@Suite("One motor, moved by hand of the loop")
struct MotorSwingTests {
    private static let start = 10.0

    /// A stabilizer in mode inactive that has never seen a sample.
    private static func stabilizer(_ type: MotorType, mode: Mode = .inactive) -> Stabilizer {
        var parameters = Stabilizer.Parameters()
        parameters.motorType = type
        parameters.bootMode = mode
        return Stabilizer(parameters: parameters)
    }

    private static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64((start + seconds) * 1e9))
    }

    /// Outputs of a second at 100 Hz, with the dead-man held that long.
    private static func outputs(
        _ stabilizer: inout Stabilizer, axis: GimbalAxis = .roll, held: Double = 1
    ) -> [MotorOutput] {
        stabilizer.apply(.testMotor(axis), validUntil: at(held), now: at(0))
        return (0..<100).map { stabilizer.step(now: at(Double($0) * 0.01)) }
    }

    @Test("a servo alone gets pulses, and swings by four degrees, first in the positive direction")
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

    @Test("a field comes up softly, on one motor, at the power that is configured")
    func field() {
        var stabilizer = Self.stabilizer(.field)
        let outputs = Self.outputs(&stabilizer, axis: .pitch)
        #expect(outputs[0].power.pitch == 0)
        #expect(outputs[99].power.pitch == stabilizer.parameters.field.power)
        #expect(outputs.allSatisfy { $0.power.yaw == 0 && $0.power.roll == 0 })
        let largest = outputs.map(\.field.pitch).max() ?? 0
        #expect(abs(largest - 7 * 4 * .pi / 180) < 1e-2)
    }

    @Test("without encoders there is no strength behind a torque")
    func torque() {
        var stabilizer = Self.stabilizer(.torque)
        #expect(Self.outputs(&stabilizer).allSatisfy { $0.power == .zero })
    }

    @Test("it ends when the dead-man is not held any more")
    func deadMan() {
        var stabilizer = Self.stabilizer(.servo)
        let outputs = Self.outputs(&stabilizer, held: 0.5)
        #expect(outputs[49].enabled && !outputs[50].enabled)
    }

    @Test("it ends at any other command, and an emergency stop keeps it from beginning")
    func commands() {
        var stabilizer = Self.stabilizer(.servo)
        _ = Self.outputs(&stabilizer, held: 9)
        stabilizer.apply(.mode(.inactive), now: Self.at(1))
        #expect(!stabilizer.step(now: Self.at(1)).enabled)
        stabilizer.apply(.emergencyStop, now: Self.at(1))
        #expect(Self.outputs(&stabilizer).allSatisfy { !$0.enabled })
    }

    @Test("in every other mode nothing comes of it")
    func otherModes() {
        var stabilizer = Self.stabilizer(.servo, mode: .locked)
        #expect(Self.outputs(&stabilizer).allSatisfy { !$0.enabled })
    }

    @Test("a bus that fails ends it")
    func busError() {
        var stabilizer = Self.stabilizer(.servo)
        stabilizer.report(.busError)
        #expect(Self.outputs(&stabilizer).allSatisfy { !$0.enabled })
    }
}
