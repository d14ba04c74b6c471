/// The joint commands of the last 64 periods, so that a model of a delayed servo can look back.
struct JointHistory: Sendable, BitwiseCopyable {
    private var ring: InlineArray<64, AxisVector>
    private var next = 0

    /// As if zero had been commanded for ever.
    @_noLocks
    init() { ring = InlineArray(repeating: .zero) }

    /// As if `value` had been commanded for ever, rad.
    @_noLocks @_noAllocation
    mutating func fill(_ value: AxisVector) {
        var i = 0
        while i < 64 {
            ring[i] = value
            i += 1
        }
    }

    @_noLocks @_noAllocation
    mutating func append(_ value: AxisVector) {
        ring[next] = value
        next = (next + 1) & 63
    }

    /// The command of `age` seconds ago, interpolated; what is older than the memory is the oldest known.
    @_noLocks @_noAllocation
    func value(age: Double, dt: Double) -> AxisVector {
        let periods = min(max(age / dt, 1), 62)
        let whole = Int(periods)
        let share = periods - Double(whole)
        let newer = ring[(next - whole) & 63]
        let older = ring[(next - whole - 1) & 63]
        return newer * (1 - share) + older * share
    }
}
