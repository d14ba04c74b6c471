/// What the motors were told in the last 64 periods, so that a model of a delayed motor can look
/// back.
///
/// Periods may differ in length: a loop that was held up has told its motors the same until it came
/// round again.
struct JointHistory: Sendable, BitwiseCopyable {
    private var ring: InlineArray<64, AxisVector>
    /// When each value was told, s after `clock` was zero.
    private var times: InlineArray<64, Double>
    private var next = 0
    /// When the newest value was told.
    private var clock = 0.0
    private var lastPeriod = 0.0

    /// As if zero had been commanded for ever.
    @_noLocks
    init() {
        ring = InlineArray(repeating: .zero)
        times = InlineArray(repeating: -.infinity)
    }

    /// As if `value` had been commanded for ever, rad.
    @_noLocks @_noAllocation
    mutating func fill(_ value: AxisVector) {
        var i = 0
        while i < 64 {
            ring[i] = value
            times[i] = -.infinity
            i += 1
        }
        clock = 0
        lastPeriod = 0
    }

    /// What is told now, `dt` seconds after the previous call.
    @_noLocks @_noAllocation
    mutating func append(_ value: AxisVector, dt: Double) {
        if lastPeriod > 0, dt > 2 * lastPeriod {
            put(ring[(next - 1) & 63], at: clock + dt - lastPeriod)
        }
        clock += dt
        lastPeriod = dt
        put(value, at: clock)
    }

    private mutating func put(_ value: AxisVector, at time: Double) {
        ring[next] = value
        times[next] = time
        next = (next + 1) & 63
    }

    /// The command of `age` seconds ago, interpolated, `dt` seconds after the newest; what is older
    /// than the memory is the oldest known. Mutating only because it is then read in place: the
    /// compiler copies all of it for a call that does not mutate.
    @_noLocks @_noAllocation
    mutating func value(age: Double, dt: Double) -> AxisVector {
        let time = clock + dt - age
        // Where it is if all periods were as long as this one, and from there to where it is.
        var back = Int(min(max(age / dt, 1), 62))
        while back > 1, times[(next - back) & 63] <= time { back -= 1 }
        while back < 63, times[(next - back) & 63] > time { back += 1 }
        let (older, newer) = ((next - back) & 63, (next - back + 1) & 63)
        let span = times[newer] - times[older]
        guard back > 1, span > 0, span.isFinite else { return ring[older] }
        let share = min(max((time - times[older]) / span, 0), 1)
        return ring[older] * (1 - share) + ring[newer] * share
    }
}
