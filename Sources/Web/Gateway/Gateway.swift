import NIOCore
import NIOPosix
import Synchronization
import WebServing

/// Manager of the connections to airframed, one for each open page, on one event-loop thread. The
/// class is thread-safe.
///
/// Each page has its own connection, so the daemon's rules for clients apply to each page. Only one
/// page is in control. When the connection of the page in control ends, the camera stops. A page
/// without write access has a read-only connection.
final class Gateway: Sendable {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// Path of the daemon's socket.
    let path: String
    private let tabs = Mutex<[UInt64: (session: WebSession, browser: String?)]>([:])
    private let beats = Mutex(0)

    init(path: String) { self.path = path }

    /// Number of open pages.
    var count: Int { tabs.withLock { $0.count } }

    /// True if a page of a browser that is not paired is open.
    var hasUnpaired: Bool { tabs.withLock { $0.values.contains { $0.browser == nil } } }

    func add(_ session: WebSession, browser: String?) {
        tabs.withLock { $0[session.id] = (session, browser) }
    }

    func remove(_ session: WebSession) { tabs.withLock { _ = $0.removeValue(forKey: session.id) } }

    /// Closes the oldest page of a browser that is not paired, so that a paired browser can connect.
    ///
    /// - Returns: True if there was such a page.
    func endOldestUnpaired() -> Bool {
        let oldest = tabs.withLock { tabs -> WebSession? in
            let id = tabs.filter { $0.value.browser == nil }.keys.min()
            return id.flatMap { tabs.removeValue(forKey: $0)?.session }
        }
        oldest?.close(
            code: 1013,
            reason:
                "Too many pages are open, and a page of a paired browser has replaced this page.")
        return oldest != nil
    }

    /// Closes the pages of all browsers that are no longer paired.
    ///
    /// - Parameter ids: IDs of the paired browsers.
    func keepOnly(_ ids: Set<String>) {
        let ended = tabs.withLock { tabs in
            tabs.values.filter { $0.browser.map { !ids.contains($0) } ?? false }.map(\.session)
        }
        for session in ended { session.close(code: 4001, reason: "The pairing has ended.") }
    }

    /// Progress counter of the event-loop thread. Each call makes the thread increment the counter.
    /// The counter stays constant if the thread hangs.
    func beat() -> Int {
        group.next().execute { [self] in beats.withLock { $0 += 1 } }
        return beats.withLock { $0 }
    }

    func stop() { try? group.syncShutdownGracefully() }
}
