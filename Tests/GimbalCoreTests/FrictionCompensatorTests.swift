import Foundation
import Testing

@testable import GimbalCore

@Suite("Friction compensation")
struct FrictionCompensatorTests {
    static let parameters = FrictionCompensator.Parameters()

    /// Simulates a joint that swings by 3° at 2 Hz with bristle friction; the bristles slide after
    /// `distance`, rad.
    ///
    /// The motor exerts the compensation, and a perfect feedback adds the missing torque. `load` is
    /// an additional constant load, N·m.
    static func swing(
        _ compensator: inout FrictionCompensator, seconds: Double, coulomb: Double,
        distance: Double = 1e-3, load: Double = 0, lead: Double = 0,
        check: (Double, Double) -> Void = { _, _ in }
    ) {
        let dt = 1e-3
        let w = 2 * Double.pi * 2
        var bristle = 0.0
        var parameters = Self.parameters
        parameters.lead = lead
        for i in 0..<Int(seconds / dt) {
            let t = Double(i) * dt
            let joint = 0.05 * sin(w * t)
            let rate = 0.05 * w * cos(w * t)
            let torque = compensator.torque(
                joint: joint, deviation: 0, gains: JointTracker.Gains(forAnglesOver: dt),
                parameters: parameters, dt: dt)
            let end: Double = rate > 0 ? 1 : -1
            bristle = end + (bristle - end) * exp(-abs(rate) * dt / distance)
            let friction = coulomb * bristle
            compensator.learn(residual: friction + load, parameters: parameters, dt: dt)
            check(t, torque - friction)
        }
    }

    @Test("learns the friction of a swinging joint", arguments: [0.0, 0.003, 0.01, 0.03])
    func learns(coulomb: Double) {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: coulomb)
        #expect(abs(compensator.size - coulomb) < 0.05 * coulomb + 1e-6)
    }

    @Test(
        "learns the shape of the friction for bristles that slide early or late",
        arguments: [0.3e-3, 1e-3, 3e-3])
    func shape(distance: Double) {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 30, coulomb: 0.01, distance: distance)
        var squares = 0.0
        Self.swing(&compensator, seconds: 2, coulomb: 0.01, distance: distance) { t, error in
            if t > 1 { squares += error * error * 1e-3 }
        }
        #expect(squares.squareRoot() < 0.0015)
    }

    @Test("does not treat a constant load as friction")
    func load() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.01, load: 0.02)
        #expect(abs(compensator.size - 0.01) < 0.001)
    }

    @Test("forgets friction that has disappeared")
    func forgets() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.03)
        Self.swing(&compensator, seconds: 30, coulomb: 0)
        #expect(compensator.size < 0.001)
    }

    @Test("fades out a compensation that adds power to the joint")
    func net() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.03)
        #expect(compensator.benefit > 0)
        var largest = 0.0
        let start = -0.015
        for i in 0..<3000 {
            // The friction here drives the joint. A compensation with a positive size cannot
            // describe it.
            let joint = 0.05 * sin(2 * Double.pi * 2 * Double(i) * 1e-3)
            let rate = cos(2 * Double.pi * 2 * Double(i) * 1e-3)
            let torque = compensator.torque(
                joint: joint, deviation: 0, gains: JointTracker.Gains(forAnglesOver: 1e-3),
                parameters: Self.parameters, dt: 1e-3)
            compensator.learn(
                residual: rate > 0 ? start : -start, parameters: Self.parameters, dt: 1e-3)
            if i > 2500 { largest = max(largest, abs(torque)) }
        }
        // The learned friction was 30 mN·m.
        #expect(largest < 0.2e-3)
    }

    @Test("does not react to joint motion from the camera's own shaking")
    func deviation() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.03)
        var (least, most) = (0.0, 0.0)
        for i in 0..<2000 {
            // The handle turns steadily; the camera shakes by 0.5° at 15 Hz, which turns the joint
            // back and forth.
            let shake = 0.009 * sin(2 * Double.pi * 15 * Double(i) * 1e-3)
            let torque = compensator.torque(
                joint: 0.1 * Double(i) * 1e-3 + shake, deviation: shake,
                gains: JointTracker.Gains(forAnglesOver: 1e-3), parameters: Self.parameters,
                dt: 1e-3)
            if i > 500 { (least, most) = (min(least, torque), max(most, torque)) }
        }
        #expect(least >= 0 && most > 0.02)
    }

    @Test("reverses with the joint, earlier by its lead time, within 10 ms")
    func turnsOver() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.01, lead: 0.0035)
        var wrong = 0
        Self.swing(&compensator, seconds: 1, coulomb: 0.01, lead: 0.0035) { t, error in
            if t > 0.5, abs(error) > 0.005 { wrong += 1 }
        }
        // The joint has two turning points in 0.5 s.
        #expect(wrong < 20)
    }

    @Test("a joint at rest gets zero torque and does not change the learned friction")
    func rest() {
        var compensator = FrictionCompensator()
        for _ in 0..<5000 {
            let torque = compensator.torque(
                joint: 0.3, deviation: 0, gains: JointTracker.Gains(forAnglesOver: 1e-3),
                parameters: Self.parameters, dt: 1e-3)
            compensator.learn(residual: 0.02, parameters: Self.parameters, dt: 1e-3)
            #expect(torque == 0)
        }
        #expect(compensator.size == 0)
    }

    @Test("the learned friction stays within its limit, and an encoder jump gives a bounded torque")
    func bound() {
        var compensator = FrictionCompensator()
        Self.swing(&compensator, seconds: 15, coulomb: 0.2) { _, _ in }
        #expect(compensator.size <= Self.parameters.limit * 1.0001)
        let torque = compensator.torque(
            joint: 3, deviation: 0, gains: JointTracker.Gains(forAnglesOver: 1e-3),
            parameters: Self.parameters, dt: 1e-3)
        #expect(abs(torque) <= 2 * Self.parameters.limit)
    }

    @Test("a lower limit reduces the learned friction at once, although the joints rest")
    func lowerLimit() {
        var joints = JointFrictions()
        for tick in 0..<10_000 {
            let rate = 0.6 * cos(12 * Double(tick) * 1e-3)
            _ = joints.torques(jointRates: AxisVector(repeating: rate), deviation: .zero, dt: 1e-3)
            joints.learn(residual: AxisVector(repeating: rate > 0 ? 0.01 : -0.01), dt: 1e-3)
        }
        #expect(joints.sizes.yaw > 0.007)
        joints.parameters.limit = 0.004
        #expect(joints.sizes.isWithin(AxisVector(repeating: 0.004 * 1.0001)))
        #expect(joints.sizes.pitch > 0.0039)
    }

    @Test("a learning rate of 0 switches off the torques and the explained part of the residual")
    func switchedOff() {
        var joints = JointFrictions()
        func swing(seconds: Double) {
            for tick in 0..<Int(seconds * 1000) {
                let rate = 0.6 * cos(12 * Double(tick) * 1e-3)
                _ = joints.torques(
                    jointRates: AxisVector(repeating: rate), deviation: .zero, dt: 1e-3)
                let friction = rate > 0 ? 0.01 : -0.01
                joints.learn(residual: AxisVector(repeating: friction), dt: 1e-3)
            }
        }
        swing(seconds: 10)
        #expect(abs(joints.explained.yaw) > 0.005)
        joints.parameters.learningRate = 0
        let learned = joints.sizes
        swing(seconds: 1)
        #expect(joints.explained == .zero)
        #expect(joints.sizes == learned)
    }
}
