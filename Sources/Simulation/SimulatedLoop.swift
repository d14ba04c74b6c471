public import GimbalCore

/// Closed loop of a stabilizer and the simulated gimbal, without threads, faster than real time.
///
/// In each tick the gimbal advances by one period, its samples go to the stabilizer, and the
/// stabilizer's output goes to the motors. The same gimbal, tuning and calls give bit-identical
/// numbers.
public struct SimulatedLoop: Sendable {
    /// The simulated gimbal, with the true attitude, faults and pushes.
    public var gimbal: SimulatedGimbal
    /// The stabilizer; it receives only the gimbal's samples.
    public var stabilizer: Stabilizer
    /// Ticks per second.
    public let rateHz: Int
    /// Number of the newest tick; 0 until the first tick.
    public private(set) var tick = 0
    /// The instant of the newest tick; the simulation begins at zero.
    public private(set) var now = Instant(nanoseconds: 0)
    /// The last output to the motors.
    public private(set) var output = MotorOutput.off

    /// Creates a loop before its first tick.
    ///
    /// - Parameters:
    ///   - gimbal: A gimbal that begins at the instant zero.
    ///   - tuning: The stabilizer's parameters.
    ///   - rateHz: Ticks per second.
    public init(_ gimbal: SimulatedGimbal, _ tuning: Stabilizer.Parameters, rateHz: Int = 1000) {
        self.gimbal = gimbal
        stabilizer = Stabilizer(parameters: tuning)
        self.rateHz = rateHz
    }

    /// Creates a loop with the default gimbal and tuning, or with changed ones.
    ///
    /// - Parameters:
    ///   - motion: Motion of the handle.
    ///   - motor: Kind of the motors.
    ///   - seed: Seed of sensor errors and noise.
    ///   - rateHz: Ticks per second.
    ///   - change: Changes the gimbal and the tuning before they are built.
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
    /// The instant of the newest tick, s.
    public var seconds: Double { Double(tick) / Double(rateHz) }
    /// The instant of the tick after the newest tick.
    public var next: Instant {
        Instant(nanoseconds: Int64(tick + 1) * 1_000_000_000 / Int64(rateHz))
    }

    /// Gives the stabilizer a command at the instant of the newest tick.
    public mutating func ask(
        _ command: Command, validUntil: Instant = Instant(nanoseconds: 0)
    ) { stabilizer.apply(command, validUntil: validUntil, now: now) }

    /// Advances the gimbal to the next tick, and passes its samples to the stabilizer, without an
    /// output yet.
    public mutating func advance() { advance(to: next) }

    /// Advances to the next tick at an instant of the caller's choice.
    public mutating func advance(to time: Instant) {
        tick += 1
        now = time
        gimbal.advance(to: time) { stabilizer.integrate($0) }
    }

    /// Ends the tick: the stabilizer computes its output, `change` can modify it, and the motors
    /// receive it.
    public mutating func drive(change: (inout MotorOutput) -> Void = { _ in }) {
        var answer = stabilizer.step(now: now)
        change(&answer)
        drive(answer)
    }

    /// Ends the tick with another controller's output.
    public mutating func drive(_ other: MotorOutput) {
        output = other
        gimbal.apply(other, at: now)
    }

    /// Runs one tick.
    public mutating func step() {
        advance()
        drive()
    }

    /// Runs for a time, rounded to whole ticks.
    ///
    /// - Parameters:
    ///   - seconds: Simulated time.
    ///   - each: Action that is executed after each tick.
    public mutating func run(
        seconds: Double, each: (inout SimulatedLoop) -> Void = { _ in }
    ) {
        for _ in 0..<Int((seconds * Double(rateHz)).rounded()) {
            step()
            each(&self)
        }
    }
}
