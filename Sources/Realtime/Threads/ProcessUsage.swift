internal import Glibc

/// Memory and page faults of the whole process, from the kernel.
public struct ProcessUsage: Sendable {
    /// Resident memory, bytes.
    public var residentBytes: Int
    /// Memory locked into RAM, bytes.
    public var lockedBytes: Int
    /// Number of pages read from a disk since the start.
    public var majorFaults: Int

    /// The present values, from /proc. Real-time threads must not read this property, because it
    /// can block.
    public static var current: ProcessUsage {
        let status = readSmallFile("/proc/self/status") ?? ""
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return ProcessUsage(
            residentBytes: RealtimeSetup.statusField("VmRSS", in: status),
            lockedBytes: RealtimeSetup.statusField("VmLck", in: status),
            majorFaults: usage.ru_majflt)
    }
}
