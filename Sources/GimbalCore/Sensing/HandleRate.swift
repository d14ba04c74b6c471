/// Estimator of the handle's rate about the joint axes, from joint rates and camera rate.
struct HandleRate: Sendable, BitwiseCopyable {
    /// Low-passed difference of joint rates and camera rate, rad/s.
    private(set) var rate = AxisVector.zero
    /// `rate` after a second low-pass, rad/s. The difference `rate - past` is a measure of the lag
    /// of `rate`.
    private var past = AxisVector.zero
    /// Peak hold of the norm of `rate - past`, rad/s. The value decays slowly, because the handle's
    /// rate can soon change again.
    private(set) var wander = 0.0

    /// Time constant of `rate`, s: long enough to suppress an oscillation of the camera.
    private static var memory: Double { @_noLocks get { 0.012 } }
    /// Time constant of `wander`, s: the duration of a sudden movement of the hand.
    private static var wanderMemory: Double { @_noLocks get { 0.05 } }

    @_noLocks
    init() {}

    /// Updates the estimate with the handle's rate `shown` from one sample, rad/s. `dt` is the time
    /// since the previous sample, s.
    @_noLocks
    mutating func follow(_ shown: AxisVector, dt: Double) {
        let share = dt / (Self.memory + dt)
        rate = rate + (shown - rate) * share
        past = past + (rate - past) * share
        wander = max((rate - past).norm, wander * (1 - dt / (Self.wanderMemory + dt)))
    }
}
