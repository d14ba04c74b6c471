/// The last 64 values of each joint or axis, for example motor commands. Delayed values are
/// interpolated.
///
/// Control periods can differ in length. If a tick is late, the previous value remains valid until
/// this tick.
struct JointHistory: Sendable, BitwiseCopyable {
    private var ring: InlineArray<64, AxisVector>
    /// Time of each value on the history's own clock, s.
    private var times: InlineArray<64, Double>
    private var next = 0
    /// Time of the newest value, s.
    private var clock = 0.0
    private var lastPeriod = 0.0
    /// Shortest time between two stored values, s; 0 to store the value of every period.
    private let spacing: Double

    /// Bits of an index of the rings, which have 64 elements.
    private static var mask: Int { @_noLocks @_noAllocation get { 63 } }

    /// Creates a history of zeros. With a `spacing`, s, the history of a fast loop becomes longer:
    /// between two stored values, only the newest value is kept.
    @_noLocks
    init(spacing: Double = 0) {
        self.spacing = spacing
        ring = InlineArray(repeating: .zero)
        times = InlineArray(repeating: -.infinity)
    }

    /// Fills the history with one value.
    @_noLocks @_noAllocation
    mutating func fill(_ value: AxisVector) {
        var i = 0
        while i <= Self.mask {
            ring[i] = value
            times[i] = -.infinity
            i += 1
        }
        clock = 0
        lastPeriod = 0
    }

    /// Number of stored values that must cover the age of `append`.
    private static var covering: Double { @_noLocks @_noAllocation get { 60 } }

    /// Adds the current value, `dt` seconds after the previous call. If the loop is too fast for the
    /// history to contain the value of `age` seconds ago, fewer values are stored.
    @_noLocks @_noAllocation
    mutating func append(_ value: AxisVector, dt: Double, covering age: Double = 0) {
        let needed = age > Self.covering * dt ? age / Self.covering : 0
        let spacing = max(self.spacing, needed)
        if lastPeriod > 0, dt > 2 * lastPeriod {
            put(ring[(next - 1) & Self.mask], at: clock + dt - lastPeriod, spacing)
        }
        clock += dt
        lastPeriod = dt
        put(value, at: clock, spacing)
    }

    private mutating func put(_ value: AxisVector, at time: Double, _ spacing: Double) {
        let (newest, older) = ((next - 1) & Self.mask, (next - 2) & Self.mask)
        if times[newest] - times[older] < spacing { next = newest }
        ring[next] = value
        times[next] = time
        next = (next + 1) & Self.mask
    }

    /// Spacing for the delays of servos, s: at any loop rate, the history contains at least 78 ms.
    static var servoSpacing: Double { @_noLocks @_noAllocation get { 0.00125 } }

    /// Interpolated value `age` seconds before the current tick. The newest value is `dt` seconds
    /// old. If `age` exceeds the stored history, the result is the oldest value. The method is
    /// mutating only for speed, because the compiler copies the whole history for a non-mutating
    /// call.
    @_noLocks @_noAllocation
    mutating func value(age: Double, dt: Double) -> AxisVector {
        let time = clock + dt - age
        // The search starts at the index that is correct for periods of equal length.
        var back = Int(min(max(age / dt, 1), Double(Self.mask - 1)))
        while back > 1, times[(next - back) & Self.mask] <= time { back -= 1 }
        while back < Self.mask, times[(next - back) & Self.mask] > time { back += 1 }
        let (older, newer) = ((next - back) & Self.mask, (next - back + 1) & Self.mask)
        let span = times[newer] - times[older]
        guard back > 1, span > 0, span.isFinite else { return ring[older] }
        let share = min(max((time - times[older]) / span, 0), 1)
        return ring[older] * (1 - share) + ring[newer] * share
    }
}
