import Testing

@testable import GimbalCore

@Suite("Thermal budget")
struct ThermalBudgetTests {
    static let peak = AxisVector(repeating: 0.25)

    static func warmed(_ torque: Double, seconds: Double) -> ThermalBudget {
        var budget = ThermalBudget()
        for _ in 0..<Int(seconds * 100) {
            let limit = budget.limit(peak: peak, parameters: .init())
            budget.pass(
                torque: AxisVector(repeating: torque).clamped(to: limit), parameters: .init(),
                dt: 0.01)
        }
        return budget
    }

    @Test("a cold motor can exert its peak torque, and the continuous torque permanently")
    func continuous() {
        #expect(ThermalBudget().limit(peak: Self.peak, parameters: .init()) == Self.peak)
        let warm = Self.warmed(0.15, seconds: 600)
        #expect(warm.limit(peak: Self.peak, parameters: .init()).pitch >= 0.15)
    }

    @Test("the limit of a motor at its peak falls close to the continuous torque, without a jump")
    func peak() {
        var budget = ThermalBudget()
        var last = 0.25
        for _ in 0..<20_000 {
            let limit = budget.limit(peak: Self.peak, parameters: .init()).pitch
            #expect(abs(limit - last) < 0.001)
            last = limit
            budget.pass(torque: AxisVector(repeating: limit), parameters: .init(), dt: 0.01)
        }
        #expect(last > 0.15 && last < 0.17)
        #expect(!budget.lowered(peak: Self.peak, parameters: .init()).isEmpty)
    }

    @Test("a motor can exert its peak torque again after it has cooled")
    func cooling() {
        var budget = Self.warmed(0.25, seconds: 100)
        #expect(!budget.lowered(peak: Self.peak, parameters: .init()).isEmpty)
        for _ in 0..<1000 { budget.pass(torque: .zero, parameters: .init(), dt: 0.01) }
        #expect(budget.lowered(peak: Self.peak, parameters: .init()).isEmpty)
        #expect(budget.limit(peak: Self.peak, parameters: .init()) == Self.peak)
    }

    @Test(
        "a motor that can exert its peak torque permanently never counts as hot",
        arguments: [0.25, 0.255, 0.4])
    func permanent(continuous: Double) {
        var parameters = ThermalBudget.Parameters()
        parameters.continuousTorque = AxisVector(repeating: continuous)
        var budget = ThermalBudget()
        for _ in 0..<20_000 {
            budget.pass(torque: Self.peak, parameters: parameters, dt: 0.01)
        }
        #expect(budget.limit(peak: Self.peak, parameters: parameters) == Self.peak)
        #expect(budget.lowered(peak: Self.peak, parameters: parameters).isEmpty)
    }

    @Test("a lower continuous torque limits a motor at once if the motor is too warm for it")
    func lowered() {
        var parameters = Stabilizer.Parameters()
        parameters.controller.findsInertia = false
        parameters.controller.checksInertia = false
        var drive = MotorDrive(parameters)
        // The torque of this brake is 0.1 N·m about yaw: two thirds of the continuous torque.
        for _ in 0..<3000 {
            let output = drive.step(
                MotorDrive.Brake(
                    rate: Vector3(0, 0, 0.4), attitude: .identity, joints: .zero,
                    areJointsMeasured: true, authority: 1, dt: 0.1),
                after: .off)
            #expect(abs(output.torque.yaw + 0.1) < 1e-3)
        }
        #expect(drive.hot.isEmpty)
        drive.motors.continuousTorque = AxisVector(repeating: 0.05)
        #expect(drive.hot == AxisSet(.yaw))
        drive.motors.continuousTorque = AxisVector(repeating: 0.15)
        #expect(drive.hot.isEmpty)
    }

    @Test("without a continuous torque the limit stays at the peak")
    func none() {
        var parameters = ThermalBudget.Parameters()
        parameters.continuousTorque = .zero
        var budget = ThermalBudget()
        for _ in 0..<10_000 {
            budget.pass(torque: Self.peak, parameters: parameters, dt: 0.01)
        }
        #expect(budget.limit(peak: Self.peak, parameters: parameters) == Self.peak)
    }
}
