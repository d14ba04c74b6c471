internal import CLinuxShim
public import GimbalCore
internal import Glibc

/// Thread with a separate stack, name, scheduling policy and CPU.
///
/// A refusal by the kernel is not an error, because a gimbal without real-time scheduling is still
/// usable. `report` contains a message about the refusal. A thread without SCHED_FIFO requests the
/// smallest timer slack, because this slack halves the thread's usual wake-up delay.
///
/// A real-time thread must not start other threads (Swift's pool, loggers, D-Bus), because threads
/// inherit policy and affinity from their creator.
public final class RealtimeThread: Sendable {
    /// Result of the thread's requests to the kernel.
    public let report: ThreadReport
    private let handle: UInt64
    private let start: ThreadStart

    /// Starts a thread, and returns when the kernel has granted or refused the thread's
    /// configuration.
    ///
    /// - Parameters:
    ///   - configuration: Name, priority and CPU.
    ///   - body: Code of the new thread, executed after the thread's set-up. The closure must not
    ///     be isolated to an actor.
    /// - Throws: `ThreadError` if memory is exhausted, or if the limit of threads is reached.
    public init(
        _ configuration: ThreadConfiguration, body: @escaping @Sendable () -> Void
    ) throws(ThreadError) {
        let start = ThreadStart(configuration: configuration, body: body)
        let retained = Unmanaged.passRetained(start)
        var handle: UInt64 = 0
        let error = cl_thread_start(
            &handle, ThreadTable.stackBytes, threadMain, retained.toOpaque())
        guard error == 0 else {
            retained.release()
            throw ThreadError(thread: configuration.name, code: error)
        }
        while start.ready.wait(until: Instant(nanoseconds: .max)) != .rung {}
        report = start.outcome.report(for: configuration)
        self.handle = handle
        self.start = start
    }

    /// Waits for the thread to end. Call this method once.
    ///
    /// - Parameter deadline: Latest time at which the wait ends.
    /// - Returns: True if the thread has ended. A thread that has not ended is detached; its memory
    ///   must not be freed.
    public func join(until deadline: Instant) -> Bool {
        // The wait uses a doorbell, followed by a join without a deadline. Thread sanitizers do not
        // support a join with a deadline on this clock.
        guard start.done.wait(until: deadline) == .rung else {
            _ = cl_thread_detach(handle)
            return false
        }
        return cl_thread_join(handle) == 0
    }
}

/// A thread that could not be started.
public struct ThreadError: Error, Sendable, CustomStringConvertible {
    /// The thread's name.
    public var thread: String
    /// The errno of pthread_create(3).
    public var code: Int32

    /// Error message for the log.
    public var description: String {
        "cannot start thread \(thread): \(errorText(code)). "
            + "Check LimitMEMLOCK=, TasksMax= and free memory."
    }
}

/// Data for the new thread, and the results of its set-up.
private final class ThreadStart: @unchecked Sendable {
    let configuration: ThreadConfiguration
    let body: @Sendable () -> Void
    let ready = Doorbell()
    /// Doorbell that the new thread rings before it ends.
    let done = Doorbell()
    /// Results of the thread's set-up. The new thread writes this value before it signals `ready`.
    /// After the signal, the creator reads the value.
    var outcome = ThreadOutcome()

    init(configuration: ThreadConfiguration, body: @escaping @Sendable () -> Void) {
        self.configuration = configuration
        self.body = body
    }

    deinit {
        ready.deallocate()
        done.deallocate()
    }
}

/// Entry point of the thread. The entry point is a nonisolated top-level function, because a
/// closure that is isolated to an actor would trap here.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    start.outcome = ThreadOutcome.apply(start.configuration)
    start.ready.ring()
    start.body()
    start.done.ring()
    return nil
}

/// Results of the requests to the kernel, as numbers.
private struct ThreadOutcome: Sendable {
    var threadID: Int32 = 0
    var policy: Int32 = 0
    var priority: Int32 = 0
    var cpu: Int32 = -1
    var priorityError: Int32 = 0
    var affinityError: Int32 = 0

    /// Requests the configuration for the calling thread, and reads the result back from the
    /// kernel.
    static func apply(_ wishes: ThreadConfiguration) -> ThreadOutcome {
        var outcome = ThreadOutcome()
        outcome.threadID = cl_thread_id()
        _ = cl_thread_set_name(wishes.name)
        if let cpu = wishes.cpu { outcome.affinityError = cl_affinity_set(Int32(clamping: cpu)) }
        if let priority = wishes.priority {
            outcome.priorityError = cl_sched_set_fifo(Int32(clamping: priority))
        }
        _ = cl_sched_get(&outcome.policy, &outcome.priority)
        outcome.cpu = cl_affinity_single()
        // Threads under SCHED_FIFO have no timer slack. Other threads can wake as much as 50 µs
        // late, unless they request a smaller timer slack.
        _ = cl_timer_slack_set(1)
        cl_stack_prefault(ThreadTable.prefaultBytes)
        return outcome
    }

    func report(for wishes: ThreadConfiguration) -> ThreadReport {
        var problems: [String] = []
        if let priority = wishes.priority, priorityError != 0 {
            problems.append(
                RealtimeRights.ofThisProcess().explain(
                    error: priorityError, thread: wishes.name, priority: priority))
        } else if let priority = wishes.priority, self.priority != Int32(clamping: priority) {
            problems.append(
                "\(wishes.name) requested SCHED_FIFO with priority \(priority), but the kernel runs the thread with policy \(policy) and priority \(self.priority)."
            )
        }
        if let cpu = wishes.cpu, affinityError != 0 {
            problems.append(
                "\(wishes.name) is not bound to CPU \(cpu) (errno \(affinityError)): there is no such CPU, or it is outside the cpuset of the process. `nproc --all` counts the CPUs."
            )
        }
        return ThreadReport(
            name: wishes.name, threadID: threadID,
            policy: ThreadReport.Policy(rawValue: policy) ?? .unknown, priority: Int(priority),
            cpu: cpu >= 0 ? Int(cpu) : nil, problems: problems)
    }
}

extension RealtimeRights {
    /// Reads the properties of this process: user, limits and cgroup.
    static func ofThisProcess() -> RealtimeRights {
        let limit = cl_rtprio_limit()
        let group = cpuGroup(in: readSmallFile("/proc/self/cgroup") ?? "")
        var runtime: Int?
        if let group {
            let file = "/sys/fs/cgroup/cpu\(group)/cpu.rt_runtime_us"
            runtime = readSmallFile(file).flatMap { Int($0.prefix { $0 != "\n" }) }
        }
        return RealtimeRights(
            isRoot: geteuid() == 0, priorityLimit: limit < 0 ? nil : Int(limit), cpuGroup: group,
            groupRuntimeMicroseconds: runtime)
    }

    /// Parse the text of /proc/self/cgroup: path of the process in the `cpu` hierarchy of cgroups
    /// version 1; nil if the process is in the root of the hierarchy.
    static func cpuGroup(in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].split(separator: ",").contains("cpu") else {
                continue
            }
            return fields[2] == "/" ? nil : String(fields[2])
        }
        return nil
    }
}

/// The C library's text for an errno.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
