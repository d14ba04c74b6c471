/// Faults that take a moment to be believed, and those that stay until somebody resets them.
///
/// Loop thread only; constant time, no allocation.
struct FaultLatch: Sendable, BitwiseCopyable {
    /// What one period has shown.
    struct Evidence: Sendable, BitwiseCopyable {
        /// Whether the outputs are on.
        var isEnabled: Bool
        /// The joints that answer the wrong way round.
        var reversed: AxisSet
        /// The motors that are at their limit.
        var saturated: AxisSet
        /// Camera's rate, rad/s.
        var rate: Double
        /// Angle between camera and set-point, rad.
        var error: Double
        /// What whoever runs the loop knows to be wrong.
        var external: Conditions

        @_noLocks
        init(
            isEnabled: Bool, reversed: AxisSet, saturated: AxisSet, rate: Double, error: Double,
            external: Conditions
        ) {
            self.isEnabled = isEnabled
            self.reversed = reversed
            self.saturated = saturated
            self.rate = rate
            self.error = error
            self.external = external
        }
    }

    /// What holds, latched or not.
    private(set) var conditions: Conditions = .none
    /// The joints that answered the wrong way round, latched.
    private(set) var reversed = AxisSet.none
    /// The motors that have been at their limit in vain.
    private(set) var stalled = AxisSet.none

    private var latched: Conditions = .none
    private var stuck = 0.0

    /// How long a motor may be at its limit in vain, s.
    private static var stallSeconds: Double { @_noLocks get { 3 } }
    /// A joint that is held turns the camera by less than this, rad/s.
    private static var stillRate: Double { @_noLocks get { 5 * .pi / 180 } }
    /// An error that a motor at its limit should have taken out, rad.
    private static var stallError: Double { @_noLocks get { 2 * .pi / 180 } }

    @_noLocks
    init() {}

    /// Somebody has looked: what was latched is forgotten.
    @_noLocks
    mutating func reset() {
        latched = .none
        reversed = .none
    }

    /// The controllers have made an output that no motor may be given.
    @_noLocks
    mutating func noteUnsoundOutput() { latched.insert(.controlFault) }

    /// One period.
    @_noLocks
    mutating func step(_ seen: Evidence, dt: Double) {
        let isBlocked =
            seen.isEnabled && !seen.saturated.isEmpty && seen.rate < Self.stillRate
            && seen.error > Self.stallError
        stuck = isBlocked ? stuck + dt : 0
        if seen.isEnabled { reversed.insert(seen.reversed) }
        if seen.external.intersects(.loopUnreliable) { latched.insert(.loopUnreliable) }
        conditions = latched
        stalled = stuck > Self.stallSeconds ? seen.saturated : .none
    }
}
