/// The gains in force after everything that scales them, and how far the loops are from
/// instability.
public struct ControlStatus: Hashable, Sendable, Codable {
    /// What the controller works with, in the order in which it is read.
    public var gains: [GainStatus] = []
    /// How much the gain may rise until the loop oscillates; unknown where no model is at hand.
    public var gainMarginDb = AxisNumbers()
    /// How much it may fall.
    public var gainMarginDownDb = AxisNumbers()
    /// Phase margin.
    public var phaseMarginDeg = AxisNumbers()
    /// What is not as it should be, for a person; empty when all is well.
    public var warnings: [String] = []

    enum CodingKeys: String, CodingKey {
        case gains, warnings
        case gainMarginDb = "gain_margin_db"
        case gainMarginDownDb = "gain_margin_down_db"
        case phaseMarginDeg = "phase_margin_deg"
    }

    /// A controller of which nothing is known.
    public init() {}
}

/// One gain on all three axes.
public struct GainStatus: Hashable, Sendable, Codable {
    /// "attitude gain", "rate gain", …
    public var name: String
    /// Unit, empty for pure numbers.
    public var unit: String
    /// The effective values.
    public var values: AxisNumbers

    /// A gain with these values.
    public init(_ name: String, unit: String, _ values: AxisNumbers) {
        self.name = name
        self.unit = unit
        self.values = values
    }
}
