internal import CLinuxShim
internal import Glibc

/// Preparation of the whole process for real-time threads: small stacks and heaps, and locked
/// memory.
///
/// Call `prepareProcess()` at the beginning of `main`, before any thread exists. Then create all
/// objects, call `lockMemory()`, and start the real-time threads.
public enum RealtimeSetup {
    /// Largest number of malloc arenas. A memory lock makes the whole address space of each malloc
    /// arena resident.
    static let arenas: Int32 = 2
    /// malloc's mapping threshold, bytes; a larger block gets a separate mapping. The mapping
    /// returns to the kernel when the block is freed.
    static let mappingThreshold: Int32 = 256 * 1024

    /// Limits the memory of a locked process: small default stacks and few malloc arenas. Call this
    /// method before any thread exists.
    ///
    /// - Returns: One message for each refused request; empty if all requests were granted.
    public static func prepareProcess() -> [String] {
        var problems: [String] = []
        let stackError = cl_default_stack_size_set(ThreadTable.ordinaryStackBytes)
        if stackError != 0 {
            problems.append(
                "the default thread stack size cannot be changed (errno \(stackError)); locked memory will be larger."
            )
        }
        if cl_malloc_configure(arenas, mappingThreshold) != 0 {
            problems.append(
                "malloc keeps its default number of arenas; locked memory will be larger.")
        }
        return problems
    }

    /// Locks all present and future memory of the process; threads then do not wait for page
    /// faults.
    ///
    /// - Returns: True if the memory is locked, and the reason for a failure.
    public static func lockMemory() -> MemoryLockReport {
        cl_malloc_trim()
        let error = cl_memory_lock()
        let status = readSmallFile("/proc/self/status") ?? ""
        return MemoryLockReport(
            isLocked: error == 0, problem: error == 0 ? nil : explainLock(error: error),
            lockedBytes: statusField("VmLck", in: status),
            residentBytes: statusField("VmRSS", in: status))
    }

    /// True if the kernel reports in /sys that the kernel is fully preemptible (PREEMPT_RT).
    public static var isKernelRealtime: Bool {
        readSmallFile("/sys/kernel/realtime")?.first == "1"
    }

    /// The default CPU of both real-time threads: the last CPU, which receives the fewest
    /// interrupts. Loop and bus thread use the same CPU. Therefore the hand-over between the
    /// threads does not wake another CPU. On a virtual machine with two CPUs, the hand-over took 9
    /// µs instead of 25 µs. The property is nil on a computer with one CPU. Read this property
    /// before any thread is bound to a CPU.
    public static var preferredCPU: Int? {
        cl_affinity_single() >= 0 ? nil : lastCPU
    }

    /// The last CPU on which the calling thread may run; nil if the kernel does not report it. Unlike
    /// `preferredCPU`, this is also known on a computer with one CPU.
    public static var lastCPU: Int? {
        let cpu = cl_affinity_last()
        return cpu >= 0 ? Int(cpu) : nil
    }

    /// Create the message about a refused memory lock.
    ///
    /// - Parameter error: The errno of mlockall(2).
    /// - Returns: The reason, and the usual remedy.
    static func explainLock(error: Int32) -> String {
        let start = "memory is not locked, so a page fault can delay the loop"
        switch error {
        case EPERM, ENOMEM:
            return "\(start) (\(error == EPERM ? "EPERM" : "ENOMEM"): RLIMIT_MEMLOCK). "
                + "Set LimitMEMLOCK=infinity in the systemd unit or grant CAP_IPC_LOCK."
        default:
            return "\(start) (errno \(error) from mlockall)."
        }
    }

    /// Read a field of /proc/self/status in kB, and convert it to bytes; 0 if the field is missing.
    static func statusField(_ name: String, in status: String) -> Int {
        for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
            let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
            return (Int(digits) ?? 0) * 1024
        }
        return 0
    }
}

/// Result of the request to lock memory.
public struct MemoryLockReport: Sendable, Equatable {
    /// True if all present and future memory pages are locked.
    public var isLocked: Bool
    /// Reason for a failure, and its remedy; nil after success.
    public var problem: String?
    /// Locked address space, bytes.
    public var lockedBytes: Int
    /// Resident memory after the lock, bytes.
    public var residentBytes: Int
}

/// Request to the kernel that keeps the CPUs out of deep idle states while this value exists.
///
/// The request uses the kernel's PM QoS interface, and is in force while the interface's file is
/// open.
public struct CPUWakefulness: ~Copyable, Sendable {
    private let file: Int32
    /// Reason why the request failed; nil if the request is in force.
    public let problem: String?

    /// Requests a wake-up latency of zero.
    public init() {
        let path = "/dev/cpu_dma_latency"
        let opened = open(path, O_WRONLY | O_CLOEXEC)
        guard opened >= 0 else {
            file = -1
            problem =
                "\(path): \(errorText(errno)); idle CPUs can take longer to wake up. "
                + "Let the service user write the file (udev rule), or ignore this warning on a computer without deep sleep states."
            return
        }
        var latency: Int32 = 0
        let written = write(opened, &latency, MemoryLayout<Int32>.size)
        file = opened
        problem =
            written == MemoryLayout<Int32>.size
            ? nil
            : "\(path): the request was refused (errno \(errno)); idle CPUs can take longer to wake up."
    }

    deinit { if file >= 0 { close(file) } }
}
