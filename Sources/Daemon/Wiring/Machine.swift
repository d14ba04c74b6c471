import GimbalCore
import Hardware
import Policy
import Realtime
import Wire

/// The running machine as ordinary threads see it: threads, Commander, and what the kernel granted.
struct Machine: Sendable {
    /// What makes the loop tick.
    let driver: any LoopDriver
    /// Decides who is in control.
    let commander: Commander
    /// Where the loop's records end up.
    let hub: TelemetryHub
    /// How the sensors are; says nothing without real ones.
    let sensors: SensorReports
    /// A robot's motors; nil without.
    let steppers: StepperMotors?
    /// The clock of the loop, the Commander and the timers.
    let clock: LoopClock
    /// The simulator that owns time; nil on the computer's own clock.
    let lockstep: LockstepSession?
    /// Keeps the CPUs out of deep sleep while the machine exists.
    let wakefulness: Wakefulness
    /// When the daemon began, on CLOCK_MONOTONIC.
    let started: Instant
    /// What became of the wish to lock all pages; nil when nobody wished it.
    let memory: MemoryLockReport?
    /// What the process could not have, in sentences.
    let startProblems: [String]

    /// The durations of one stage since the start; unknown before the first.
    func timing(of stage: Stage) -> StageTiming {
        let summary = driver.histogram(of: stage).summary
        func microseconds(_ nanoseconds: Double) -> Number {
            Number(summary.count == 0 ? .nan : nanoseconds / 1e3)
        }
        return StageTiming(
            name: stage.rawValue, p50Us: microseconds(summary.p50),
            p99Us: microseconds(summary.p99), maxUs: microseconds(summary.longest))
    }

    /// What the kernel granted, and what it did not, in sentences.
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

    /// Everything that was asked for and not granted.
    var problems: [String] {
        // In lockstep nothing was asked for.
        if lockstep != nil { return [] }
        return startProblems + [wakefulness.problem, memory?.problem].compactMap(\.self)
            + driver.threads.flatMap(\.problems)
    }
}

/// Holds the request that keeps the CPUs awake for as long as somebody holds this.
final class Wakefulness: Sendable {
    private let request = CPUWakefulness()

    /// Why the request could not be made; nil when it is in force.
    var problem: String? { request.problem }
}

extension MemoryStatus {
    /// As it is now.
    static var current: MemoryStatus {
        let usage = ProcessUsage.current
        var status = MemoryStatus()
        status.residentKb = Number(Double(usage.residentBytes) / 1024)
        status.lockedKb = Number(Double(usage.lockedBytes) / 1024)
        status.majorFaults = usage.majorFaults
        return status
    }
}
