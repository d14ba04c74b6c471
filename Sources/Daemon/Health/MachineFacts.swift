import CLinuxShim
import Configuration
import Glibc
import Realtime

/// What the computer under the loop is like, as far as somebody can do something about it.
struct MachineFacts: Equatable {
    /// How the loop's CPU chooses its clock, such as `performance`; nil where it does not choose.
    var governor: String?
    /// Where saved tuning goes.
    var directory = ""
    /// Bytes that are free there; nil where nobody can say, because there is no such directory.
    var freeBytes: UInt64?
    /// Whether it can be written to.
    var isWritable = false
    /// How long a service manager waits for a sign of life, s; nil: nobody watches.
    var watchdogSeconds: Double?
    /// Whether the wall clock follows another one; nil where the kernel does not report its state.
    var isClockSynchronised: Bool?

    /// Looks. Not for the loop's thread.
    static func read(_ settings: Settings) -> MachineFacts {
        var facts = MachineFacts()
        let wanted = settings.loop.cpu
        if let cpu = wanted >= 0 ? wanted : RealtimeSetup.preferredCPU {
            facts.governor = firstLine(
                of: "/sys/devices/system/cpu/cpu\(cpu)/cpufreq/scaling_governor")
        }
        facts.directory = settings.persistence.directory
        var disk = statvfs()
        if statvfs(facts.directory, &disk) == 0 {
            facts.freeBytes = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
        }
        facts.isWritable = access(facts.directory, W_OK) == 0
        facts.watchdogSeconds = ServiceManager().patience
        var isSynchronised = false
        facts.isClockSynchronised =
            cl_wall_clock_synchronised(&isSynchronised) == 0 ? isSynchronised : nil
        return facts
    }
}
