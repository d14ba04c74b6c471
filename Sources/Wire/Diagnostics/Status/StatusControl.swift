/// Effective gains (with all factors), and the stability margins of the loops.
public struct ControlStatus: Hashable, Sendable, Codable {
    /// Gains of the controller, in the order of display.
    public var gains: [GainStatus] = []
    /// Upper gain margin of each axis, dB: largest increase of the gain that keeps the loop stable;
    /// unknown without a model of the loop.
    public var gainMarginDb = AxisNumbers()
    /// Lower gain margin of each axis, dB: largest decrease of the gain that keeps the loop stable.
    public var gainMarginDownDb = AxisNumbers()
    /// Phase margin of each axis, degrees.
    public var phaseMarginDeg = AxisNumbers()
    /// Problems of the tuning, as text for the user; empty if there are none.
    public var warnings: [String] = []

    /// Creates a status of the controller with unknown values.
    public init() {}
}

/// One gain of the controller, with its value on each of the three axes.
public struct GainStatus: Hashable, Sendable, Codable {
    /// Name of the gain, such as "attitude gain" or "rate gain".
    public var name: String
    /// Unit of the gain; empty without a unit.
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
