/// Report of a thread: the settings that the kernel has granted, and the refused requests.
public struct ThreadReport: Sendable, Equatable {
    /// The kernel's scheduling policies.
    public enum Policy: Int32, Sendable {
        /// The ordinary time-sharing policy.
        case other = 0
        /// First in, first out, at a fixed priority: a real-time policy.
        case fifo = 1
        /// Real-time policy like `fifo`, with time slices.
        case roundRobin = 2
        /// A policy that is neither ordinary, FIFO nor round-robin.
        case unknown = -1
    }

    /// The thread's name.
    public var name: String
    /// The kernel's id of the thread, as in /proc/self/task.
    public var threadID: Int32
    /// The policy in force.
    public var policy: Policy
    /// The priority in force; 0 for ordinary threads.
    public var priority: Int
    /// The CPU to which the thread is bound; nil if it is not bound.
    public var cpu: Int?
    /// One message for each refused request; empty if all requests were granted.
    public var problems: [String]

    /// True if the thread runs under SCHED_FIFO.
    public var isRealtime: Bool { policy == .fifo }
}

/// Properties of the process that explain a refusal of SCHED_FIFO.
struct RealtimeRights: Equatable {
    /// True if the effective user of the process is root.
    var isRoot: Bool
    /// Soft limit RLIMIT_RTPRIO, the largest priority; nil if unlimited.
    var priorityLimit: Int?
    /// Path of the process in the `cpu` cgroup hierarchy (version 1); nil if the process is in the
    /// root group.
    var cpuGroup: String?
    /// Real-time budget of the process's `cpu` group (`cpu.rt_runtime_us`), µs; nil if the kernel
    /// was built without RT_GROUP_SCHED.
    var groupRuntimeMicroseconds: Int?

    /// Explain a refusal by the kernel, with the usual remedy.
    ///
    /// - Parameters:
    ///   - error: The errno of the refusal.
    ///   - thread: The thread's name.
    ///   - priority: The requested SCHED_FIFO priority.
    /// - Returns: Message of one or two sentences for the status and the log.
    func explain(error: Int32, thread: String, priority: Int) -> String {
        let start = "\(thread) has no real-time priority: SCHED_FIFO \(priority) was refused"
        if let cpuGroup, groupRuntimeMicroseconds == 0 {
            return
                "\(start) (RT_GROUP_SCHED: the cpu cgroup \(cpuGroup) has cpu.rt_runtime_us = 0). "
                + "Give the group a real-time budget, or run the process in the root cgroup."
        }
        if error == Self.notPermitted, !isRoot {
            if let priorityLimit, priorityLimit < priority {
                return "\(start) (EPERM; RLIMIT_RTPRIO is \(priorityLimit)). "
                    + "Set LimitRTPRIO=\(priority) in the systemd unit, add an rtprio line to /etc/security/limits.conf, or grant CAP_SYS_NICE."
            }
            return "\(start) (EPERM). Grant CAP_SYS_NICE or raise RLIMIT_RTPRIO to \(priority)."
        }
        if error == Self.notPermitted {
            return
                "\(start) (EPERM, although root), because a container or cgroup has no real-time budget. Allow CAP_SYS_NICE in the container, and set cpu.rt_runtime_us of its cpu cgroup above 0."
        }
        return "\(start) (errno \(error)). Priorities are 1...99."
    }

    /// The errno EPERM, which is the same number on every Linux.
    static let notPermitted: Int32 = 1
}
