internal import GimbalCore

/// Newest measurements of a second device, which are resampled to the gyroscope's sampling
/// instants.
struct IIOTrack: Sendable {
    private struct Point: BitwiseCopyable {
        var time = Instant(nanoseconds: 0)
        var value = Vector3.zero
    }

    private static let capacity = 32
    private var points = InlineArray<32, Point>(repeating: Point())
    private var count = 0
    private var newest = 0
    /// Maximum age of a measurement that is used, s.
    private let staleSeconds: Double

    /// Creates a track without measurements.
    ///
    /// - Parameter staleSeconds: Maximum age of a measurement that is used, s.
    init(staleSeconds: Double) { self.staleSeconds = staleSeconds }

    /// Removes all measurements.
    mutating func removeAll() { count = 0 }

    /// Adds a measurement. A measurement that is not newer than the last measurement is ignored.
    mutating func append(_ value: Vector3, time: Instant) {
        if count > 0, time <= points[newest].time { return }
        newest = (newest + 1) % Self.capacity
        points[newest] = Point(time: time, value: value)
        count = min(count + 1, Self.capacity)
    }

    /// Measurement at the given time: interpolated between two measurements, or extrapolated beyond
    /// the newest measurement. The extrapolation is limited to the interval between the last two
    /// measurements.
    ///
    /// - Returns: nil before the first measurement, or if the newest measurement is too old.
    func value(at time: Instant) -> Vector3? {
        guard count > 0 else { return nil }
        let last = points[newest]
        let beyond = time.seconds(since: last.time)
        guard beyond <= staleSeconds else { return nil }
        guard count > 1 else { return last.value }
        var (later, earlier) = (last, point(1))
        if beyond > 0 {
            let interval = later.time.seconds(since: earlier.time)
            let fraction = min(beyond / interval, 1)
            return later.value + (later.value - earlier.value) * fraction
        }
        var back = 1
        while time < earlier.time, back + 1 < count {
            back += 1
            (later, earlier) = (earlier, point(back))
        }
        if time <= earlier.time { return earlier.value }
        let interval = later.time.seconds(since: earlier.time)
        return earlier.value
            + (later.value - earlier.value) * (time.seconds(since: earlier.time) / interval)
    }

    /// Earlier measurement; `back` is 0 for the newest measurement, 1 for the previous one.
    private func point(_ back: Int) -> Point {
        points[(newest - back + Self.capacity) % Self.capacity]
    }
}
