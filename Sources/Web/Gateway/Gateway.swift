import NIOCore
import NIOPosix
import Synchronization
import WebServing

/// Connections to airframed, one for each open page, on one event-loop thread. Thread-safe.
///
/// Each page has its own connection, so the daemon's rules for connections apply to pages: control
/// belongs to one of them, a turn ends when the connection ends, and a page that can only read has a
/// connection that can only read.
final class Gateway: Sendable {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// Path of the daemon's socket.
    let path: String
    private let tabs = Mutex<[UInt64: (session: WebSession, browser: String?)]>([:])
    private let beats = Mutex(0)

    init(path: String) { self.path = path }

    /// Number of open pages.
    var count: Int { tabs.withLock { $0.count } }

    func add(_ session: WebSession, browser: String?) {
        tabs.withLock { $0[session.id] = (session, browser) }
    }

    func remove(_ session: WebSession) { tabs.withLock { _ = $0.removeValue(forKey: session.id) } }

    /// Closes the pages of browsers that are no longer paired.
    ///
    /// - Parameter ids: The paired browsers.
    func keepOnly(_ ids: Set<String>) {
        let ended = tabs.withLock { tabs in
            tabs.values.filter { $0.browser.map { !ids.contains($0) } ?? false }.map(\.session)
        }
        for session in ended { session.close(code: 4001, reason: "The pairing has ended.") }
    }

    /// Number of answers of the event-loop thread to this question; it grows while the thread runs.
    func beat() -> Int {
        group.next().execute { [self] in beats.withLock { $0 += 1 } }
        return beats.withLock { $0 }
    }

    func stop() { try? group.syncShutdownGracefully() }
}
