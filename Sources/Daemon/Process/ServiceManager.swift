import CLinuxShim
import Glibc

/// Notifications to systemd (sd_notify(3)): airframed is ready, airframed is stopping, or the loop
/// makes progress. Without systemd, the notifications have no effect.
struct ServiceManager: Sendable {
    private let socket: String?
    /// Watchdog timeout of systemd, s; nil if the watchdog is off.
    let patience: Double?

    /// Creates a service manager.
    ///
    /// - Parameter environment: Function that returns an environment variable; the manager reads
    ///   `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    init(environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
        socket = environment("NOTIFY_SOCKET")
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        patience =
            isMeant
            ? environment("WATCHDOG_USEC").flatMap(Double.init).map { $0 * 1e-6 } : nil
    }

    /// True if systemd has started the process and receives notifications.
    var isThere: Bool { socket != nil }

    /// Notifies systemd that all services run.
    func ready() { say("READY=1") }

    /// Notifies systemd that the daemon is stopping.
    func stopping() { say("STOPPING=1") }

    /// Sets the text that `systemctl status` shows.
    func status(_ text: String) { say("STATUS=\(text)") }

    /// Sender of notifications to systemd's watchdog, for use by one thread; nil if systemd
    /// requests no watchdog.
    var feeder: WatchdogFeeder? {
        patience.map { patience in
            WatchdogFeeder(patience: patience) { say("WATCHDOG=1") }
        }
    }

    /// Sends a notification. A missing systemd is not an error.
    private func say(_ text: String) {
        guard let socket else { return }
        _ = cl_notify(socket, text)
    }
}

/// Sender of notifications to systemd's watchdog. The sender notifies the watchdog only if the loop
/// and the bus thread make progress, so that systemd detects a loop or a bus that hangs.
struct WatchdogFeeder: Sendable {
    /// Progress of the loop and of the bus thread.
    struct Progress: Equatable, Sendable {
        /// Number of ticks of the loop.
        var ticks: UInt64
        /// Number of periods of the bus thread.
        var periods: UInt64
    }

    private let patience: Double
    private let feed: @Sendable () -> Void
    private var seen: Progress?
    private var fed: Double?

    /// Creates a sender of watchdog notifications.
    ///
    /// - Parameters:
    ///   - patience: Watchdog time, s.
    ///   - feed: Function that notifies the watchdog.
    init(patience: Double, feed: @escaping @Sendable () -> Void) {
        self.patience = patience
        self.feed = feed
    }

    /// Notifies the watchdog every quarter of its timeout, if both the loop and the bus thread have
    /// made progress since the previous notification. Call this method at least four times per
    /// watchdog timeout.
    ///
    /// - Parameters:
    ///   - progress: Current progress.
    ///   - now: Current time, s, on any monotonic clock.
    mutating func look(at progress: Progress, now: Double) {
        if let fed, now - fed < patience / 4 { return }
        defer { seen = progress }
        guard let seen else { return }
        guard progress.ticks != seen.ticks, progress.periods != seen.periods else { return }
        fed = now
        feed()
    }
}
