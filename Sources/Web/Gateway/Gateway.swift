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
    /// Largest number of open pages.
    private let limit: Int
    private let tabs = Mutex<[UInt64: (session: WebSession, browser: String?)]>([:])
    private let beats = Mutex(0)

    init(path: String, limit: Int) {
        self.path = path
        self.limit = limit
    }

    /// Number of open pages.
    var count: Int { tabs.withLock { $0.count } }

    /// Reason why a further page is refused.
    var refusal: String { "All \(limit) pages are open, which is the maximum; close a page." }

    /// True if a further page can open. The page of a paired browser can replace a page of a browser
    /// that is not paired.
    func admits(isPaired: Bool) -> Bool {
        tabs.withLock { tabs in
            tabs.count < limit || isPaired && tabs.values.contains { $0.browser == nil }
        }
    }

    /// Adds a page. If too many pages are open, the page of a paired browser replaces the oldest page
    /// of a browser that is not paired.
    ///
    /// - Returns: True if the page was added; false if it must be closed.
    func add(_ session: WebSession, browser: String?) -> Bool {
        let (isAdded, replaced) = tabs.withLock { tabs -> (Bool, WebSession?) in
            var replaced: WebSession?
            if tabs.count >= limit {
                let unpaired = tabs.filter { $0.value.browser == nil }.keys
                guard browser != nil, let oldest = unpaired.min() else { return (false, nil) }
                replaced = tabs.removeValue(forKey: oldest)?.session
            }
            tabs[session.id] = (session, browser)
            return (true, replaced)
        }
        replaced?.close(
            code: 1013,
            reason:
                "Too many pages are open, and a page of a paired browser has replaced this page.")
        return isAdded
    }

    func remove(_ session: WebSession) { tabs.withLock { _ = $0.removeValue(forKey: session.id) } }

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
