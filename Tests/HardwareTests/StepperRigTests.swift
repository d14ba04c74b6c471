import GimbalCore
import Robot
import Testing

@testable import Hardware

/// Counts the edges that arrive on the lines.
private final class CountingLines: StepperLines {
    private(set) var steps = [0, 0, 0]
    private(set) var calls = 0
    private(set) var bits: UInt64 = 0
    var failures = 0
    var pressed: UInt64 = 0
    private(set) var isTaken = false
    /// True while the chip is removed.
    var isMissing = false

    /// Acts like a chip that was removed and plugged in again.
    func forget() {
        isTaken = false
        bits = 0
    }

    func take(now: Instant) throws(BusErrno) -> Bool {
        if isMissing { throw BusErrno(code: 19) }
        defer { isTaken = true }
        return !isTaken
    }

    func set(_ new: UInt64, mask: UInt64) throws(BusErrno) {
        if failures > 0 {
            failures -= 1
            throw BusErrno(code: 5)
        }
        calls += 1
        let before = bits
        bits = (bits & ~mask) | (new & mask)
        for axis in 0..<3 where before >> UInt64(axis) & 1 == 0 && bits >> UInt64(axis) & 1 == 1 {
            steps[axis] += bits >> UInt64(axis + 3) & 1 == 1 ? 1 : -1
        }
    }

    func switches(now: Instant) throws(BusErrno) -> UInt64 { pressed }
}

@Suite("Three steppers on their GPIO lines")
struct StepperRigTests {
    private static let dt = 0.0005
    private let lines = CountingLines()

    private func rig(maxSpeed: Double = 1000, acceleration: Double = 1e7) -> StepperRig {
        var parameters = StepAxis.Parameters()
        parameters.maxSpeed = maxSpeed
        parameters.acceleration = acceleration
        return StepperRig(lines: lines, parameters: [parameters, parameters, parameters])
    }

    private func run(_ rig: inout StepperRig, _ goals: StepperGoals, ticks: Int) -> Int {
        var failures = 0
        for tick in 1...ticks {
            do {
                try rig.tick(
                    goals, now: Instant(nanoseconds: Int64(tick) * 500_000), dt: Self.dt)
            } catch {
                failures += 1
            }
        }
        return failures
    }

    @Test(
        "1,000 steps per second on every axis: none of 30,000 is lost, at most one call per tick"
    )
    func fullRate() {
        var rig = rig()
        let forever = Instant(nanoseconds: .max)
        let goals = StepperGoals(
            first: .velocity(1000, validUntil: forever),
            second: .velocity(-1000, validUntil: forever), third: .position(10_000))
        #expect(run(&rig, goals, ticks: 20_020) == 0)
        #expect(lines.steps[0] >= 10_000 && lines.steps[1] <= -10_000 && lines.steps[2] == 10_000)
        #expect(lines.steps == [rig.axes.0.position, rig.axes.1.position, rig.axes.2.position])
        #expect(lines.calls <= 20_020)
    }

    @Test(
        "a tick that cannot set its lines does not change the position"
    )
    func failures() {
        var rig = rig(maxSpeed: 400, acceleration: 4000)
        let goals = StepperGoals(first: .position(100), second: .hold, third: .hold)
        _ = run(&rig, goals, ticks: 300)
        lines.failures = 20
        #expect(run(&rig, goals, ticks: 2000) == 20)
        #expect(lines.steps[0] == 100 && rig.axes.0.position == 100)
    }

    @Test(
        "lines are requested while the motors are at rest; a chip that returns gets its directions again"
    )
    func taken() {
        var rig = rig(maxSpeed: 400, acceleration: 4000)
        let goals = StepperGoals(first: .position(100), second: .hold, third: .position(-100))
        _ = run(&rig, StepperGoals(), ticks: 1)
        #expect(lines.isTaken && lines.calls == 1)
        _ = run(&rig, goals, ticks: 300)
        #expect(lines.bits & 0b111_000 == 0b001_000)
        lines.forget()
        _ = run(&rig, goals, ticks: 2000)
        #expect(lines.steps == [100, 0, -100])
        #expect(rig.axes.0.position == 100 && rig.axes.2.position == -100)
    }

    @Test("after an outage of its lines, a motor starts again from rest, with its ramp")
    func outage() {
        var rig = rig(maxSpeed: 400, acceleration: 4000)
        let goals = StepperGoals(first: .position(200), second: .hold, third: .hold)
        _ = run(&rig, goals, ticks: 300)
        #expect(rig.axes.0.speed == 400)
        let before = lines.steps[0]
        lines.forget()
        lines.isMissing = true
        #expect(run(&rig, goals, ticks: 2000) == 2000)
        #expect(rig.axes.0.speed == 0 && rig.axes.0.position == before)
        lines.isMissing = false
        // In 50 ms, the ramp permits 5 steps; at full speed, the motor would make 20 steps.
        _ = run(&rig, goals, ticks: 100)
        let ramp = lines.steps[0] - before
        #expect((3...7).contains(ramp), "\(ramp) steps")
        _ = run(&rig, goals, ticks: 2000)
        #expect(lines.steps[0] == 200 && rig.axes.0.position == 200)
    }

    @Test("each axis homes at its own switch")
    func homing() {
        var rig = rig(maxSpeed: 400, acceleration: 4000)
        let goals = StepperGoals(
            first: .hold, second: .home(asked: Instant(nanoseconds: 0)), third: .hold)
        _ = run(&rig, goals, ticks: 600)
        #expect(lines.steps[1] < 0 && rig.axes.1.homing == .seeking)
        lines.pressed = 0b010
        _ = run(&rig, goals, ticks: 400)
        lines.pressed = 0b101
        _ = run(&rig, goals, ticks: 30)
        #expect(rig.axes.1.homing == .done && rig.axes.1.position == 0)
        #expect(lines.steps[0] == 0 && lines.steps[2] == 0)
    }
}
