import Testing

@testable import GimbalCore

@Suite("Power of motors without encoders")
struct FieldPowerTests {
    /// Default motors: 7 pole pairs, 250 mN·m at full power, configured power 0.5.
    static let parameters = FieldController.Parameters()

    private static func load(
        inertia: Double, friction: Double
    ) -> (inertia: AxisVector, friction: AxisVector) {
        (AxisVector(repeating: inertia), AxisVector(repeating: friction))
    }

    @Test(
        "a light camera gets the power with which it swings at 40 rad/s, but four times the friction",
        arguments: [
            // 1e-4 kg·m² x (40 rad/s)² / 7 = 22.9 mN·m
            [1e-4, 1e-3, 0.0229 / 0.25], [1e-4, 10e-3, 0.04 / 0.25],
            // Never more than the configured power.
            [2.5e-3, 1e-3, 0.5], [1e-4, 60e-3, 0.5],
        ])
    func light(values: [Double]) {
        var power = FieldPower()
        power.reset(Self.load(inertia: values[0], friction: values[1]), Self.parameters)
        #expect(abs(power.rest.roll - values[2]) < 1e-3)
        #expect(power.shares == power.rest)
    }

    @Test("each motor has its own power without load")
    func axes() {
        var power = FieldPower()
        var load = Self.load(inertia: 1e-4, friction: 1e-3)
        load.inertia.yaw = 2.5e-3
        load.friction.pitch = .nan
        power.reset(load, Self.parameters)
        #expect(power.rest.yaw == 0.5)
        #expect(power.rest.roll < 0.1)
        // Unknown friction: the configured power.
        #expect(power.rest.pitch == 0.5)
    }

    @Test("without a measurement, or after a slip, a motor has the configured power")
    func configured() {
        var power = FieldPower()
        power.reset((.unknown, .unknown), Self.parameters)
        #expect(power.rest == AxisVector(repeating: 0.5))
        let light = Self.load(inertia: 1e-4, friction: 1e-3)
        power.follow(.zero, load: light, Self.parameters, dt: 1e-3)
        #expect(power.rest.roll < 0.1)
        power.noteSlip()
        power.follow(.zero, load: light, Self.parameters, dt: 1e-3)
        #expect(power.rest == AxisVector(repeating: 0.5))
        #expect(power.shares == AxisVector(repeating: 0.5))
        // Also at the next start.
        power.reset(light, Self.parameters)
        #expect(power.rest == AxisVector(repeating: 0.5))
    }

    @Test("a load raises the power of all motors at once; afterwards the power decreases slowly")
    func loaded() {
        var power = FieldPower()
        let light = Self.load(inertia: 1e-4, friction: 1e-3)
        power.reset(light, Self.parameters)
        let rest = power.rest.yaw
        let torques = AxisVector(yaw: 0, roll: -0.07, pitch: 0)
        power.follow(torques, load: light, Self.parameters, dt: 1e-3)
        #expect(abs(power.shares.yaw - 0.4) < 1e-9 && abs(power.shares.roll - 0.4) < 1e-9)
        for _ in 0..<500 { power.follow(.zero, load: light, Self.parameters, dt: 1e-3) }
        #expect(power.shares.roll > rest + 0.05 && power.shares.roll < 0.3)
        for _ in 0..<5000 { power.follow(.zero, load: light, Self.parameters, dt: 1e-3) }
        #expect(abs(power.shares.roll - rest) < 1e-3)
    }

    @Test("a change of the configured power applies at once")
    func changed() {
        var power = FieldPower()
        power.reset((.unknown, .unknown), Self.parameters)
        var parameters = Self.parameters
        parameters.power = 0.7
        power.follow(.zero, load: (.unknown, .unknown), parameters, dt: 1e-3)
        #expect(power.shares == AxisVector(repeating: 0.7))
    }
}
