import Glibc
import Testing

@testable import GimbalCore

@Suite("Axis response: a joint that turns against its motor")
struct AxisResponseTests {
    /// Periods until the response counts as reversed, nil if it never does. Each period's signal is
    /// the command in rad/s² and the camera's rate in rad/s; the joint turns by `followed` times
    /// the camera's angle.
    func periods(
        _ count: Int, dt: Double, followed: Double = 1,
        _ signal: (Int) -> (commanded: Double, rate: Double)
    ) -> Int? {
        var response = AxisResponse()
        let pace = AxisResponse.Pace(dt: dt)
        var (angle, last) = (0.0, 0.0)
        for t in 0..<count {
            let (commanded, rate) = signal(t)
            angle += rate * dt
            response.step(
                commanded: commanded, observed: (rate - last) / dt, deviation: rate, error: -angle,
                joint: followed * angle,
                bar: ResponseBar(findsInertia: true, isInertiaFound: false, isDelayKnown: true),
                least: 1, pace: pace)
            last = rate
            if response.isReversed { return t }
        }
        return nil
    }

    /// Signal of a loop with the wrong sign; the rate grows by a factor of e in 20 ms.
    func runaway(dt: Double) -> (Int) -> (commanded: Double, rate: Double) {
        { t in
            let rate = 0.01 * exp(Double(t) * dt / 0.02)
            return (-rate / 0.02, rate)
        }
    }

    @Test(
        "a wrong sign of motor or sensor is found within 0.15 s, at 1 kHz and at 250 Hz",
        arguments: [1e-3, 4e-3], [1.0, -1])
    func reversed(dt: Double, followed: Double) throws {
        let found = try #require(periods(200, dt: dt, followed: followed, runaway(dt: dt)))
        #expect(Double(found) * dt < 0.15)
    }

    @Test(
        "a camera that moves with the handle while the joint does not turn is not reported as reversed"
    )
    func dragged() {
        #expect(periods(40, dt: 4e-3, followed: 0, runaway(dt: 4e-3)) == nil)
    }

    @Test("a camera that oscillates at half the loop's rate is not reported as reversed")
    func alternating() {
        let run = runaway(dt: 4e-3)
        let found = periods(40, dt: 4e-3) { t in
            let (commanded, rate) = run(t)
            return t % 2 == 0 ? (commanded, rate) : (commanded, -0.5 * rate)
        }
        #expect(found == nil)
    }
}
