import Glibc
import Synchronization

/// Present feed for a thread that does not own it. The owner replaces the feed only between two uses.
final class FeedShare: Sendable {
    private let state = Mutex<(feed: Feed?, uses: Int)>((nil, 0))

    /// Changes the feed. After this method has returned, the previous feed is not used any more. The
    /// method waits for the end of a present use.
    func replace(_ feed: Feed?) {
        state.withLock { $0.feed = feed }
        // A use ends within a twentieth of a second.
        while state.withLock({ $0.uses > 0 }) { usleep(1000) }
    }

    /// Calls `body` with the feed.
    ///
    /// - Returns: The result of `body`; nil without a feed.
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
