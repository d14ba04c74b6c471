internal import Atomics
internal import CLinuxShim
internal import GimbalCore

/// The control loop: a stabilizer, and rings and mailboxes that exchange data with the other
/// threads. The loop never waits, never allocates memory, and does not depend on the hardware.
///
/// `GimbalRuntime` creates the loop. Only the loop thread calls `tick`, through `runTick`.
struct ControlLoop: ~Copyable, Sendable {
    var stabilizer: Stabilizer
    var ports: LoopPorts
    let periodNanoseconds: Int64
    /// Number of remaining warm-up ticks; the outputs are off during these ticks. The warm-up
    /// ensures that no code runs for the first time while the motors are on.
    var warmUpTicks: Int
    /// Conditions from the loop's owner, in addition to the conditions of the loop's bus.
    var outsideConditions = Conditions(rawValue: 0)
    private let requestsPerTick: Int
    /// Duration above which a tick is an overrun, ns.
    private let allowedNanoseconds: Int64

    private(set) var ticks: UInt64 = 0
    private var timing = TickTiming()
    private var counters = RuntimeCounters()
    /// Number of samples integrated in the present tick.
    private var sampleCount = 0
    private var newestSample = Instant(nanoseconds: 0)
    /// Conditions reported to the stabilizer in the present tick.
    private var reported = Conditions(rawValue: 0)
    private var isWarmingUp = false
    private var overrunVisibleTicks = 0
    /// Fraction of the ticks in the last second that took longer than `LoopLimits.uselessPeriods`.
    private var uselessShare = 0.0

    init(stabilizer: Stabilizer, ports: consuming LoopPorts, settings: RuntimeSettings) {
        self.stabilizer = stabilizer
        self.ports = ports
        periodNanoseconds = settings.periodNanoseconds
        warmUpTicks = settings.warmUpTicks
        requestsPerTick = settings.requestsPerTick
        allowedNanoseconds = settings.watchesOverruns ? settings.periodNanoseconds : .max
    }

    /// Executes one period: reads the requests and the samples, computes the output, passes the
    /// output to the motors' bus, and publishes the telemetry. This method never waits and never
    /// allocates memory.
    mutating func tick(now: Instant) {
        if ports.replayLog.begin(tick: ticks, now: now) { ports.replayLog.keep(state: stabilizer) }
        applyRequests(now: now)
        integrateSamples(now: now)
        let estimated = cl_now_ns()
        let output = think(now: now)
        answer(output, now: now)
        measure(start: now.nanoseconds, estimated: estimated, end: cl_now_ns())
        publish(now: now, isLook: false)
        ticks &+= 1
    }

    /// Publishes the values of the tick to the telemetry ring and to the flight recorder. The
    /// threads that write to the devices have already received the output.
    private mutating func publish(now: Instant, isLook: Bool) {
        let record = record(now: now)
        ports.telemetry.push(record)
        ports.replayLog.end(
            ReplayLogTick(
                reported: reported, samples: Int32(truncatingIfNeeded: sampleCount),
                lostTicks: ports.replayLog.lostTicks, isWarmingUp: isWarmingUp, isLook: isLook,
                record: record))
    }

    /// Passes the output to every thread that drives a device.
    private mutating func answer(_ output: MotorOutput, now: Instant) {
        let answer = LoopAnswer(output: output, sampleTime: newestSample, time: now)
        ports.motors.publish(answer)
        ports.motorsBell.ring()
        ports.ownBus.publish(answer)
        ports.lanes.motors.bell.ring()
        ports.power.publish(answer)
        ports.lanes.power.bell.ring()
    }

    /// Applies a limited number of requests per tick; the remaining requests wait. Therefore many
    /// requests cannot delay the tick.
    private mutating func applyRequests(now: Instant) {
        for _ in 0..<requestsPerTick {
            guard let request = ports.commands.pop() else { break }
            ports.replayLog.keep(request)
            stabilizer.apply(request.command, validUntil: request.validUntil, now: now)
            if let received = request.received {
                ports.stages.request.record(
                    nanoseconds: now.nanoseconds &- received.nanoseconds)
            }
        }
        if ports.tuning.hasNew {
            let parameters = ports.tuning.read().value
            ports.replayLog.keep(parameters)
            stabilizer.apply(parameters)
        }
    }

    private mutating func integrateSamples(now: Instant) {
        sampleCount = 0
        timing.handover = 0
        while let delivery = ports.samples.pop() {
            if sampleCount == 0 {
                timing.handover = max(0, now.nanoseconds &- delivery.handedOver.nanoseconds)
                timing.wake = delivery.wakeNanoseconds
                timing.bus = delivery.readNanoseconds
                timing.write = delivery.writeNanoseconds
                timing.imuToMotor = delivery.imuToMotorNanoseconds
            }
            ports.replayLog.keep(delivery.sample)
            stabilizer.integrate(delivery.sample)
            newestSample = delivery.sample.time
            sampleCount &+= 1
        }
    }

    private mutating func think(now: Instant) -> MotorOutput {
        var conditions = outsideConditions | ports.bus.conditions
        if isBusFaulty(now: now) { conditions.insert(.busError) }
        if overrunVisibleTicks > 0 {
            overrunVisibleTicks &-= 1
            conditions.insert(.loopOverrun)
        }
        if uselessShare > LoopLimits.toleratedUselessShare { conditions.insert(.loopUnreliable) }
        isWarmingUp = warmUpTicks > 0
        if isWarmingUp { conditions.insert(.estimateNotConverged) }
        reported = conditions
        stabilizer.report(conditions)
        let output = stabilizer.step(now: now)
        guard isWarmingUp else { return output }
        warmUpTicks &-= 1
        var off = MotorOutput.off
        off.isSupplied = output.isSupplied
        return off
    }

    // The method is inlined; a call would copy the whole loop, about 20 kB, in each tick.
    @inline(__always)
    private func isBusFaulty(now: Instant) -> Bool {
        let worst = max(
            ports.bus.consecutiveErrors,
            max(
                ports.lanes.motors.status.consecutiveErrors,
                ports.lanes.power.status.consecutiveErrors))
        return worst >= LoopLimits.toleratedBusErrors
            || ports.lanes.motors.status.isHanging(now: now, seconds: LoopLimits.hangingSeconds)
    }

    private mutating func measure(start: Int64, estimated: Int64, end: Int64) {
        timing.estimate = estimated &- start
        timing.control = end &- estimated
        ports.stages.estimate.record(nanoseconds: timing.estimate)
        ports.stages.control.record(nanoseconds: timing.control)
        if sampleCount > 0 { ports.stages.handover.record(nanoseconds: timing.handover) }
        let isUseless = (end &- start) / LoopLimits.uselessPeriods > allowedNanoseconds
        let second = min(Double(periodNanoseconds) * 1e-9, 1)
        uselessShare += ((isUseless ? 1 : 0) - uselessShare) * second
        if end &- start > allowedNanoseconds {
            counters.loopOverruns &+= 1
            overrunVisibleTicks = LoopLimits.overrunVisibleTicks
        }
    }

    private mutating func record(now: Instant) -> TelemetryRecord {
        counters.samplesDropped = UInt64(ports.samples.dropped)
        counters.commandsDropped = UInt64(ports.commands.dropped)
        counters.telemetryDropped = UInt64(ports.telemetry.dropped)
        counters.busOverruns = ports.bus.overruns
        let (motors, power) = (ports.lanes.motors.status, ports.lanes.power.status)
        counters.busErrors = ports.bus.errors &+ motors.errors &+ power.errors
        let worst = ports.bus.worse(of: motors).worse(of: power)
        counters.lastBusError = worst.lastError
        var further = ports.bus.failure(besides: worst)
        if case .none = further { further = motors.failure(besides: worst) }
        if case .none = further { further = power.failure(besides: worst) }
        counters.furtherBusError = further
        return TelemetryRecord(
            tick: ticks, now: now, snapshot: stabilizer.snapshot, timing: timing,
            counters: counters)
    }

    /// Runs the supervisor again at the time of the last tick, and publishes the telemetry.
    mutating func look(now: Instant) {
        if ports.replayLog.begin(tick: ticks, now: now) { ports.replayLog.keep(state: stabilizer) }
        sampleCount = 0
        answer(think(now: now), now: now)
        publish(now: now, isLook: true)
    }

    /// Resets the loop, but keeps the newest tuning. The method must not be called during a tick.
    mutating func restart() {
        while ports.commands.pop() != nil {}
        while ports.samples.pop() != nil {}
        stabilizer = Stabilizer(parameters: ports.tuning.read().value)
        ports.replayLog.restart()
        outsideConditions = .none
        ticks = 0
        timing = TickTiming()
        counters = RuntimeCounters()
        overrunVisibleTicks = 0
        uselessShare = 0
    }

    /// Counts a tick that started without a report from the bus thread; the bus thread hangs or was
    /// delayed.
    mutating func noteLateSample() { counters.lateSamples &+= 1 }
}

/// Fault thresholds of the loop.
enum LoopLimits {
    /// Number of consecutive failed transfers after which the loop reports a bus error: two
    /// attempts in each of two periods.
    static var toleratedBusErrors: UInt64 { 4 }
    /// Timeout for calls of `noteTurn`, s; after the timeout, the loop assumes that the motors'
    /// thread hangs in a transfer.
    static var hangingSeconds: Double { 0.1 }
    /// Longest useful duration of a tick, periods; the output of a longer tick is too late.
    static var uselessPeriods: Int64 { 5 }
    /// Largest tolerated fraction of ticks whose output is too late to be useful. Above this
    /// fraction, the loop reports that it is unreliable.
    static var toleratedUselessShare: Double { 0.5 }
    /// Number of ticks for which the overrun condition stays active after an overrun.
    static var overrunVisibleTicks: Int { 1000 }
}

/// The loop's ends of the rings and mailboxes between the threads.
struct LoopPorts: ~Copyable, Sendable {
    var commands: RingReader<TimedCommand>
    var tuning: MailboxReader<Stabilizer.Parameters>
    var samples: RingReader<SampleDelivery>
    var motors: MailboxWriter<LoopAnswer>
    /// Mailbox to the motors' thread; used if the motors have their own bus.
    var ownBus: MailboxWriter<LoopAnswer>
    /// Mailbox to the power line's thread.
    var power: MailboxWriter<LoopAnswer>
    var telemetry: RingWriter<TelemetryRecord>
    var replayLog: LoopReplayLog
    let motorsBell: Doorbell
    let lanes: OutputLanes
    let bus: BusStatus
    let stages: StageHistograms
}

/// Message from the bus thread to the loop: a sample, and durations that the bus thread has
/// measured.
struct SampleDelivery: Sendable, BitwiseCopyable {
    var sample: IMUSample
    var handedOver: Instant
    var wakeNanoseconds: Int64
    var readNanoseconds: Int64
    /// Duration of the write to the motors in the previous period, ns.
    var writeNanoseconds: Int64
    /// Last latency from IMU to motors, ns: time from a sample until the output for this sample has
    /// been written.
    var imuToMotorNanoseconds: Int64
}

/// Output of a tick, for the threads that write to the devices, with the times of the newest sample
/// and of the tick.
struct LoopAnswer: Sendable, BitwiseCopyable {
    var output: MotorOutput
    /// Time of the newest sample that was used for the output.
    var sampleTime: Instant
    /// Time of the tick that computed the output. A time that is too old means that the loop hangs.
    var time: Instant

    static var none: LoopAnswer {
        LoopAnswer(
            output: .off, sampleTime: Instant(nanoseconds: 0), time: Instant(nanoseconds: 0))
    }
}
