/// The active gains after all scaling, and the distance of the loops from
/// instability.
public struct ControlStatus: Hashable, Sendable, Codable {
    /// Values of the controller, in the order of display.
    public var gains: [GainStatus] = []
    /// Gain margin upwards, until the loop oscillates; unknown without a model.
    public var gainMarginDb = AxisNumbers()
    /// Gain margin downwards.
    public var gainMarginDownDb = AxisNumbers()
    /// Phase margin.
    public var phaseMarginDeg = AxisNumbers()
    /// Problems, for a person; empty if there are none.
    public var warnings: [String] = []

    /// Creates a controller without known values.
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

    /// Creates a gain.
    public init(_ name: String, unit: String, _ values: AxisNumbers) {
        self.name = name
        self.unit = unit
        self.values = values
    }
}
