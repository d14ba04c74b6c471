public import GimbalCore

/// Camera's attitude over the last 1.5 s. A program that examines pictures can request the attitude
/// at the exposure time of a picture. The initializer reserves the memory for all entries.
public struct AttitudeHistory: Sendable {
    /// Reason why an attitude is not known.
    public enum Gap: Error, Sendable, Equatable {
        /// The requested time is before the oldest stored entry.
        case tooEarly
        /// The requested time is later than the newest entry by more than `reach`.
        case tooLate
    }

    private struct Entry {
        var time: Instant
        var attitude: Quaternion
        var rate: Vector3
    }

    /// Smallest interval between two entries, s.
    private static let interval = 0.002
    /// Largest number of entries; at the smallest interval, they cover 1.5 s.
    private static let capacity = 750
    /// Longest time after the newest entry for which the attitude is predicted from the rate, s.
    public static let reach = 0.05

    /// Entries as a ring; the oldest is at `oldest` when the ring is full.
    private var entries: [Entry] = []
    private var oldest = 0

    /// Creates a history without entries.
    public init() { entries.reserveCapacity(Self.capacity) }

    /// Adds an attitude, unless the newest entry is less than `interval` old. If the time is
    /// earlier than that of the newest entry, a new history begins.
    ///
    /// - Parameters:
    ///   - attitude: Attitude, body to earth.
    ///   - rate: Rate, body frame, rad/s.
    ///   - time: Time of the attitude, on the loop's clock.
    public mutating func note(_ attitude: Quaternion, rate: Vector3, time: Instant) {
        if let newest {
            let since = time.seconds(since: newest.time)
            if since < 0 {
                entries.removeAll(keepingCapacity: true)
                oldest = 0
            } else if since < Self.interval {
                return
            }
        }
        let entry = Entry(time: time, attitude: attitude, rate: rate)
        if entries.count < Self.capacity {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.capacity
        }
    }

    /// The attitude at the given time. Between two entries, the angular rate is assumed to be
    /// constant.
    ///
    /// - Parameter time: Time on the loop's clock.
    /// - Returns: The attitude, body to earth.
    /// - Throws: The reason why the attitude is not known.
    public func attitude(at time: Instant) throws(Gap) -> Quaternion {
        guard let newest else { throw .tooLate }
        let since = time.seconds(since: newest.time)
        if since >= 0 {
            guard since <= Self.reach else { throw .tooLate }
            return (newest.attitude * Quaternion(rotationVector: newest.rate * since)).normalized
        }
        // Search for the first entry after the requested time.
        var (low, high) = (0, entries.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if entry(middle).time < time { low = middle + 1 } else { high = middle }
        }
        let after = entry(low)
        guard low > 0 else {
            if after.time == time { return after.attitude }
            throw .tooEarly
        }
        let before = entry(low - 1)
        let share =
            time.seconds(since: before.time) / after.time.seconds(since: before.time)
        let turn = before.attitude.error(to: after.attitude)
        return (before.attitude * Quaternion(rotationVector: turn * share)).normalized
    }

    private var newest: Entry? { entries.isEmpty ? nil : entry(entries.count - 1) }

    private func entry(_ index: Int) -> Entry { entries[(oldest + index) % entries.count] }
}
