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
    /// Requests that may wait for the loop.
    public var commandCapacity = 64
    /// Records that may wait for their reader.
    public var telemetryCapacity = 2048
    /// Ticks with the outputs off before anything may move: what allocates or faults on first use does it now.
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
}

/// Two real-time threads and everything between them. The composition root makes one, hands the doors to their owners,
/// and starts it.
///
/// Order: `RealtimeSetup.prepareProcess()`, `assemble`, everything else the process needs,
/// `RealtimeSetup.lockMemory()`, `start()`.
public final class GimbalRuntime: Sendable {
    private enum Phase {
        case built
        case running(loop: RealtimeThread, bus: RealtimeThread)
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
    ///   - settings: Rate, threads, capacities.
    /// - Returns: The runtime and its doors.
    public static func assemble(
        parameters: Stabilizer.Parameters, bus: any GimbalBus,
        settings: RuntimeSettings = RuntimeSettings()
    ) -> GimbalAssembly {
        let handles = SharedHandles()
        let wiring = LoopWiring(parameters: parameters, settings: settings, handles: handles)
        let busThread = BusThread(
            bus: bus,
            ports: BusPorts(
                samples: wiring.samples, answers: wiring.answers, bell: handles.busBell,
                loopBell: handles.loopBell, status: handles.status, stages: handles.stages),
            periodNanoseconds: settings.periodNanoseconds)
        let runtime = GimbalRuntime(
            shared: SharedBlock(
                settings: settings, handles: handles, loop: wiring.loop, bus: busThread))
        return GimbalAssembly(
            runtime: runtime, commands: wiring.commands, tuning: wiring.tuning,
            telemetry: wiring.telemetry)
    }

    /// Starts the loop, then the bus. Once; a runtime is not started again after `stop()`.
    ///
    /// - Throws: `ThreadError` when a thread cannot be created; then nothing runs.
    public func start() throws(ThreadError) {
        // Threads are created outside the lock: a typed error cannot leave `withLock` together with a result.
        let isNew = phase.withLock { if case .built = $0 { true } else { false } }
        precondition(isNew, "a runtime starts once")
        let loopThread = shared.loopThread
        let loop = try RealtimeThread(shared.settings.loop) { loopThread.run() }
        let bus: RealtimeThread
        do throws(ThreadError) {
            let context = shared.busContext
            bus = try RealtimeThread(shared.settings.bus) { context.run() }
        } catch {
            shared.handles.loopStop.set()
            shared.handles.loopBell.ring()
            _ = loop.join(until: MonotonicClock.now.advanced(bySeconds: StopLimits.loopSeconds))
            throw error
        }
        phase.withLock { $0 = .running(loop: loop, bus: bus) }
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
            case .running(let loop, let bus):
                let handles = shared.handles
                // The bus first: its last act is to turn the motors off.
                handles.busStop.set()
                handles.busBell.ring()
                let busEnded = bus.join(
                    until: MonotonicClock.now.advanced(bySeconds: StopLimits.busSeconds))
                handles.loopStop.set()
                handles.loopBell.ring()
                let loopEnded = loop.join(
                    until: MonotonicClock.now.advanced(bySeconds: StopLimits.loopSeconds))
                let report = StopReport(
                    busEnded: busEnded, loopEnded: loopEnded, motorsOff: handles.status.isOff)
                if !(busEnded && loopEnded) { shared.abandon() }
                phase = .stopped(report)
                return report
            }
        }
    }

    /// What the kernel granted the threads: loop, bus. Empty unless running.
    public var threads: [ThreadReport] {
        phase.withLock {
            if case .running(let loop, let bus) = $0 { [loop.report, bus.report] } else { [] }
        }
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

/// How a runtime ended.
public struct StopReport: Sendable, Equatable {
    /// The bus thread has ended. Otherwise a transfer hangs, and the thread was left to itself.
    public var busEnded: Bool
    /// The loop has ended.
    public var loopEnded: Bool
    /// The bus accepted the request to turn the power stages off.
    public var motorsOff: Bool
}

/// How long `stop()` waits; together less than the second it promises.
private enum StopLimits {
    static let busSeconds = 0.6
    static let loopSeconds = 0.3
}
