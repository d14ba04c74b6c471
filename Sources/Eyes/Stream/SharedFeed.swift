import Glibc
import Synchronization

/// Access to the current video feed for threads other than its owner. The owner can replace the
/// feed only while no other thread uses it.
final class SharedFeed: Sendable {
    private let state = Mutex<(feed: Feed?, uses: Int)>((nil, 0))

    /// Replaces the feed. This method waits until no thread uses the previous feed.
    func replace(_ feed: Feed?) {
        state.withLock { $0.feed = feed }
        // Each use of the feed ends within 50 ms.
        while state.withLock({ $0.uses > 0 }) { usleep(1000) }
    }

    /// Calls `body` with the current feed.
    ///
    /// - Returns: The result of `body`; nil if there is no feed.
    func withFeed<Result>(_ body: (Feed) -> Result) -> Result? {
        let feed = state.withLock { state in
            if state.feed != nil { state.uses += 1 }
            return state.feed
        }
        guard let feed else { return nil }
        defer { state.withLock { $0.uses -= 1 } }
        return body(feed)
    }
}
