/// Scale factor for the voltages of motors whose torque is proportional to their supply voltage.
/// With the factor, the torque does not change with the supply voltage. The current time is a
/// parameter; this type does not read a clock.
public struct SupplyScale: Sendable, BitwiseCopyable {
    /// Scale factor for the fraction of the supply voltage that a motor receives, 0.5...1.5; 1
    /// without a measured voltage.
    public private(set) var factor = 1.0

    private let nominal: Double
    private var last: Instant?

    /// Time constant of the smoothing, s: the current of a motor lowers the voltage briefly, and
    /// the correction must not follow these short drops.
    private static var smoothing: Double { 1 }
    /// Bounds of the factor.
    private static var bounds: (Double, Double) { (0.5, 1.5) }

    /// Creates a scale.
    ///
    /// - Parameter nominal: Supply voltage at which the factor is 1, V; 0 disables the scaling.
    public init(nominal: Double) { self.nominal = nominal }

    /// Moves the factor towards the nominal voltage divided by the measured voltage.
    ///
    /// - Parameters:
    ///   - measured: Supply voltage, V. NaN and 0 mean that the voltage is unknown; the factor then
    ///     returns to 1.
    ///   - now: Present time.
    public mutating func step(voltage measured: Double, now: Instant) {
        let dt = last.map { min(max(now.seconds(since: $0), 0), 1) } ?? 0
        last = now
        var goal = 1.0
        if nominal > 0, measured.isFinite, measured > 0 {
            goal = min(max(nominal / measured, Self.bounds.0), Self.bounds.1)
        }
        factor += (goal - factor) * (dt / (Self.smoothing + dt))
    }
}
