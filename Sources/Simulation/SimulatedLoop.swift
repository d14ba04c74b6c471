public import GimbalCore

/// Closed loop of a stabilizer and a simulated gimbal. The loop uses no threads, and runs faster
/// than real time.
///
/// In each tick, the gimbal advances by one period, the stabilizer receives its samples, and the
/// motors receive the stabilizer's output. The same gimbal, tuning and calls give bit-identical
/// results.
public struct SimulatedLoop: Sendable {
    /// The simulated gimbal, which contains the true attitude, the faults and the external moments.
    public var gimbal: SimulatedGimbal
    /// The stabilizer; it receives only the gimbal's samples.
    public var stabilizer: Stabilizer
    /// Ticks per second.
    public let rateHz: Int
    /// Number of the newest tick; 0 until the first tick.
    public private(set) var tick = 0
    /// Time of the newest tick; the simulation begins at zero.
    public private(set) var now = Instant(nanoseconds: 0)
    /// The last output to the motors.
    public private(set) var output = MotorOutput.off

    /// Creates a loop that has not run yet.
    ///
    /// - Parameters:
    ///   - gimbal: A gimbal whose simulation begins at time zero.
    ///   - tuning: The stabilizer's parameters.
    ///   - rateHz: Ticks per second.
    public init(_ gimbal: SimulatedGimbal, _ tuning: Stabilizer.Parameters, rateHz: Int = 1000) {
        self.gimbal = gimbal
        stabilizer = Stabilizer(parameters: tuning)
        self.rateHz = rateHz
    }

    /// Creates a loop with the default gimbal and tuning; `change` can modify both.
    ///
    /// - Parameters:
    ///   - motion: Motion of the handle.
    ///   - motor: Kind of the motors.
    ///   - seed: Seed of sensor errors and noise.
    ///   - rateHz: Ticks per second.
    ///   - change: Function that modifies the parameters before the gimbal and the stabilizer are
    ///     created.
    public init(
        _ motion: BaseMotion, motor: MotorType = .torque, seed: UInt64 = 1, rateHz: Int = 1000,
        change: (inout SimulatedGimbal.Parameters, inout Stabilizer.Parameters) -> Void = { _, _ in
        }
    ) {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = motor
        var tuning = Stabilizer.Parameters()
        tuning.motorType = motor
        change(&parameters, &tuning)
        self.init(
            SimulatedGimbal(parameters: parameters, motion: motion, seed: seed), tuning,
            rateHz: rateHz)
    }

    /// The stabilizer's snapshot after the newest tick.
    public var snapshot: StabilizerSnapshot { stabilizer.snapshot }
    /// Time of the newest tick, s.
    public var seconds: Double { Double(tick) / Double(rateHz) }
    /// Time of the next tick.
    public var next: Instant {
        Instant(nanoseconds: Int64(tick + 1) * 1_000_000_000 / Int64(rateHz))
    }

    /// Gives a command to the stabilizer, at the time of the newest tick.
    public mutating func ask(
        _ command: Command, validUntil: Instant = Instant(nanoseconds: 0)
    ) { stabilizer.apply(command, validUntil: validUntil, now: now) }

    /// Advances the gimbal to the next tick, and passes its samples to the stabilizer. The
    /// stabilizer does not compute an output yet. `change` can modify each sample.
    public mutating func advance(change: (inout IMUSample) -> Void = { _ in }) {
        advance(to: next, change: change)
    }

    /// Advances the gimbal to a tick at the given time, and passes its samples to the stabilizer.
    public mutating func advance(
        to time: Instant, change: (inout IMUSample) -> Void = { _ in }
    ) {
        tick += 1
        now = time
        gimbal.advance(to: time) { sample in
            var changed = sample
            change(&changed)
            stabilizer.integrate(changed)
        }
    }

    /// Ends the tick: the stabilizer computes its output, `change` can modify the output, and the
    /// motors receive the output.
    public mutating func drive(change: (inout MotorOutput) -> Void = { _ in }) {
        var answer = stabilizer.step(now: now)
        change(&answer)
        drive(answer)
    }

    /// Ends the tick; the motors receive the output of another controller.
    public mutating func drive(_ other: MotorOutput) {
        output = other
        gimbal.apply(other, at: now)
    }

    /// Runs one tick.
    public mutating func step() {
        advance()
        drive()
    }

    /// Runs the loop for the given time, rounded to whole ticks.
    ///
    /// - Parameters:
    ///   - seconds: Simulated time to run, s.
    ///   - each: Closure that is called after each tick.
    public mutating func run(
        seconds: Double, each: (inout SimulatedLoop) -> Void = { _ in }
    ) {
        for _ in 0..<Int((seconds * Double(rateHz)).rounded()) {
            step()
            each(&self)
        }
    }
}
