internal import CLinuxShim
internal import Glibc

/// Prepares the process as a whole: memory that stays, a CPU that stays awake.
///
/// Order: `prepareProcess()` first thing in `main`, before any thread exists; then build
/// everything; then `lockMemory()`; then start the real-time threads.
public enum RealtimeSetup {
    /// How many malloc arenas the process may have. Each costs address space that a memory lock
    /// makes resident.
    static let arenas: Int32 = 2
    /// Blocks from this size on have mappings of their own and go back to the kernel when freed.
    static let mappingThreshold: Int32 = 256 * 1024

    /// Keeps the footprint of a locked process small: small default stacks, few arenas. Call before
    /// any thread exists.
    ///
    /// - Returns: Sentences about what was refused; empty when all was granted.
    public static func prepareProcess() -> [String] {
        var problems: [String] = []
        let stackError = cl_default_stack_size_set(ThreadTable.ordinaryStackBytes)
        if stackError != 0 {
            problems.append(
                "the default thread stack size cannot be changed (errno \(stackError)); "
                    + "locked memory will be larger.")
        }
        if cl_malloc_configure(arenas, mappingThreshold) != 0 {
            problems.append(
                "malloc keeps its default number of arenas; locked memory will be larger.")
        }
        return problems
    }

    /// Locks all present and future memory of the process, so that no thread ever waits for a page.
    ///
    /// - Returns: What became of it.
    public static func lockMemory() -> MemoryLockReport {
        cl_malloc_trim()
        let error = cl_memory_lock()
        let status = readSmallFile("/proc/self/status") ?? ""
        return MemoryLockReport(
            isLocked: error == 0, problem: error == 0 ? nil : explainLock(error: error),
            lockedBytes: statusField("VmLck", in: status),
            residentBytes: statusField("VmRSS", in: status))
    }

    /// Whether the kernel is a fully preemptible one, asked of the kernel itself and not read out
    /// of its name.
    public static var isKernelRealtime: Bool {
        readSmallFile("/sys/kernel/realtime")?.first == "1"
    }

    /// The CPU for both real-time threads when nobody says otherwise: the last one, which gets the
    /// fewest interrupts, and the same for both, as a hand-over within a CPU needs no wake-up of
    /// another (measured on a two-CPU virtual machine: 9 against 25 µs). Nil when there is only
    /// one. Call before any thread is bound.
    public static var preferredCPU: Int? {
        cl_affinity_single() >= 0 ? nil : Int(cl_affinity_last())
    }

    /// A sentence for a refused memory lock.
    ///
    /// - Parameter error: The errno of mlockall(2).
    /// - Returns: The reason, and what usually helps.
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

    /// A field of /proc/self/status that is given in kB, as bytes; 0 when it is not there.
    static func statusField(_ name: String, in status: String) -> Int {
        for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
            let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
            return (Int(digits) ?? 0) * 1024
        }
        return 0
    }
}

/// What became of the wish to lock memory.
public struct MemoryLockReport: Sendable, Equatable {
    /// Whether all present and future pages are locked.
    public var isLocked: Bool
    /// Why not, and what to do.
    public var problem: String?
    /// Address space under lock, bytes.
    public var lockedBytes: Int
    /// Resident memory after the lock, bytes.
    public var residentBytes: Int
}

/// Keeps the CPUs out of sleep states that take long to leave, for as long as it exists.
///
/// Source: the kernel's PM QoS interface; the request holds while the file is open.
public struct CPUWakefulness: ~Copyable, Sendable {
    private let file: Int32
    /// Why the request could not be made; nil when it is in force.
    public let problem: String?

    /// Asks for a wake-up latency of zero.
    public init() {
        let path = "/dev/cpu_dma_latency"
        let opened = open(path, O_WRONLY | O_CLOEXEC)
        guard opened >= 0 else {
            file = -1
            problem =
                "\(path): \(errorText(errno)); idle CPUs may wake slowly. "
                + "Let the service user write the file (udev rule), or ignore this on a "
                + "machine without deep sleep states."
            return
        }
        var latency: Int32 = 0
        let written = write(opened, &latency, MemoryLayout<Int32>.size)
        file = opened
        problem =
            written == MemoryLayout<Int32>.size
            ? nil : "\(path): the request was refused (errno \(errno)); idle CPUs may wake slowly."
    }

    deinit { if file >= 0 { close(file) } }
}
