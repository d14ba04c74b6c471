import GimbalCore
import Hardware
import Policy
import Realtime
import Wire

/// The running machine for ordinary threads: loop driver, `Commander`, telemetry and reports.
struct Machine: Sendable {
    /// Driver of the loop's ticks.
    let driver: any LoopDriver
    /// The `Commander`, which decides which client is in control.
    let commander: Commander
    /// Collector of the loop's records.
    let hub: TelemetryHub
    /// Reports of the sensors; empty without real sensors.
    let sensors: SensorReports
    /// The robot's motors; nil without stepper motors.
    let steppers: StepperMotors?
    /// The clock of the loop, the Commander and the timers.
    let clock: LoopClock
    /// The simulator that supplies the clock; nil unless the backend is lockstep.
    let lockstep: LockstepSession?
    /// Request that keeps the CPUs out of deep idle states while the machine exists.
    let wakefulness: Wakefulness
    /// Time at which the daemon started, on CLOCK_MONOTONIC.
    let started: Instant
    /// Result of the request to lock all memory pages of the process; nil if the request was not
    /// made.
    let memory: MemoryLockReport?
    /// Missing resources of the process, as sentences.
    let startProblems: [String]

    /// Duration statistics of the given loop stage since the start; unknown before the first tick.
    func timing(of stage: Stage) -> StageTiming {
        let summary = driver.histogram(of: stage).summary
        func microseconds(_ nanoseconds: Double) -> Number {
            Number(summary.count == 0 ? .nan : nanoseconds / 1e3)
        }
        return StageTiming(
            name: stage.rawValue, p50Us: microseconds(summary.p50),
            p99Us: microseconds(summary.p99), maxUs: microseconds(summary.longest))
    }

    /// Requests of the process for scheduling and memory locking, the kernel's answers, and a
    /// sentence for each refusal.
    var realtimeStatus: RealtimeStatus {
        let threads = driver.threads
        var status = RealtimeStatus()
        status.policy =
            threads.isEmpty
            ? "" : threads.allSatisfy(\.isRealtime) ? "SCHED_FIFO" : "SCHED_OTHER"
        status.priority = threads.first?.priority ?? 0
        status.isMemoryLocked = memory?.isLocked ?? false
        status.isPreemptRt = RealtimeSetup.isKernelRealtime
        status.sentences = problems
        return status
    }

    /// Sentences about all requests of the real-time threads that the kernel has refused.
    var problems: [String] {
        // In lockstep there are no real-time threads, so the kernel has received no request.
        if lockstep != nil { return [] }
        return startProblems + [wakefulness.problem, memory?.problem].compactMap(\.self)
            + driver.threads.flatMap(\.problems)
    }
}

/// Request that keeps the CPUs out of deep idle states while this object exists.
final class Wakefulness: Sendable {
    private let request = CPUWakefulness()

    /// Reason why the request failed; nil if the request has succeeded.
    var problem: String? { request.problem }
}

extension MemoryStatus {
    /// Current memory use of the process.
    static var current: MemoryStatus {
        let usage = ProcessUsage.current
        var status = MemoryStatus()
        status.residentKb = Number(Double(usage.residentBytes) / 1024)
        status.lockedKb = Number(Double(usage.lockedBytes) / 1024)
        status.majorFaults = usage.majorFaults
        return status
    }
}
