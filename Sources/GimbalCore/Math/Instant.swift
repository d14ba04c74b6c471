/// A point in time: nanoseconds on a monotonic clock with an arbitrary zero. The module
/// `GimbalCore` never reads a clock; every time is an argument. Therefore a run with recorded or
/// simulated times is repeatable.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the clock's zero.
    public var nanoseconds: Int64

    /// Creates the instant `nanoseconds` after the clock's zero.
    @inlinable @_noLocks
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates the instant `seconds` after the clock's zero; `seconds` must be finite and within
    /// ±9e9.
    @inlinable @_noLocks
    public init(seconds: Double) { nanoseconds = Int64(seconds * 1e9) }

    /// True if `a` is earlier than `b`.
    @inlinable @_noLocks
    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Seconds from `earlier` until this instant; negative when `earlier` is later.
    @inlinable @_noLocks
    public func seconds(since earlier: Instant) -> Double {
        Double(nanoseconds &- earlier.nanoseconds) * 1e-9
    }

    /// The instant `seconds` later; `seconds` must be finite and within ±9e9.
    @inlinable @_noLocks
    public func advanced(bySeconds seconds: Double) -> Instant {
        Instant(nanoseconds: nanoseconds &+ Int64(seconds * 1e9))
    }
}
