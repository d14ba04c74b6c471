import CLinuxShim
import Configuration
import Glibc
import Hardware
import Realtime
import Recording

/// Properties of the computer that a user can change, for `doctor`.
struct MachineFacts: Equatable {
    /// The frequency governor of the loop's CPU, such as `performance`; nil if there is none.
    var governor: String?
    /// Directory of saved tuning.
    var directory = ""
    /// Free space in the directory of saved tuning, bytes; nil if the directory does not exist.
    var freeBytes: UInt64?
    /// True if airframed can write to the directory of saved tuning.
    var isWritable = false
    /// Watchdog timeout of the service manager, s; nil if the watchdog is off.
    var watchdogSeconds: Double?
    /// True if the wall clock is synchronised; nil if the state is unknown.
    var isClockSynchronised: Bool?
    /// Problem of the configuration files, as a sentence, that would prevent a start of airframed
    /// now; nil if there is none.
    var startProblem: String?
    /// `LoadedConfiguration.unusedChips`.
    var unusedChips: String?

    /// A text line for each inertial sensor that has a kernel driver.
    var kernelSensors: [String] = []
    /// True if the settings use a sensor that has a kernel driver.
    var usesKernelSensor = false

    /// Reads the properties of the computer. The loop's thread must not call this method, because
    /// it can block.
    ///
    /// - Parameters:
    ///   - settings: Active settings.
    ///   - cpus: The kernel's directory of the CPUs; tests use another directory.
    /// - Returns: The properties.
    static func read(
        _ settings: Settings, cpus: String = "/sys/devices/system/cpu"
    ) -> MachineFacts {
        var facts = MachineFacts()
        let wanted = settings.loop.cpu
        if let cpu = wanted >= 0 ? wanted : RealtimeSetup.lastCPU {
            facts.governor = firstLine(of: "\(cpus)/cpu\(cpu)/cpufreq/scaling_governor")
        }
        facts.directory = settings.persistence.directory
        facts.freeBytes = DiskSpace(of: facts.directory).map { UInt64($0.free) }
        facts.isWritable = access(facts.directory, W_OK) == 0
        facts.watchdogSeconds = ServiceManager().patience
        if settings.hardware.backend == .linux {
            facts.usesKernelSensor = settings.hardware.linux.imu == nil
            facts.kernelSensors = IIOInventory.lines()
        }
        var isSynchronised = false
        let isKnown = cl_wall_clock_synchronised(&isSynchronised) == 0
        facts.isClockSynchronised = clockState(kernel: isKnown ? isSynchronised : nil)
        return facts
    }

    /// State of the wall clock. The sandbox of the service denies the kernel's report; then the
    /// files of systemd-timesyncd show the state.
    ///
    /// - Parameters:
    ///   - kernel: The kernel's report; nil if the report is denied.
    ///   - directory: Directory of systemd-timesyncd, which exists while systemd-timesyncd runs.
    /// - Returns: True if the clock is synchronised; nil if the state is unknown.
    static func clockState(
        kernel: Bool?, directory: String = "/run/systemd/timesync"
    ) -> Bool? {
        if let kernel { return kernel }
        guard access(directory, F_OK) == 0 else { return nil }
        return access("\(directory)/synchronized", F_OK) == 0
    }
}
