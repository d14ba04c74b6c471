public import GimbalCore
internal import Synchronization

/// Settings of a runtime.
public struct RuntimeSettings: Sendable {
    /// Rate of the loop, periods per second, 50...4000.
    public var rateHz = 1000.0
    /// Configuration of the loop thread.
    public var loop = ThreadTable.loop
    /// Configuration of the bus thread.
    public var bus = ThreadTable.bus0
    /// Configuration of the motors' thread, if the motors have their own bus.
    public var motors = ThreadTable.bus1
    /// Configuration of the power line's thread.
    public var power = ThreadTable.power
    /// Number of requests that can wait for the loop.
    public var commandCapacity = 64
    /// Number of records that can wait for their reader.
    public var telemetryCapacity = 2048
    /// Capacity of the flight recorder's replay log, bytes; 0 disables the recorder.
    public var replayLogBytes = 0
    /// Number of initial ticks with the outputs off. Allocations and page faults at the first
    /// execution of code occur during the warm-up ticks.
    public var warmUpTicks = 100
    /// Largest number of requests that one tick executes.
    public var requestsPerTick = 8
    /// True if ticks that take longer than a period are counted, and reported as a condition.
    public var watchesOverruns = true

    /// Period of the loop, ns.
    var periodNanoseconds: Int64 { Int64((1e9 / rateHz).rounded()) }

    /// Creates the default settings.
    public init() {}
}

/// A new runtime with its connections, to be passed to their owners.
@frozen
public struct GimbalAssembly: ~Copyable, Sendable {
    /// The runtime, which starts and stops the threads, and reports their state.
    public let runtime: GimbalRuntime
    /// Requests to the loop. Only the `Commander` writes to the ring of requests.
    public var commands: RingWriter<TimedCommand>
    /// Tuning for the loop; the newest tuning replaces earlier tunings.
    public var tuning: MailboxWriter<Stabilizer.Parameters>
    /// Records of the loop, one for each tick.
    public var telemetry: RingReader<TelemetryRecord>
    /// Consumer's end of the replay log, which contains all data for a replay.
    public var replayLog: ReplayLogConsumer
}

/// The real-time threads and all connections between them. The composition root creates one
/// runtime, passes the connections to their owners, and starts the runtime.
///
/// Start a process in this order: `RealtimeSetup.prepareProcess()`, `assemble`, creation of all
/// other objects, `RealtimeSetup.lockMemory()`, `start()`.
public final class GimbalRuntime: Sendable {
    private enum Phase {
        case built
        case running(RunningThreads)
        case stopped(StopReport)
    }

    private let phase = Mutex(Phase.built)
    private let shared: SharedBlock

    private init(shared: SharedBlock) { self.shared = shared }

    /// Creates the rings, mailboxes, loop and bus thread, but does not start a thread.
    ///
    /// - Parameters:
    ///   - parameters: The stabilizer's tuning at the start.
    ///   - bus: The hardware or its simulation. After this call, only the bus thread uses the bus.
    ///   - outputs: Devices with their own threads.
    ///   - settings: Settings of rate, threads and capacities.
    /// - Returns: The runtime and its connections.
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
            telemetry: wiring.telemetry, replayLog: wiring.replayLog)
    }

    /// Starts the threads of power line, motors, loop and bus, in this order. Call this method
    /// once; a runtime cannot be restarted after `stop()`.
    ///
    /// - Throws: `ThreadError` if a thread cannot be created; in this case no thread runs.
    public func start() throws(ThreadError) {
        // The threads are created outside the lock, because `withLock` cannot pass a typed error
        // together with a result.
        let isNew = phase.withLock { if case .built = $0 { true } else { false } }
        precondition(isNew, "a runtime can start only once")
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

    /// Turns the motors off, then ends the threads. The call takes less than a second, even if the
    /// hardware hangs.
    ///
    /// - Returns: The result. Later calls of `stop` return the result of the first call.
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

    /// Reports of the threads about the settings that the kernel has granted: the loop, the bus
    /// thread, then the output threads. The list is empty unless the threads are running.
    public var threads: [ThreadReport] {
        phase.withLock { if case .running(let threads) = $0 { threads.reports } else { [] } }
    }

    /// Histogram of the durations of a stage since the start. Any thread can call this method.
    ///
    /// - Parameter stage: Stage whose histogram is returned.
    /// - Returns: Copy of the stage's histogram.
    public func histogram(of stage: Stage) -> HistogramSnapshot {
        shared.handles.stages[stage].snapshot()
    }

    deinit { stop() }
}
