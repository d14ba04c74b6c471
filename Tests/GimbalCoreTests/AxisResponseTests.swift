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
                commanded: commanded, observed: (rate - last) / dt, rate: rate, deviation: rate,
                error: -angle, joint: followed * angle,
                bar: ResponseBar(findsInertia: true, isInertiaFound: false, isDelayKnown: true),
                least: 1, isSaturated: false, pace: pace)
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

    /// Executes the pauses of a motor at its limit of 20 rad/s², whose response is 4 ms late.
    ///
    /// - Parameter acceleration: Camera's acceleration, rad/s², for a command in rad/s².
    /// - Returns: Camera's angle at which the response counts as reversed, rad, nil if it never does;
    ///   and whether there was a pause.
    private func atLimit(
        _ acceleration: (Double) -> Double
    ) -> (angle: Double?, hasPaused: Bool) {
        var response = AxisResponse()
        let (dt, delay) = (1e-3, 4)
        var commands = [Double](repeating: -20, count: delay)
        var (angle, rate, hasPaused) = (0.0, 0.0, false)
        for t in 0..<1000 {
            commands.append(response.isPaused ? -2 : -20)
            let observed = acceleration(commands[t])
            rate += observed * dt
            angle += rate * dt
            response.step(
                commanded: commands[t], observed: observed, rate: rate, deviation: rate,
                error: -angle, joint: angle,
                bar: ResponseBar(findsInertia: true, isInertiaFound: false, isDelayKnown: true),
                least: 1, isSaturated: true, pace: AxisResponse.Pace(dt: dt))
            hasPaused = hasPaused || response.isPaused
            if response.isReversed { return (angle, hasPaused) }
        }
        return (nil, hasPaused)
    }

    @Test("a pause of the torque shows the wrong sign of a motor at its limit within 12°")
    func reversedAtLimit() throws {
        let found = atLimit { -0.7 * $0 - 2 }
        #expect(found.hasPaused)
        #expect(try #require(found.angle) < 12 * .pi / 180)
    }

    @Test("a pause of the torque does not report a motor that a hand overcomes")
    func handAtLimit() {
        let found = atLimit { 0.7 * $0 + 24 }
        #expect(found.hasPaused)
        #expect(found.angle == nil)
    }

    /// Torque of the pitch motor, mN·m, every millisecond, while its limit rises after the start.
    private static let torques = [
        0.10, 0.10, 0.22, 0.40, 0.56, 0.79, 1.05, 1.45, 1.69, 2.24, 2.67, 3.09, 3.59, 4.18, 5.04,
        5.59, 6.00, 7.23, 8.05, 9.21, 10.21, 11.00, 11.50, 12.00, 12.50, 13.00, 13.50, 14.00,
        14.50, 15.00, 15.50, 16.00, 16.50,
    ]
    /// Camera's pitch rate, deg/s.
    private static let rates = [
        -6.02, -5.95, -6.08, -6.02, -5.71, -5.53, -5.41, -5.65, -5.34, -5.59, -5.65, -5.53, -5.34,
        -5.22, -5.71, -5.89, -5.41, -5.71, -5.77, -6.26, -6.57, -6.57, -6.69, -6.75, -6.75, -6.81,
        -6.87, -7.18, -7.24, -7.60, -7.42, -7.66, -7.72,
    ]
    /// Angle from the camera to its set-point, deg.
    private static let errors = [
        0.000, 0.006, 0.013, 0.020, 0.026, 0.033, 0.041, 0.051, 0.061, 0.073, 0.086, 0.099, 0.114,
        0.130, 0.150, 0.170, 0.190, 0.215, 0.239, 0.268, 0.298, 0.329, 0.363, 0.398, 0.435, 0.474,
        0.515, 0.559, 0.604, 0.652, 0.701, 0.753, 0.805,
    ]

    @Test(
        "a camera that friction carries along with a walker's handle, while its set-point moves away, is not reported as reversed"
    )
    func carried() {
        // From a recording of the flight recorder, with the simulated gimbal.
        let (inertia, delay, dt) = (0.002, 3, 1e-3)
        var response = AxisResponse()
        var found: Int?
        for t in Self.rates.indices.dropFirst() {
            let rate = Self.rates[t] * .pi / 180
            let moved = (Self.rates[t] - Self.rates[t - 1]) * .pi / 180
            let wanted = rate + (Self.errors[t] - Self.errors[t - 1]) * .pi / 180 / dt
            response.step(
                commanded: t < delay ? 0 : Self.torques[t - delay] * 1e-3 / inertia,
                observed: moved / dt, rate: rate, deviation: rate - wanted,
                error: Self.errors[t] * .pi / 180, joint: nil,
                bar: ResponseBar(findsInertia: true, isInertiaFound: true, isDelayKnown: true),
                least: 1, isSaturated: false, pace: AxisResponse.Pace(dt: dt))
            if response.isReversed { found = found ?? t }
        }
        #expect(found == nil)
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
