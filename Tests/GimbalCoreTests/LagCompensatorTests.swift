import Testing

@testable import GimbalCore

@Suite("Lag compensator in a loop with a varying period")
struct LagCompensatorTests {
    /// Largest deviation of the output from a constant input of 1 N·m, 3 s to 6 s after the start.
    private static func deviation(delay: Double, period: (Int) -> Double) -> Double {
        var compensator = LagCompensator()
        let input = Vector3(1, 1, 1)
        var (elapsed, tick, worst) = (0.0, 0, 0.0)
        while elapsed < 6 {
            let dt = period(tick)
            let output = compensator.step(input, delay: delay, softening: .zero, dt: dt)
            elapsed += dt
            tick += 1
            if elapsed > 3 { worst = max(worst, abs(output.x - 1)) }
        }
        return worst
    }

    @Test("a period that varies by 20 µs does not modulate a constant torque at 400 Hz")
    func jitter() {
        let worst = Self.deviation(delay: 0.005) { tick in
            0.0025 + 20e-6 * (Double((tick * 7919) % 1000) / 500 - 1)
        }
        #expect(worst < 1e-6, "\(worst) N·m")
    }

    @Test("a late tick and an early one do not modulate a constant torque", arguments: [0.5, 9])
    func late(extra: Double) {
        let worst = Self.deviation(delay: 0.0035) { tick in
            switch tick % 400 {
            case 0: 1e-3 * (1 + extra)
            case 1: 1e-4
            default: 1e-3
            }
        }
        #expect(worst < 1e-6, "\(worst) N·m")
    }

    @Test("the mean period of the loop determines whether the filter has an effect")
    func slow() {
        for (period, suits) in [(1e-3, true), (2.5e-3, true), (5e-3, false)] {
            var compensator = LagCompensator()
            for _ in 0..<1000 {
                _ = compensator.step(.zero, delay: 0.005, softening: .zero, dt: period)
            }
            #expect(compensator.suits(delay: 0.005) == suits, "\(period) s")
        }
    }
}
