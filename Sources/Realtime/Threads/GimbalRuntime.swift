public import GimbalCore
internal import Synchronization

/// What a runtime is built with.
public struct RuntimeSettings: Sendable {
    /// Periods a second, 50...4000.
    public var rateHz = 1000.0
    /// The loop thread's wishes.
    public var loop = ThreadTable.loop
    /// The bus thread's wishes.
    public var bus = ThreadTable.bus0
    /// The wishes of the motors' thread, where they have a bus of their own.
    public var motors = ThreadTable.bus1
    /// The wishes of the power line's thread.
    public var power = ThreadTable.power
    /// Requests that may wait for the loop.
    public var commandCapacity = 64
    /// Records that may wait for their reader.
    public var telemetryCapacity = 2048
    /// Bytes that may wait for the flight recorder; 0: there is none.
    public var tapeBytes = 0
    /// Ticks with the outputs off before anything may move: what allocates or faults on first use
    /// does it now.
    public var warmUpTicks = 100
    /// Requests that one tick carries out at most.
    public var requestsPerTick = 8
    /// Whether a tick that takes longer than a period is counted and shown.
    public var watchesOverruns = true

    /// The period that belongs to the rate.
    var periodNanoseconds: Int64 { Int64((1e9 / rateHz).rounded()) }

    /// The defaults.
    public init() {}
}

/// A new runtime with the doors that lead into it, on their way to their owners.
@frozen
public struct GimbalAssembly: ~Copyable, Sendable {
    /// Starts and stops the threads, and knows how they are.
    public let runtime: GimbalRuntime
    /// Requests to the loop. One producer: the Commander.
    public var commands: RingWriter<TimedCommand>
    /// Tuning for the loop; the newest wins.
    public var tuning: MailboxWriter<Stabilizer.Parameters>
    /// One record per tick.
    public var telemetry: RingReader<TelemetryRecord>
    /// Everything that a replay needs.
    public var tape: TapeRecorderEnd
}

/// The real-time threads and everything between them. The composition root makes one, hands the
/// doors to their owners, and starts it.
///
/// Order: `RealtimeSetup.prepareProcess()`, `assemble`, everything else the process needs,
/// `RealtimeSetup.lockMemory()`, `start()`.
public final class GimbalRuntime: Sendable {
    private enum Phase {
        case built
        case running(RunningThreads)
        case stopped(StopReport)
    }

    private let phase = Mutex(Phase.built)
    private let shared: SharedBlock

    private init(shared: SharedBlock) { self.shared = shared }

    /// Builds rings, mailboxes, loop and bus thread; starts nothing.
    ///
    /// - Parameters:
    ///   - parameters: The stabilizer's tuning at the start.
    ///   - bus: The hardware, or what stands in for it. Moves to the bus thread.
    ///   - outputs: What has threads of its own.
    ///   - settings: Rate, threads, capacities.
    /// - Returns: The runtime and its doors.
    public static func assemble(
        parameters: Stabilizer.Parameters, bus: any GimbalBus,
        outputs: OutputBuses = OutputBuses(), settings: RuntimeSettings = RuntimeSettings()
    ) -> GimbalAssembly {
        let handles = SharedHandles()
        let wiring = LoopWiring(parameters: parameters, settings: settings, handles: handles)
        let busThread = BusThread(
            bus: bus,
            ports: BusPorts(
                samples: wiring.samples, answers: wiring.answers, bell: handles.busBell,
                loopBell: handles.loopBell, status: handles.status, stages: handles.stages),
            periodNanoseconds: settings.periodNanoseconds, drivesMotors: outputs.motors == nil)
        var motors: OutputThread?
        if let bus = outputs.motors {
            motors = OutputThread(
                bus: bus, answers: wiring.ownBus, lane: handles.lanes.motors,
                periodNanoseconds: settings.periodNanoseconds, stages: handles.stages)
        }
        var power: OutputThread?
        if let bus = outputs.power {
            power = OutputThread(
                bus: bus, answers: wiring.power, lane: handles.lanes.power,
                periodNanoseconds: settings.periodNanoseconds, stages: nil)
        }
        let runtime = GimbalRuntime(
            shared: SharedBlock(
                settings: settings, handles: handles, loop: wiring.loop, bus: busThread,
                motors: motors, power: power))
        return GimbalAssembly(
            runtime: runtime, commands: wiring.commands, tuning: wiring.tuning,
            telemetry: wiring.telemetry, tape: wiring.tape)
    }

    /// Starts the power line, the motors, the loop, then the bus. Once; a runtime is not started
    /// again after `stop()`.
    ///
    /// - Throws: `ThreadError` when a thread cannot be created; then nothing runs.
    public func start() throws(ThreadError) {
        // Threads are created outside the lock: a typed error cannot leave `withLock` together with
        // a result.
        let isNew = phase.withLock { if case .built = $0 { true } else { false } }
        precondition(isNew, "a runtime starts once")
        var threads = RunningThreads()
        do throws(ThreadError) {
            threads.power = try output(shared.powerContext, shared.settings.power)
            threads.motors = try output(shared.motorsContext, shared.settings.motors)
            let loop = shared.loopThread
            threads.loop = try RealtimeThread(shared.settings.loop) { loop.run() }
            let bus = shared.busContext
            threads.bus = try RealtimeThread(shared.settings.bus) { bus.run() }
        } catch {
            let report = threads.stop(shared.handles)
            if !(report.busEnded && report.loopEnded) { shared.abandon() }
            throw error
        }
        let running = threads
        phase.withLock { $0 = .running(running) }
    }

    private func output(
        _ context: OutputContext?, _ wishes: ThreadConfiguration
    ) throws(ThreadError) -> RealtimeThread? {
        guard let context else { return nil }
        return try RealtimeThread(wishes) { context.run() }
    }

    /// Turns the motors off, then ends the threads; within a second, whatever the hardware does.
    ///
    /// - Returns: How it went. Calling it again returns the same.
    @discardableResult
    public func stop() -> StopReport {
        phase.withLock { phase in
            switch phase {
            case .stopped(let report):
                return report
            case .built:
                let report = StopReport(busEnded: true, loopEnded: true, motorsOff: false)
                phase = .stopped(report)
                return report
            case .running(let threads):
                let report = threads.stop(shared.handles)
                if !(report.busEnded && report.loopEnded) { shared.abandon() }
                phase = .stopped(report)
                return report
            }
        }
    }

    /// What the kernel granted the threads: loop, bus, then those that only write. Empty unless
    /// running.
    public var threads: [ThreadReport] {
        phase.withLock { if case .running(let threads) = $0 { threads.reports } else { [] } }
    }

    /// The durations of a stage since the start. Any thread.
    ///
    /// - Parameter stage: Which part of the period.
    /// - Returns: Its histogram at this moment.
    public func histogram(of stage: Stage) -> HistogramSnapshot {
        shared.handles.stages[stage].snapshot()
    }

    deinit { stop() }
}
