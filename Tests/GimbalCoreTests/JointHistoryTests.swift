import Testing

@testable import GimbalCore

@Suite("History of the motor commands")
struct JointHistoryTests {
    /// History of the commands 1, 2, 3, … with the given periods.
    static func commanded(_ periods: [Double]) -> JointHistory {
        var history = JointHistory()
        for (index, dt) in periods.enumerated() {
            history.append(AxisVector(repeating: Double(index + 1)), dt: dt)
        }
        return history
    }

    static func value(_ history: JointHistory, age: Double, dt: Double) -> Double {
        var history = history
        return history.value(age: age, dt: dt).roll
    }

    @Test("with equal periods, the value at a time between two commands is interpolated")
    func even() {
        let history = Self.commanded([Double](repeating: 0.001, count: 20))
        #expect(abs(Self.value(history, age: 0.001, dt: 0.001) - 20) < 1e-9)
        #expect(abs(Self.value(history, age: 0.005, dt: 0.001) - 16) < 1e-9)
        #expect(abs(Self.value(history, age: 0.0055, dt: 0.001) - 15.5) < 1e-9)
        // Age 0 gives the newest command.
        #expect(Self.value(history, age: 0, dt: 0.001) == 20)
    }

    @Test("with a spacing, a history of 4 kHz contains the delays of servos")
    func spacing() {
        var history = JointHistory(spacing: JointHistory.servoSpacing)
        for step in 1...1000 {
            history.append(AxisVector(repeating: Double(step)), dt: 0.00025)
        }
        // 60 ms are 240 steps; the newest value is one step old.
        #expect(abs(history.value(age: 0.06, dt: 0.00025).roll - 761) < 5)
        #expect(abs(history.value(age: 0.00025, dt: 0.00025).roll - 1000) < 1)
    }

    @Test("a history of 4 kHz contains the longest loop delay")
    func longDelay() {
        var history = JointHistory()
        for step in 1...1000 {
            history.append(AxisVector(repeating: Double(step)), dt: 0.00025, covering: 0.05)
        }
        // 50 ms are 200 steps; the newest value is one step old.
        #expect(abs(history.value(age: 0.05, dt: 0.00025).roll - 801) < 1e-6)
        #expect(history.value(age: 0.00025, dt: 0.00025).roll == 1000)
    }

    @Test("at 4 kHz, the effect of a torque is expected after a loop delay of 30 ms")
    func effect() {
        var effect = MotorEffect()
        var first: Int?
        for step in 0..<400 where first == nil {
            let torque = AxisVector(yaw: step < 100 ? 0 : 0.1, roll: 0, pitch: 0)
            effect.exert(
                torques: torque, push: .unknown, delay: 0.03, limit: AxisVector(repeating: 0.25),
                inertia: (AxisVector(repeating: 2.5e-3), .zero),
                kinematics: JointKinematics(joints: .zero), dt: 0.00025)
            if let motors = effect.motors, motors.acceleration.z > 20 { first = step }
        }
        // 30 ms are 120 steps.
        #expect(abs((first ?? 0) - 220) <= 3, "\(first ?? 0)")
    }

    @Test("in a late call, the last command counts as active for the whole period")
    func late() {
        let history = Self.commanded([Double](repeating: 0.001, count: 20))
        #expect(Self.value(history, age: 0.015, dt: 0.1) == 20)
        #expect(abs(Self.value(history, age: 0.102, dt: 0.1) - 18) < 1e-9)
    }

    @Test("after a late period, the previous command counts as active during that period")
    func afterLate() {
        let history = Self.commanded([Double](repeating: 0.001, count: 20) + [0.1, 0.001])
        #expect(abs(Self.value(history, age: 0.002, dt: 0.001) - 21) < 1e-9)
        #expect(abs(Self.value(history, age: 0.020, dt: 0.001) - 20) < 1e-9)
        #expect(abs(Self.value(history, age: 0.090, dt: 0.001) - 20) < 1e-9)
        #expect(abs(Self.value(history, age: 0.103, dt: 0.001) - 19) < 1e-9)
    }

    @Test("an age beyond the memory gives the oldest value, and filling replaces all values")
    func bounds() {
        var history = Self.commanded([Double](repeating: 0.001, count: 100))
        #expect(Self.value(history, age: 10, dt: 0.001) >= 37)
        history.fill(AxisVector(repeating: 7))
        #expect(Self.value(history, age: 0.03, dt: 0.001) == 7)
        history.append(AxisVector(repeating: 8), dt: 0.001)
        #expect(Self.value(history, age: 0.03, dt: 0.001) == 7)
        #expect(Self.value(history, age: 0.001, dt: 0.001) == 8)
    }
}
