internal import GimbalCore
internal import Realtime
internal import Robot

/// Lines of three stepper motors. Bits 0...2 are the step lines; bits 3...5 are the direction
/// lines. The home switches are separate inputs.
protocol StepperLines: AnyObject {
    /// Requests the output lines from the kernel, unless an earlier call has requested them.
    /// Returns true if this call has requested the lines; all lines are then inactive.
    func take(now: Instant) throws(BusErrno) -> Bool
    /// Sets the lines whose bits in `mask` are 1 to the values of their bits in `bits`.
    func set(_ bits: UInt64, mask: UInt64) throws(BusErrno)
    /// Reads the home switches. Each switch has one bit, which is 1 while the switch is pressed.
    /// Without switches, all bits are 0.
    func switches(now: Instant) throws(BusErrno) -> UInt64
}

/// Stepper lines on a GPIO chip.
final class GPIOStepperLines: StepperLines {
    private let outputs: GPIOLines
    private let inputs: GPIOLines?

    /// Creates lines.
    ///
    /// - Parameters:
    ///   - chip: Device file of the GPIO chip, such as `/dev/gpiochip0`.
    ///   - steps: Step lines of the three motors.
    ///   - directions: Direction lines of the motors.
    ///   - homes: Lines of the motors' home switches, active when low; nil without switches.
    init(chip: String, steps: [Int], directions: [Int], homes: [Int]?) {
        outputs = GPIOLines(chip: chip, lines: steps + directions, isOutput: true)
        inputs = homes.map { GPIOLines(chip: chip, lines: $0, activeLow: 0b111, isOutput: false) }
    }

    func take(now: Instant) throws(BusErrno) -> Bool { try outputs.take(now: now) }

    func set(_ bits: UInt64, mask: UInt64) throws(BusErrno) { try outputs.set(bits, mask: mask) }

    func switches(now: Instant) throws(BusErrno) -> UInt64 {
        guard let inputs else { return 0 }
        try inputs.take(now: now)
        return try inputs.get()
    }
}

/// Simulated stepper lines without effect and without home switches.
final class NoStepperLines: StepperLines {
    func take(now: Instant) -> Bool { false }
    func set(_ bits: UInt64, mask: UInt64) {}
    func switches(now: Instant) -> UInt64 { 0 }
}

/// Controller of three stepper axes, which sets the axes' lines in each tick. Only one thread uses
/// a `StepperRig`.
struct StepperRig {
    private let lines: any StepperLines
    private(set) var axes: (StepAxis, StepAxis, StepAxis)
    private var bits: UInt64 = 0
    /// Time for which the lines could not be set, s.
    private var failedSeconds = 0.0

    /// Time without steps after which a motor counts as stopped, s. A motor whose next step was not
    /// due yet is so slow that it can start again without a ramp.
    private static let restSeconds = 0.01

    /// Creates stopped motors.
    init(lines: any StepperLines, parameters: [StepAxis.Parameters]) {
        precondition(parameters.count == 3, "three axes")
        self.lines = lines
        axes = (
            StepAxis(parameters: parameters[0]), StepAxis(parameters: parameters[1]),
            StepAxis(parameters: parameters[2])
        )
    }

    /// True if all motors are stopped, and no step pulse is active.
    var isStanding: Bool {
        axes.0.isStanding && axes.1.isStanding && axes.2.isStanding && bits & 0b111 == 0
    }

    /// Executes one tick. A tick needs at most one system call for the outputs. During homing, a
    /// tick needs another system call to read the switches. After an outage of the lines, the
    /// motors start from rest: a motor cannot follow steps at its earlier speed without a ramp.
    ///
    /// - Throws: The kernel's error if the lines could not be set; in this case, no axis has moved
    ///   in the tick.
    mutating func tick(_ goals: StepperGoals, now: Instant, dt: Double) throws(BusErrno) {
        do throws(BusErrno) {
            try advance(goals, now: now, dt: dt)
            failedSeconds = 0
        } catch {
            failedSeconds += dt
            if failedSeconds > Self.restSeconds {
                axes.0.stop()
                axes.1.stop()
                axes.2.stop()
            }
            throw error
        }
    }

    private mutating func advance(
        _ goals: StepperGoals, now: Instant, dt: Double
    ) throws(BusErrno) {
        // The lines have just been requested, so all lines are inactive. The direction lines are
        // set one tick before the first step.
        if try lines.take(now: now) {
            bits = 0
            let wanted = lineBits(of: axes) & Self.directions
            try lines.set(wanted, mask: Self.directions)
            bits = wanted
            return
        }
        let pressed = goals.areHoming ? try lines.switches(now: now) : 0
        var next = axes
        next.0.tick(goals.first, isAtSwitch: pressed & 1 != 0, now: now, dt: dt)
        next.1.tick(goals.second, isAtSwitch: pressed & 2 != 0, now: now, dt: dt)
        next.2.tick(goals.third, isAtSwitch: pressed & 4 != 0, now: now, dt: dt)
        let wanted = lineBits(of: next)
        if wanted != bits {
            try lines.set(wanted, mask: wanted ^ bits)
            bits = wanted
        }
        axes = next
    }

    private static let directions: UInt64 = 0b111_000

    private func lineBits(of axes: (StepAxis, StepAxis, StepAxis)) -> UInt64 {
        Self.bits(axes.0.lines) | Self.bits(axes.1.lines) << 1 | Self.bits(axes.2.lines) << 2
    }

    /// Lines of one motor as bits: the step line in bit 0, the direction line in bit 3.
    private static func bits(_ lines: StepAxis.Lines) -> UInt64 {
        (lines.step ? 1 : 0) | (lines.direction ? 8 : 0)
    }
}

/// Goals of the three stepper motors.
struct StepperGoals: BitwiseCopyable, Sendable {
    var first = StepAxis.Goal.hold
    var second = StepAxis.Goal.hold
    var third = StepAxis.Goal.hold

    var areHoming: Bool {
        if case .home = first { return true }
        if case .home = second { return true }
        if case .home = third { return true }
        return false
    }
}
