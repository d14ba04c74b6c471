import CLinuxShim
import Glibc

/// What systemd wants to hear (sd_notify(3)): ready, stopping, and that the loop is alive. Says
/// nothing elsewhere.
struct ServiceManager: Sendable {
    private let socket: String?
    /// How long systemd waits for a sign of life, s; nil: it does not.
    let patience: Double?

    /// - Parameter environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of the process.
    init(environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
        socket = environment("NOTIFY_SOCKET")
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        patience =
            isMeant
            ? environment("WATCHDOG_USEC").flatMap(Double.init).map { $0 * 1e-6 } : nil
    }

    /// Whether systemd listens.
    var isThere: Bool { socket != nil }

    /// Everything runs.
    func ready() { say("READY=1") }

    /// The end has begun.
    func stopping() { say("STOPPING=1") }

    /// What `systemctl status` shows.
    func status(_ text: String) { say("STATUS=\(text)") }

    /// A watchdog that is fed with progress, for one thread; nil when systemd asked for none.
    var feeder: WatchdogFeeder? {
        patience.map { patience in
            WatchdogFeeder(patience: patience) { say("WATCHDOG=1") }
        }
    }

    /// Who is not there to hear it is no reason to fail.
    private func say(_ text: String) {
        guard let socket else { return }
        _ = cl_notify(socket, text)
    }
}

/// Tells the watchdog of progress, and of nothing else: a loop or a bus that hangs is not hidden by
/// a timer that runs.
struct WatchdogFeeder: Sendable {
    /// What must go on.
    struct Progress: Equatable, Sendable {
        /// Ticks of the loop.
        var ticks: UInt64
        /// Periods of the bus thread.
        var periods: UInt64
    }

    private let patience: Double
    private let feed: @Sendable () -> Void
    private var seen: Progress?
    private var fed: Double?

    /// - Parameters:
    ///   - patience: Of the watchdog, s.
    ///   - feed: Tells it.
    init(patience: Double, feed: @escaping @Sendable () -> Void) {
        self.patience = patience
        self.feed = feed
    }

    /// Call often. Feeds at a quarter of the patience, if loop and bus have both gone on since the
    /// last time.
    ///
    /// - Parameters:
    ///   - progress: Of now.
    ///   - now: Seconds, on any clock that goes on.
    mutating func look(at progress: Progress, now: Double) {
        if let fed, now - fed < patience / 4 { return }
        defer { seen = progress }
        guard let seen else { return }
        guard progress.ticks != seen.ticks, progress.periods != seen.periods else { return }
        fed = now
        feed()
    }
}
