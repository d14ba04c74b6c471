import Foundation
@testable import GimbalCore
import Testing

extension PIDController {
    /// One control period with a motor that exerts at most `limit`, as in `AttitudeController`.
    fileprivate mutating func step(error: Double, rate: Double, dt: Double) -> Double {
        let wanted = demand(error: error, rate: rate, dt: dt, integrate: 1)
        let applied = min(max(wanted, -parameters.limit), parameters.limit)
        unwind(excess: wanted - applied)
        return applied
    }
}

@Suite("PID rate controller")
struct PIDControllerTests {
    static func parameters(
        kp: Double = 0, ki: Double = 0, kd: Double = 0
    ) -> PIDController.Parameters {
        var p = PIDController.Parameters()
        p.kp = kp
        p.ki = ki
        p.kd = kd
        p.inertia = 2e-3
        p.limit = 0.25
        return p
    }

    @Test("zero error at zero rate gives zero torque")
    func zero() {
        var pid = PIDController()
        for _ in 0..<1000 { #expect(pid.step(error: 0, rate: 0, dt: 1e-3) == 0) }
    }

    @Test("the proportional part is inertia times gain times error")
    func proportional() {
        var pid = PIDController(parameters: Self.parameters(kp: 100))
        #expect(abs(pid.step(error: 0.5, rate: 0, dt: 1e-3) - 2e-3 * 100 * 0.5) < 1e-15)
    }

    @Test("the integral does not depend on the loop rate", arguments: [250.0, 1000, 4000])
    func integral(rate: Double) {
        var pid = PIDController(parameters: Self.parameters(ki: 50))
        var torque = 0.0
        for _ in 0..<Int(rate) { torque = pid.step(error: 0.2, rate: 0, dt: 1 / rate) }
        // 2e-3 kg m² * 50 1/s² * 0.2 rad/s * 1 s = 0.02 N·m
        #expect(abs(torque - 0.02) < 1e-12)
    }

    @Test("the derivative acts on the measurement, so a jump of the command gives no kick")
    func derivative() {
        var pid = PIDController(parameters: Self.parameters(kd: 1))
        _ = pid.step(error: 0, rate: 0, dt: 1e-3)
        #expect(pid.step(error: 5, rate: 0, dt: 1e-3) == 0)
        var torque = 0.0
        var rate = 0.0
        for _ in 0..<200 {
            rate += 10 * 1e-3
            torque = pid.step(error: 0, rate: rate, dt: 1e-3)
        }
        // Constant acceleration of 10 rad/s²: -inertia * kd * 10.
        #expect(abs(torque + 0.02) < 1e-6)
    }

    @Test("the derivative's filter has the configured corner frequency", arguments: [1000.0, 4000])
    func derivativeFilter(rate: Double) {
        var p = Self.parameters(kd: 1)
        p.derivativeCutoffHz = 40
        var pid = PIDController(parameters: p)
        _ = pid.step(error: 0, rate: 0, dt: 1 / rate)
        var torque = 0.0
        let tau = 1 / (2 * Double.pi * 40)
        for i in 1...Int(tau * rate) {
            torque = pid.step(error: 0, rate: Double(i) / rate, dt: 1 / rate)
        }
        // The rate is a ramp of 1 rad/s². After about one time constant, the torque equals a
        // first-order step response, apart from the sampling.
        let expected = 1 - exp(-Double(Int(tau * rate)) / rate / tau)
        #expect(abs(-torque / 2e-3 - expected) < 0.05)
    }

    @Test("a long saturation leaves the integral within the torque limit, and the output recovers")
    func antiWindup() {
        var pid = PIDController(parameters: Self.parameters(kp: 100, ki: 2000))
        for _ in 0..<10_000 {
            #expect(pid.step(error: 50, rate: 0, dt: 1e-3) == 0.25)
        }
        #expect(abs(pid.integralTorque) <= 0.25)
        var ticks = 0
        while pid.step(error: -0.5, rate: 0, dt: 1e-3) > 0, ticks < 1000 { ticks += 1 }
        #expect(ticks < 150)
    }

    @Test("a change of gain or inertia does not change the held torque")
    func bumpless() {
        var pid = PIDController(parameters: Self.parameters(kp: 100, ki: 500))
        for _ in 0..<500 { _ = pid.step(error: 0.1, rate: 0, dt: 1e-3) }
        let held = pid.step(error: 0, rate: 0, dt: 1e-3)
        #expect(held > 0.01)
        pid.parameters.ki = 2000
        pid.parameters.kp = 30
        pid.parameters.inertia = 5e-3
        #expect(abs(pid.step(error: 0, rate: 0, dt: 1e-3) - held) < 1e-12)
    }
}
