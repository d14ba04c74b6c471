/// Every thread that asks the kernel for something special, in one table. All others (Swift's pool,
/// sockets, logs) stay ordinary.
///
/// | thread          | policy     | priority | does                                                       |
/// | --------------- | ---------- | -------- | ---------------------------------------------------------- |
/// | airframed-loop  | SCHED_FIFO | 80       | integrate, estimate, supervise, control; never waits on I/O |
/// | airframed-bus0  | SCHED_FIFO | 79       | clock of the system; transfers of one bus                   |
/// | airframed-bus1  | SCHED_FIFO | 79       | writes motors that are on a bus of their own                |
/// | airframed-power | SCHED_FIFO | 81       | the line that switches the motors' power; one ioctl         |
/// | airframed-steps | SCHED_FIFO | 78       | step and direction lines of stepper motors, at 4 kHz         |
/// | airframed-drive | SCHED_FIFO | 77       | a rider's wheels, at 50 Hz                                  |
/// | airframed-rec   | ordinary   |          | writes recordings; waits for the disk                        |
/// | airframed-state | ordinary   |          | reads the files again, writes what is saved; waits for the disk |
/// | airframed-log   | ordinary   |          | writes the log; waits for its reader                         |
/// | airframed-watch | ordinary   |          | feeds systemd's watchdog; waits for nothing                  |
///
/// The loop stands above the buses: when it shares a CPU with the bus thread that woke it, it runs
/// at once and the bus thread finds the answer without sleeping again. Both stand above the
/// kernel's threaded interrupts (50), as the transfer that they wait for is never theirs, and below
/// its watchdogs (99). The power line stands above the loop, as nothing that hangs may keep it from
/// being switched off. `loop.priority` moves the loop; bus and power line keep their distance from
/// it.
public enum ThreadTable {
    /// The control loop.
    public static let loop = ThreadConfiguration(name: "airframed-loop", priority: 80)
    /// The thread of the bus with the IMU.
    public static let bus0 = ThreadConfiguration(name: "airframed-bus0", priority: 79)
    /// The thread of motors that have a bus of their own.
    public static let bus1 = ThreadConfiguration(name: "airframed-bus1", priority: 79)
    /// The thread of the line that switches the motors' power.
    public static let power = ThreadConfiguration(name: "airframed-power", priority: 81)
    /// The thread of stepper motors' lines.
    public static let steps = ThreadConfiguration(name: "airframed-steps", priority: 78)
    /// The thread of a rider's wheels.
    public static let drive = ThreadConfiguration(name: "airframed-drive", priority: 77)
    /// The thread that waits for the recorder's disk.
    public static let recorder = ThreadConfiguration(name: "airframed-rec", priority: nil)
    /// The thread that waits for the disk of the state directory.
    public static let state = ThreadConfiguration(name: "airframed-state", priority: nil)
    /// The thread that waits for the log's reader.
    public static let log = ThreadConfiguration(name: "airframed-log", priority: nil)
    /// The thread that feeds the watchdog.
    public static let watch = ThreadConfiguration(name: "airframed-watch", priority: nil)
    /// Stack of each of these threads; locked into memory as a whole.
    public static let stackBytes = 320 * 1024
    /// How much of that stack is touched before the thread starts its work.
    public static let prefaultBytes = 256 * 1024
    /// Stack of every other thread the process starts; locked too, therefore small. Answering every
    /// question of the socket takes 80 kB in a release build, 130 kB in a debug build.
    public static let ordinaryStackBytes = 256 * 1024
}

/// What a thread asks for.
public struct ThreadConfiguration: Sendable {
    /// At most 15 bytes; shown by `ps -L` and `top -H`.
    public var name: String
    /// SCHED_FIFO priority, 1...99; nil: an ordinary thread on purpose.
    public var priority: Int?
    /// The one CPU to run on, counted from 0; nil: wherever the scheduler likes.
    public var cpu: Int?

    /// A configuration with these wishes.
    public init(name: String, priority: Int?, cpu: Int? = nil) {
        self.name = name
        self.priority = priority
        self.cpu = cpu
    }
}
