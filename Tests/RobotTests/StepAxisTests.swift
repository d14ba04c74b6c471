import GimbalCore
import Robot
import Simulation
import Testing

@Suite("Step and direction lines of a stepper motor")
struct StepAxisTests {
    private static let dt = 0.0005
    private static let home = StepAxis.Goal.home(asked: Instant(nanoseconds: 0))

    /// Counts the steps on the lines of an axis.
    struct Listener {
        var axis: StepAxis
        var seconds = 0.0
        private(set) var steps = 0
        private(set) var pulses = 0
        private(set) var shortest = Int.max
        private var last = StepAxis.Lines()
        private var sinceEdge = 1000
        private(set) var highest = Int.min
        private(set) var lowest = Int.max
        private(set) var fastest = 0.0

        init(_ change: (inout StepAxis.Parameters) -> Void = { _ in }) {
            var parameters = StepAxis.Parameters()
            change(&parameters)
            axis = StepAxis(parameters: parameters)
        }

        mutating func run(
            _ goal: StepAxis.Goal, seconds: Double, isAtSwitch: (Int) -> Bool = { _ in false }
        ) {
            for _ in 0..<Int((seconds / dt).rounded()) {
                self.seconds += dt
                axis.tick(
                    goal, isAtSwitch: isAtSwitch(steps),
                    now: Instant(nanoseconds: Int64(self.seconds * 1e9)), dt: dt)
                fastest = max(fastest, abs(axis.speed))
                listen()
            }
        }

        private mutating func listen() {
            let lines = axis.lines
            sinceEdge += 1
            if lines.step != last.step {
                shortest = min(shortest, sinceEdge)
                sinceEdge = 0
            }
            if lines.step, !last.step {
                #expect(lines.direction == last.direction, "the direction changes before the step")
                steps += lines.direction ? 1 : -1
                pulses += 1
            }
            highest = max(highest, steps)
            lowest = min(lowest, steps)
            last = lines
        }
    }

    @Test(
        "moves to a position and stops there, and the counted position equals the steps on the line",
        arguments: [1, 2, 7, 100, 2345, -1, -999])
    func position(target: Int) {
        var listener = Listener()
        listener.run(.position(target), seconds: 5)
        #expect(listener.steps == target && listener.axis.position == target)
        #expect(listener.pulses == abs(target), "no step beyond the limit")
        #expect(listener.axis.isStanding)
    }

    @Test("at 1,000 steps/s no step is lost during 60 s")
    func fullRate() {
        var listener = Listener {
            $0.maxSpeed = 1000
            $0.acceleration = 1e7
        }
        let forever = Instant(nanoseconds: .max)
        listener.run(.velocity(1000, validUntil: forever), seconds: 60)
        #expect((59_990...60_000).contains(listener.steps))
        #expect(listener.axis.position == listener.steps)
        #expect(listener.shortest == 1, "the line is high for one tick, and low for one tick")
    }

    @Test("late ticks are compensated, and cause neither lost steps nor an overshoot")
    func lateTicks() {
        var axis = StepAxis(parameters: StepAxis.Parameters())
        var now = 0.0
        var random = RandomSource(seed: 7)
        var farthest = 0
        while now < 4 {
            // One tick in ten is up to 1.75 ms late.
            let late = random.uniform() < 0.1 ? (random.uniform() * 7).rounded() : 0
            let dt = 0.000_25 * (1 + late)
            now += dt
            axis.tick(
                .position(2000), isAtSwitch: false, now: Instant(seconds: now), dt: dt)
            farthest = max(farthest, axis.position)
            // The ramp takes 0.4 s, then the speed is 800 steps/s.
            if abs(now - 1.5) < 0.001 { #expect(abs(axis.position - 1040) < 5) }
        }
        #expect(axis.position == 2000 && farthest == 2000 && axis.isStanding)
    }

    @Test("the speed follows the configured ramp, and stays within the limit")
    func ramp() {
        var listener = Listener()
        listener.run(.position(2000), seconds: 4)
        #expect(listener.fastest <= 800 + 1e-9 && listener.fastest > 790)
        var half = Listener()
        half.run(.position(2000), seconds: 0.2)
        #expect(abs(half.axis.speed - 400) < 2)
    }

    @Test("new goals during a movement reverse the motor without a lost step")
    func changes() {
        var listener = Listener()
        for target in [500, -300, 20, 21, 20, 400, 0] {
            listener.run(.position(target), seconds: 0.37)
            #expect(listener.axis.position == listener.steps)
        }
        listener.run(.position(0), seconds: 3)
        #expect(listener.steps == 0 && listener.axis.isStanding)
    }

    @Test("stops at the soft limits, by velocity and by position")
    func softLimits() {
        var listener = Listener {
            $0.minimum = -50
            $0.maximum = 120
        }
        listener.run(.velocity(800, validUntil: Instant(nanoseconds: .max)), seconds: 3)
        #expect(listener.highest <= 120 && listener.steps >= 119)
        listener.run(.position(-4000), seconds: 3)
        #expect(listener.lowest == -50 && listener.steps == -50)
    }

    @Test("a velocity that is not repeated ends at its dead-man time with the ramp")
    func deadMan() {
        var listener = Listener()
        listener.run(.velocity(400, validUntil: Instant(nanoseconds: 500_000_000)), seconds: 2)
        #expect(listener.axis.isStanding)
        // The ramp takes 0.2 s, the speed is 400 steps/s for 0.3 s, and the final ramp takes 0.2 s.
        #expect(abs(listener.steps - 200) <= 2)
    }

    @Test("the search finds the switch, leaves it, and counts from its edge")
    func homing() {
        var listener = Listener()
        listener.run(Self.home, seconds: 6) { $0 <= -300 }
        #expect(listener.axis.homing == .done)
        #expect(listener.axis.position == 0 && listener.steps > -300 && listener.steps < -295)
        let home = listener.steps
        listener.run(.position(40), seconds: 1)
        #expect(listener.steps == home + 40)
    }

    @Test("single wrong samples of the switch neither end the search nor count as its edge")
    func noisySwitch() {
        var listener = Listener()
        var samples = 0
        listener.run(Self.home, seconds: 8) { steps in
            samples += 1
            return (steps <= -300) != samples.isMultiple(of: 37)
        }
        #expect(listener.axis.homing == .done && listener.axis.position == 0)
        #expect(listener.steps > -300 && listener.steps < -295)
    }

    @Test("a search that begins on the switch leaves it")
    func beginsOnSwitch() {
        var listener = Listener()
        listener.run(Self.home, seconds: 2) { $0 < 20 }
        #expect(listener.axis.homing == .done && listener.lowest >= -1)
        #expect(listener.steps >= 20 && listener.steps < 25)
    }

    @Test("the search fails if the switch never closes")
    func noSwitch() {
        var listener = Listener { $0.homingRange = 100 }
        listener.run(Self.home, seconds: 3)
        #expect(listener.axis.homing == .failed && listener.axis.isStanding)
        #expect(listener.steps < -99 && listener.steps > -125)
    }

    @Test("another goal cancels the search")
    func abandoned() {
        var listener = Listener()
        listener.run(Self.home, seconds: 1)
        listener.run(.hold, seconds: 1)
        #expect(listener.axis.homing == .none && listener.axis.isStanding)
    }

    @Test("a new request repeats the search, and the same request does not")
    func again() {
        var listener = Listener()
        listener.run(Self.home, seconds: 6) { $0 <= -300 }
        let first = listener.pulses
        listener.run(Self.home, seconds: 1) { $0 <= -300 }
        #expect(listener.pulses == first)
        // The motor has lost steps, so the switch is now at another count.
        listener.run(.home(asked: Instant(nanoseconds: 1)), seconds: 6) { $0 <= -400 }
        #expect(listener.axis.homing == .done && listener.axis.position == 0)
        #expect(listener.steps > -400 && listener.steps < -395)
    }

    @Test("the search fails if the switch never opens")
    func stuckSwitch() {
        var listener = Listener { $0.homingRange = 100 }
        listener.run(Self.home, seconds: 10) { _ in true }
        #expect(listener.axis.homing == .failed && listener.axis.isStanding)
        #expect(listener.steps > 95 && listener.steps < 125)
    }

    @Test("the search for the switch does not exceed the maximum speed")
    func homingSpeed() {
        var listener = Listener {
            $0.maxSpeed = 100
            $0.homingSpeed = -500
        }
        listener.run(Self.home, seconds: 2)
        #expect(listener.fastest <= 100)
    }

    @Test("a relative step counts from the previous goal, not from the present position")
    func further() {
        var parameters = StepAxis.Parameters()
        parameters.maximum = 12
        var goal = StepAxis.Goal.hold
        for _ in 0..<3 { goal = goal.replaced(by: .further(1), at: 7, parameters) }
        guard case .position(10) = goal else { return #expect(Bool(false), "\(goal)") }
        for _ in 0..<9 { goal = goal.replaced(by: .further(1), at: 8, parameters) }
        goal = goal.replaced(by: .further(-1), at: 8, parameters)
        guard case .position(11) = goal else { return #expect(Bool(false), "\(goal)") }
        goal = goal.replaced(by: .hold, at: 9, parameters)
        goal = goal.replaced(by: .further(-1), at: 9, parameters)
        guard case .position(8) = goal else { return #expect(Bool(false), "\(goal)") }
    }
}
