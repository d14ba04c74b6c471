import Testing

@testable import GimbalCore

@Suite("Movement of one angle")
struct AxisPlanTests {
    static let degree = Double.pi / 180
    let limits = AxisLimits(
        rate: 240 * degree, acceleration: 3000 * degree, jerk: 150_000 * degree,
        minimum: -.infinity, maximum: .infinity)

    /// Initial states of the angle at the time of a request.
    static let starts: [AxisState] = [
        AxisState(angle: 0, rate: 0), AxisState(angle: 0, rate: 100 * degree),
        AxisState(angle: 0, rate: -240 * degree),
        AxisState(angle: 0, rate: 120 * degree, acceleration: 3000 * degree),
        AxisState(angle: 0, rate: 200 * degree, acceleration: -2500 * degree),
        AxisState(angle: 0, rate: -3 * degree, acceleration: 900 * degree),
    ]

    @Test(
        "a movement ends exactly at the goal and at rest, with continuous rate and acceleration",
        arguments: starts)
    func arrival(start: AxisState) {
        for goal in [-170.0, -8, -0.01, 0, 0.3, 2, 30, 400] {
            for seconds in [0.0, 0.4, 3] {
                let plan = AxisPlan.timed(
                    from: start, to: goal * Self.degree, duration: seconds, limits: limits)
                var last = start
                let count = 4000
                let dt = plan.duration / Double(count)
                for step in 1...count {
                    let next = plan.state(at: Double(step) * dt)
                    let middle = last.angle + dt * (last.rate + next.rate) / 2
                    #expect(abs(next.angle - middle) < 1e-4 * max(dt, 1e-3))
                    let allowed = max(limits.acceleration, abs(start.acceleration)) * 1.05
                    #expect(abs(next.acceleration) <= allowed)
                    // The initial acceleration also decreases within the jerk limit.
                    #expect(abs(next.acceleration - last.acceleration) <= limits.jerk * dt * 1.01)
                    let fastest = max(limits.rate, abs(start.rate)) + 60 * Self.degree
                    #expect(abs(next.rate) <= fastest)
                    last = next
                }
                let end = plan.state(at: plan.duration + 1)
                #expect(end.angle == goal * Self.degree && end.isAtRest)
                #expect(plan.duration >= seconds - 1e-6 || goal == 0 && start.isAtRest)
            }
        }
    }

    @Test(
        "a turn by 30° from rest takes at most 0.26 s at 200°/s and at 240°/s",
        arguments: [200.0, 240])
    func quick(rate: Double) {
        var slower = limits
        slower.rate = rate * Self.degree
        let plan = AxisPlan.quickest(
            from: AxisState(angle: 0, rate: 0), to: 30 * Self.degree, limits: slower)
        #expect(plan.duration < 0.26)
        #expect(plan.limit == .rate)
    }

    @Test("a slower turn from rest takes the requested time, with a constant rate in the middle")
    func timed() {
        let start = AxisState(angle: 0, rate: 0)
        let plan = AxisPlan.timed(from: start, to: 1, duration: 2, limits: limits)
        #expect(abs(plan.duration - 2) < 1e-9)
        #expect(abs(plan.state(at: 1).angle - 0.5) < 1e-9)
        #expect(plan.state(at: 1).acceleration == 0)
    }

    @Test("a fast turn does not overshoot a new goal just ahead, even with a long requested time")
    func noOvershoot() {
        let start = AxisState(angle: 0, rate: 100 * Self.degree)
        let goal = 6 * Self.degree
        let plan = AxisPlan.timed(from: start, to: goal, duration: 2, limits: limits)
        for step in 0...2000 {
            #expect(plan.state(at: Double(step) * 1e-3).angle <= goal + 1e-9)
        }
    }

    @Test("an angle that follows a step keeps the limits, does not overshoot, and reaches the goal")
    func follow() {
        for (smoothing, rate) in [(0.8, 40.0), (0.4, 90), (0.15, 200), (0.02, 2000)] {
            var limits = limits
            limits.rate = min(rate, 240) * Self.degree
            var state = AxisState(angle: 0, rate: 0)
            for _ in 0..<9000 {
                let before = state
                state.follow(2, smoothing: smoothing, limits: limits, dt: 1e-3)
                #expect(abs(state.rate) <= limits.rate * 1.01)
                #expect(abs(state.acceleration) <= limits.acceleration * 1.01)
                let jerk = (state.acceleration - before.acceleration) / 1e-3
                #expect(abs(jerk) <= limits.jerk * 1.001)
                #expect(state.angle < 2.002)
            }
            #expect(abs(state.angle - 2) < 0.01, "smoothing \(smoothing): \(state)")
        }
    }

    @Test("an angle that follows a steady turn lags by the smoothing time")
    func lag() {
        var state = AxisState(angle: 0, rate: 0)
        var target = 0.0
        for _ in 0..<5000 {
            target += 0.5e-3
            state.follow(target, smoothing: 0.4, limits: limits, dt: 1e-3)
        }
        #expect(abs(target - state.angle - 0.5 * 0.4) < 1e-3)
    }

    @Test(
        "for a direction outside its range, an angle turns to the nearer end, and noise does not change the end",
        arguments: [
            (140.0, -50.0, 60.0), (-140, 50, -60), (140, 50, 60), (178, -60, -60), (-178, 60, 60),
            (300, 50, -60), (310, 50, -50),
        ] as [(Double, Double, Double)])
    func nearerEnd(wanted: Double, present: Double, goal: Double) {
        var limits = limits
        (limits.minimum, limits.maximum) = (-60 * Self.degree, 60 * Self.degree)
        let result = limits.goal(
            wanted * Self.degree, from: present * Self.degree, room: .endless)
        #expect(abs(result - goal * Self.degree) < 1e-9)
    }

    @Test(
        "for a direction outside its range, an angle does not turn to an end that the joint cannot reach",
        arguments: [
            (60.0, 280.0, 90.0), (180, 160, -90), (60, 5, 90),
        ] as [(Double, Double, Double)])
    func reachableEnd(back: Double, ahead: Double, goal: Double) {
        var limits = limits
        (limits.minimum, limits.maximum) = (-90 * Self.degree, 90 * Self.degree)
        // The direction lies 60° beyond one end, and 120° beyond the end near the present angle.
        let (near, far) = (ahead * Self.degree, back * Self.degree)
        let right = limits.goal(
            -150 * Self.degree, from: 80 * Self.degree, room: TurnRange(down: -far, up: near))
        #expect(abs(right - goal * Self.degree) < 1e-9)
        let left = limits.goal(
            150 * Self.degree, from: -80 * Self.degree, room: TurnRange(down: -near, up: far))
        #expect(abs(left + goal * Self.degree) < 1e-9)
    }
}
