/// Monitor that detects a feed without pictures, and schedules new attempts to open the camera. The
/// type has no side effects; its times are in ns on CLOCK_MONOTONIC.
struct FeedWatch: Sendable {
    /// Longest permitted time from the start of a feed to its first picture, ns. Camera modules
    /// need up to 2 s for the first picture.
    static let startLimit: Int64 = 5_000_000_000
    /// Longest permitted time between two pictures of a feed, ns. A timeout is necessary, because a
    /// disconnected cable does not always cause an error.
    static let silenceLimit: Int64 = 1_500_000_000
    /// Shortest and longest pause between two attempts to open a camera, ns.
    static let shortestPause: Int64 = 1_000_000_000
    static let longestPause: Int64 = 8_000_000_000
    /// Uptime after which a camera is considered stable, ns. After the loss of a stable camera, the
    /// next attempt follows after the shortest pause.
    static let stableAfter: Int64 = 10_000_000_000

    private var opened: Int64 = 0
    private var pause = shortestPause
    private var nextAttempt: Int64 = 0

    /// Records that the feed of a camera has been opened.
    mutating func open(now: Int64) { opened = now }

    /// True if a feed sends no pictures.
    ///
    /// - Parameters:
    ///   - newest: Time of the newest picture; 0 before the first picture.
    ///   - now: Current time.
    /// - Returns: True if the feed has sent no picture for longer than the limit.
    func isSilent(newest: Int64, now: Int64) -> Bool {
        newest == 0 ? now - opened > Self.startLimit : now - newest > Self.silenceLimit
    }

    /// Records the loss of the camera. The next attempt to open the camera follows after a pause.
    /// The pause doubles after each failed attempt, because an attempt interrupts the test picture.
    mutating func lose(now: Int64) {
        if now - opened > Self.stableAfter { pause = Self.shortestPause }
        nextAttempt = now + pause
        pause = min(2 * pause, Self.longestPause)
    }

    /// True if the supervisor must now try to open the camera. If a search finds no camera, the next
    /// search follows after the shortest pause, because a search is fast.
    mutating func isDue(now: Int64) -> Bool {
        guard now >= nextAttempt else { return false }
        nextAttempt = now + Self.shortestPause
        return true
    }
}
