import GimbalCore
import Port

/// Series of photos at regular intervals; a ground station starts it with
/// MAV_CMD_IMAGE_START_CAPTURE. The type reads no clock; callers pass the time as an argument.
struct PhotoSeries: Equatable {
    /// Permitted intervals between photos, s. airframed sends at most four commands per second to
    /// airframe-eyes.
    static let intervals = 0.5...86_400.0

    /// Interval between photos, s.
    let interval: Double
    /// Number of photos that are still to be taken; nil if the series runs until it is stopped.
    private(set) var remaining: Int?
    /// Source that has started the series.
    let source: CommandSource
    private var due: Instant

    /// Creates a series whose first photo is due at `now`; nil if the interval or the number of photos
    /// is outside its range.
    ///
    /// - Parameters:
    ///   - interval: Interval between photos, s.
    ///   - count: Number of photos; 0 means that the series runs until it is stopped.
    ///   - source: Source that starts the series.
    ///   - now: Present time.
    init?(interval: Float, count: Float, from source: CommandSource, now: Instant) {
        guard Self.intervals.contains(Double(interval)), (0...1e6).contains(count) else {
            return nil
        }
        self.interval = Double(interval)
        remaining = count == 0 ? nil : Int(count)
        self.source = source
        due = now
    }

    /// True if all photos have been taken.
    var isComplete: Bool { remaining == 0 }

    /// Counts one photo as taken if a photo is due, and schedules the next photo. After a delay of
    /// more than one interval, only one photo is due; the next photo is due one interval later.
    ///
    /// - Returns: True if a photo is due at `now`.
    mutating func takeDue(now: Instant) -> Bool {
        guard !isComplete, now >= due else { return false }
        remaining = remaining.map { $0 - 1 }
        let next = due.advanced(bySeconds: interval)
        due = next > now ? next : now.advanced(bySeconds: interval)
        return true
    }
}
