internal import GimbalCore
public import Realtime
public import Robot
internal import Synchronization

/// Three stepper motors on GPIO lines. A separate thread sets the lines at 4 kHz. A step takes at
/// least two ticks, and the speed of each motor is limited to 1,000 steps/s. Steps that were
/// delayed by a late tick are made in later ticks.
public final class StepperMotors: Sendable {
    /// GPIO lines of the stepper motors, and limits of their motion.
    public struct Wiring: Sendable {
        /// Device file of the GPIO chip, such as `/dev/gpiochip0`.
        public var chip: String
        /// Numbers of the step lines of the three motors.
        public var steps: [Int]
        /// Numbers of the direction lines of the motors.
        public var directions: [Int]
        /// Numbers of the home switches' lines, active when low; nil if there are no switches.
        public var homes: [Int]?
        /// Limits of each stepper motor's motion.
        public var parameters: [StepAxis.Parameters]

        /// Creates a wiring.
        public init(
            chip: String, steps: [Int], directions: [Int], homes: [Int]?,
            parameters: [StepAxis.Parameters]
        ) {
            self.chip = chip
            self.steps = steps
            self.directions = directions
            self.homes = homes
            self.parameters = parameters
        }
    }

    private struct Goals: ~Copyable {
        var goals = StepperGoals()
        var mailbox: MailboxWriter<StepperGoals>
    }

    private let goals: Mutex<Goals>
    private let parameters: [StepAxis.Parameters]
    private let context: StepperContext
    private let thread = Mutex<RealtimeThread?>(nil)

    /// Creates stopped motors; their present position is position 0.
    public convenience init(_ wiring: Wiring) {
        self.init(
            lines: GPIOStepperLines(
                chip: wiring.chip, steps: wiring.steps, directions: wiring.directions,
                homes: wiring.homes),
            parameters: wiring.parameters, hasSwitches: wiring.homes != nil)
    }

    /// Creates simulated motors without lines, for tests of a remote control.
    public convenience init(simulated parameters: [StepAxis.Parameters]) {
        self.init(lines: NoStepperLines(), parameters: parameters, hasSwitches: false)
    }

    private init(
        lines: sending some StepperLines, parameters: [StepAxis.Parameters], hasSwitches: Bool
    ) {
        self.hasSwitches = hasSwitches
        self.parameters = parameters
        let ends = makeMailbox(initial: StepperGoals())
        goals = Mutex(Goals(mailbox: ends.writer))
        context = StepperContext(
            rig: StepperRig(lines: lines, parameters: parameters),
            goals: ends.reader)
    }

    /// Starts the thread. Call this method once.
    ///
    /// - Throws: `ThreadError` if the thread that sets the lines cannot be created.
    public func start() throws(ThreadError) {
        let context = context
        let started = try RealtimeThread(ThreadTable.steps) { context.run() }
        thread.withLock { $0 = started }
    }

    /// Sets the goal of one stepper motor. Any non-real-time thread can call this method.
    ///
    /// - Parameters:
    ///   - goal: New goal of the motor; the other motors keep their goals.
    ///   - axis: Number of the motor, 0...2.
    public func ask(_ goal: StepAxis.Goal, axis: Int) {
        let position = positions[axis]
        let limits = parameters[axis]
        goals.withLock { goals in
            switch axis {
            case 0: goals.goals.first = goals.goals.first.replaced(by: goal, at: position, limits)
            case 1: goals.goals.second = goals.goals.second.replaced(by: goal, at: position, limits)
            default: goals.goals.third = goals.goals.third.replaced(by: goal, at: position, limits)
            }
            goals.mailbox.publish(goals.goals)
        }
    }

    /// Position of each motor after the last tick, steps from home.
    public var positions: [Int] { context.positions.map(\.value) }

    /// Homing state of each motor after the last tick.
    public var homings: [StepAxis.Homing] {
        context.homings.map { StepAxis.Homing(rawValue: $0.value) ?? .none }
    }

    /// True if the motors have home switches.
    public let hasSwitches: Bool

    /// Number of ticks since start-up in which the GPIO lines could not be set.
    public var errors: Int { context.errors.load(ordering: .relaxed) }

    /// Errno if the lines could not be set in the last tick; 0 after a success.
    public var lastError: Int32 { context.lastError.load(ordering: .relaxed) }

    /// Ends the thread of the stepper motors. The motors stop at their present positions, with
    /// their holding torque.
    ///
    /// - Returns: True if the thread ended within half a second.
    @discardableResult
    public func stop() -> Bool {
        context.isStopping.store(true, ordering: .releasing)
        let deadline = MonotonicClock.now.advanced(bySeconds: 0.5)
        return thread.withLock { $0?.join(until: deadline) ?? true }
    }
}

/// Integer that one thread writes and several threads read.
private final class SharedCount: Sendable {
    private let word = Atomic(0)
    var value: Int { word.load(ordering: .relaxed) }
    func store(_ new: Int) { word.store(new, ordering: .relaxed) }
}

/// State of the thread that sets the stepper lines.
///
/// `@unchecked Sendable`, because only the thread uses the properties that are not atomic.
private final class StepperContext: @unchecked Sendable {
    private var rig: StepperRig
    private var goals: MailboxReader<StepperGoals>
    let positions = [SharedCount(), SharedCount(), SharedCount()]
    let homings = [SharedCount(), SharedCount(), SharedCount()]
    let isStopping = Atomic(false)
    let errors = Atomic(0)
    let lastError = Atomic(Int32(0))

    private static let period: Int64 = 250_000
    /// Number of clock periods from one tick to the next while no motor turns.
    private static let idlePeriods: Int64 = 8
    /// Largest number of clock periods for which one tick advances the motion. After a longer delay
    /// of the thread, the motion is late, but no step is lost.
    private static let mostPeriods: Int64 = 8

    init(rig: StepperRig, goals: consuming MailboxReader<StepperGoals>) {
        self.rig = rig
        self.goals = goals
    }

    func run() {
        var clock = GridClock(periodNanoseconds: Self.period)
        var last = MonotonicClock.now
        while !isStopping.load(ordering: .acquiring) {
            clock.wait(periods: rig.isStanding ? Self.idlePeriods : 1)
            let now = MonotonicClock.now
            let most = rig.isStanding ? Self.period : Self.mostPeriods * Self.period
            let elapsed = min(now.nanoseconds - last.nanoseconds, most)
            last = now
            do throws(BusErrno) {
                try rig.tick(goals.read().value, now: now, dt: Double(elapsed) * 1e-9)
                lastError.store(0, ordering: .relaxed)
                show(rig.axes.0, at: 0)
                show(rig.axes.1, at: 1)
                show(rig.axes.2, at: 2)
            } catch {
                errors.wrappingAdd(1, ordering: .relaxed)
                lastError.store(error.code, ordering: .relaxed)
            }
        }
    }

    private func show(_ axis: StepAxis, at index: Int) {
        positions[index].store(axis.position)
        homings[index].store(axis.homing.rawValue)
    }
}
