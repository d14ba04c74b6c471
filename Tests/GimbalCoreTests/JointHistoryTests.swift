import Testing

@testable import GimbalCore

@Suite("What the motors were told some time ago")
struct JointHistoryTests {
    /// Told 1, 2, 3, … at the given periods.
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

    @Test("even periods: whole ages give what was told, others lie between")
    func even() {
        let history = Self.commanded([Double](repeating: 0.001, count: 20))
        #expect(abs(Self.value(history, age: 0.001, dt: 0.001) - 20) < 1e-9)
        #expect(abs(Self.value(history, age: 0.005, dt: 0.001) - 16) < 1e-9)
        #expect(abs(Self.value(history, age: 0.0055, dt: 0.001) - 15.5) < 1e-9)
        // Nothing is newer than the newest.
        #expect(Self.value(history, age: 0, dt: 0.001) == 20)
    }

    @Test("a late call: what was told last has been in force since")
    func late() {
        let history = Self.commanded([Double](repeating: 0.001, count: 20))
        #expect(Self.value(history, age: 0.015, dt: 0.1) == 20)
        #expect(abs(Self.value(history, age: 0.102, dt: 0.1) - 18) < 1e-9)
    }

    @Test("after a late period: the value before was in force until then")
    func afterLate() {
        let history = Self.commanded([Double](repeating: 0.001, count: 20) + [0.1, 0.001])
        #expect(abs(Self.value(history, age: 0.002, dt: 0.001) - 21) < 1e-9)
        #expect(abs(Self.value(history, age: 0.020, dt: 0.001) - 20) < 1e-9)
        #expect(abs(Self.value(history, age: 0.090, dt: 0.001) - 20) < 1e-9)
        #expect(abs(Self.value(history, age: 0.103, dt: 0.001) - 19) < 1e-9)
    }

    @Test("older than the memory: the oldest known; filled: that for ever")
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
