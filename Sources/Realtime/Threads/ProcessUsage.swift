internal import Glibc

/// Memory and faults of the whole process, asked of the kernel.
public struct ProcessUsage: Sendable {
    /// Memory in RAM, bytes.
    public var residentBytes: Int
    /// Memory locked into RAM, bytes.
    public var lockedBytes: Int
    /// Pages that had to be read from a disk since the start.
    public var majorFaults: Int

    /// As it is now. Reads /proc: not for real-time threads.
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
