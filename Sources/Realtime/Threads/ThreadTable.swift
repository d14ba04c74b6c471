/// Table of all threads with special settings. All other threads (Swift's pool, sockets) use the
/// defaults.
///
/// | thread          | policy     | priority | task                                                        |
/// | --------------- | ---------- | -------- | ----------------------------------------------------------- |
/// | airframed-loop  | SCHED_FIFO | 80       | integrate, estimate, supervise, control; never waits on I/O |
/// | airframed-bus0  | SCHED_FIFO | 79       | clock of the system; transfers of one bus                   |
/// | airframed-bus1  | SCHED_FIFO | 79       | writes to motors that have their own bus                    |
/// | airframed-power | SCHED_FIFO | 81       | the line that switches the motors' power; one ioctl         |
/// | airframed-steps | SCHED_FIFO | 78       | step and direction lines of stepper motors, at 4 kHz        |
/// | airframed-drive | SCHED_FIFO | 77       | a rider's wheels, at 50 Hz                                  |
/// | airframed-rec   | ordinary   |          | writes recordings; waits for the disk                       |
/// | airframed-state | ordinary   |          | reloads files, writes saved state; waits for the disk       |
/// | airframed-log   | ordinary   |          | writes the log; waits for its reader                        |
/// | airframed-batt  | ordinary   |          | reads the battery; waits for its driver                     |
/// | airframed-watch | ordinary   |          | feeds systemd's watchdog; never waits                       |
/// | airframed-led   | ordinary   |          | switches the light and the buzzer; waits for their bus      |
///
/// The loop has a higher priority than the buses. If loop and bus thread share a CPU, the loop runs
/// as soon as the bus thread wakes it. Therefore the bus thread finds the loop's output without
/// sleeping again. The priorities of loop and buses are above the priority of the kernel's threaded
/// interrupts (50), because the transfers of these threads do not depend on those interrupts. The
/// priorities of loop and buses are below the kernel's watchdogs (99). The power line's thread has
/// a higher priority than the loop. Therefore this thread can switch the motors off even if the
/// loop hangs. `loop.priority` changes the loop's priority; the priorities of bus and power line
/// change by the same amount.
public enum ThreadTable {
    /// The thread of the control loop.
    public static let loop = ThreadConfiguration(name: "airframed-loop", priority: 80)
    /// The thread of the bus with the IMU.
    public static let bus0 = ThreadConfiguration(name: "airframed-bus0", priority: 79)
    /// The thread of motors that have their own bus.
    public static let bus1 = ThreadConfiguration(name: "airframed-bus1", priority: 79)
    /// The power line's thread, which switches the motors' power.
    public static let power = ThreadConfiguration(name: "airframed-power", priority: 81)
    /// The thread that sets the GPIO lines of the stepper motors.
    public static let steps = ThreadConfiguration(name: "airframed-steps", priority: 78)
    /// The thread that drives the rider's wheels.
    public static let drive = ThreadConfiguration(name: "airframed-drive", priority: 77)
    /// The thread that waits for the battery's driver.
    public static let battery = ThreadConfiguration(name: "airframed-batt", priority: nil)
    /// The thread that writes the recordings, and waits for the disk.
    public static let recorder = ThreadConfiguration(name: "airframed-rec", priority: nil)
    /// The thread that writes the saved state, and waits for the disk.
    public static let state = ThreadConfiguration(name: "airframed-state", priority: nil)
    /// The thread that writes the log, and waits for the program that reads the log.
    public static let log = ThreadConfiguration(name: "airframed-log", priority: nil)
    /// The thread that feeds the watchdog.
    public static let watch = ThreadConfiguration(name: "airframed-watch", priority: nil)
    /// The thread that switches the light and the buzzer.
    public static let signals = ThreadConfiguration(name: "airframed-led", priority: nil)
    /// Stack size of each real-time thread, bytes. The whole stack is locked into memory.
    public static let stackBytes = 320 * 1024
    /// Number of stack bytes that a real-time thread touches when it starts.
    public static let prefaultBytes = 256 * 1024
    /// Stack size of every other thread of the process, bytes. The stacks of ordinary threads are
    /// also locked into memory, and therefore small. The socket's requests need at most 80 kB of
    /// stack in a release build, and at most 130 kB in a debug build.
    public static let ordinaryStackBytes = 256 * 1024
}

/// Configuration that a thread requests from the kernel.
public struct ThreadConfiguration: Sendable {
    /// Name, at most 15 bytes; shown by `ps -L` and `top -H`.
    public var name: String
    /// SCHED_FIFO priority, 1...99; nil for an ordinary thread.
    public var priority: Int?
    /// The CPU to run on, counted from 0; nil leaves the choice to the scheduler.
    public var cpu: Int?

    /// Creates a configuration.
    public init(name: String, priority: Int?, cpu: Int? = nil) {
        self.name = name
        self.priority = priority
        self.cpu = cpu
    }
}
