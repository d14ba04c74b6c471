import Foundation
import Testing

@testable import GimbalCore

@Suite("Friction compensation")
struct FrictionCompensatorTests {
    static let parameters = FrictionCompensator.Parameters()

    /// A joint that swings by 3° at 2 Hz, against which the feedback has to hold `coulomb` newton metres.
    static func swing(
        _ compensator: inout FrictionCompensator, seconds: Double, coulomb: Double,
        check: (Double, Double) -> Void = { _, _ in }
    ) {
        let dt = 1e-3
        let w = 2 * Double.pi * 2
        for i in 0..<Int(seconds / dt) {
            let t = Double(i) * dt
            let joint = 0.05 * sin(w * t)
            let rate = 0.05 * w * cos(w * t)
            let torque = compensator.torque(joint: joint, parameters: parameters, dt: dt)
            let friction = rate > 0 ? coulomb : -coulomb
            compensator.learn(feedback: friction - torque, parameters: parameters, dt: dt)
            check(t, torque - friction)
        }
    }

    @Test("learns the friction of a swinging joint", arguments: [0.0, 0.003, 0.01, 0.03])
    func learns(coulomb: Double) {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: coulomb)
        #expect(abs(compensator.size - coulomb) < 0.05 * coulomb + 1e-6)
    }

    @Test("forgets a friction that is no more")
    func forgets() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.03)
        Self.swing(&compensator, seconds: 15, coulomb: 0)
        #expect(compensator.size < 0.001)
    }

    @Test("turns over with the joint: early by its lead, and within 10 ms")
    func turnsOver() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.01)
        var wrong = 0
        Self.swing(&compensator, seconds: 1, coulomb: 0.01) { t, error in
            if t > 0.5, abs(error) > 0.005 { wrong += 1 }
        }
        // Two turning points in half a second.
        #expect(wrong < 40)
    }

    @Test("a joint at rest teaches nothing and gets nothing")
    func rest() {
        var compensator = FrictionCompensator()
        for _ in 0..<5000 {
            let torque = compensator.torque(joint: 0.3, parameters: Self.parameters, dt: 1e-3)
            compensator.learn(feedback: 0.02, parameters: Self.parameters, dt: 1e-3)
            #expect(torque == 0)
        }
        #expect(compensator.size == 0)
    }

    @Test("never exceeds its bound, and survives a jump of the encoder")
    func bound() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.2) { _, _ in }
        #expect(compensator.size == Self.parameters.limit)
        let torque = compensator.torque(joint: 3, parameters: Self.parameters, dt: 1e-3)
        #expect(abs(torque) <= Self.parameters.limit)
    }
}
