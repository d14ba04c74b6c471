import Glibc
import Testing

@testable import GimbalCore

@Suite("Polarity check: wrong sign of gyroscope or motor")
struct PolarityCheckTests {
    let rule = PolarityCheck.Rule(scatter: 1e-6, dt: 1e-3)

    /// Milliseconds until the check reports a wrong sign, nil if it never does. The set-point's
    /// rate changes by `planned` rad/s in each millisecond.
    func delay(
        _ milliseconds: Int, planned: Double = 0,
        _ signal: (Int) -> (push: Double, change: Double)
    ) -> Int? {
        var test = PolarityCheck()
        var rate = 0.0
        for t in 0..<milliseconds {
            let (push, change) = signal(t)
            rate += change - planned
            test.step(push: push, gyro: change, planned: planned, rate: rate, rule)
            if test.isReversed { return t }
        }
        return nil
    }

    @Test(
        "a loop with the wrong sign, which grows exponentially, is reported within 45 ms",
        arguments: [0.3, 1, 3])
    func reversed(inertiaRatio: Double) throws {
        let found = delay(100) { t in
            let push = 2e-4 * exp(Double(t) / 5)
            return (push, -push / inertiaRatio)
        }
        #expect(try #require(found) <= 45)
    }

    @Test(
        "the same growth with the right sign is not reported, at any inertia",
        arguments: [0.3, 1, 3])
    func straight(inertiaRatio: Double) {
        let found = delay(100) { t in
            let push = 2e-4 * exp(Double(t) / 5)
            return (push, push / inertiaRatio)
        }
        #expect(found == nil)
    }

    @Test("a camera that friction holds while its set-point moves away is not reported")
    func held() {
        // The push grows with the error; the camera follows at a tenth of the planned rate.
        let found = delay(40, planned: 0.03) { t in (0.002 * Double(t), 0.003) }
        #expect(found == nil)
    }

    @Test("a wrong sign is also reported while the set-point moves")
    func reversedWhileMoving() throws {
        let found = delay(100, planned: 0.003) { t in
            let push = 2e-4 * exp(Double(t) / 5)
            return (push, -push - 0.003)
        }
        #expect(try #require(found) <= 45)
    }

    @Test("a push that the loop compensates is not reported", arguments: [3.0, 10, 30])
    func push(milliseconds: Double) {
        // The motor compensates the push with the loop's time constant of 5 ms.
        var taken = 0.0
        let found = delay(200) { t in
            let force = Double(t) < milliseconds ? 0.5 : 0
            taken += (force - taken) / 5
            return (-taken, force - taken)
        }
        #expect(found == nil)
    }

    @Test("a sine at any frequency with the phase of a stable loop is not reported")
    func sines() {
        for period in stride(from: 4.0, through: 200, by: 7) {
            for degrees in stride(from: 90.0, through: 180, by: 15) {
                let found = delay(1000) { t in
                    let phase = 2 * Double.pi * Double(t) / period
                    // The motor opposes the change with the phase lag of the open loop.
                    return (-sin(phase - degrees * .pi / 180), 0.3 * sin(phase))
                }
                #expect(found == nil, "period \(period) ms, \(degrees)° behind")
            }
        }
    }

    @Test("noise alone is not reported, although the motor responds to the noise")
    func noise() {
        var state: UInt64 = 1
        var last = 0.0
        let found = delay(20_000) { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let rate = (Double(state >> 11) / Double(1 << 53) - 0.5) * 2e-3
            defer { last = rate }
            return (-0.2 * last, rate - last)
        }
        #expect(found == nil)
    }
}
