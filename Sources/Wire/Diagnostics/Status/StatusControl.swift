/// Effective gains, including all factors, and the stability margins of the loops.
public struct ControlStatus: Hashable, Sendable, Codable {
    /// Gains of the controller, in the order of display.
    public var gains: [GainStatus] = []
    /// Largest increase of each axis's gain before the loop becomes unstable, dB; unknown if there
    /// is no model of the loop.
    public var gainMarginDb = AxisNumbers()
    /// Largest decrease of each axis's gain before the loop becomes unstable, dB.
    public var gainMarginDownDb = AxisNumbers()
    /// Phase margin of each axis, degrees.
    public var phaseMarginDeg = AxisNumbers()
    /// Problems of the tuning, as text for the user; empty if there are none.
    public var warnings: [String] = []

    /// Creates a status of the controller whose values are unknown.
    public init() {}
}

/// One gain of the controller, with its value on each of the three axes.
public struct GainStatus: Hashable, Sendable, Codable {
    /// Name of the gain, such as "attitude gain" or "rate gain".
    public var name: String
    /// Unit of the gain, empty for a number without a unit.
    public var unit: String
    /// Effective value of the gain on each axis.
    public var values: AxisNumbers

    /// Creates a gain.
    public init(_ name: String, unit: String, _ values: AxisNumbers) {
        self.name = name
        self.unit = unit
        self.values = values
    }
}
