/// The gains in force, after all factors, and the stability margins of the loops.
public struct ControlStatus: Hashable, Sendable, Codable {
    /// Values of the controller, in the order of display.
    public var gains: [GainStatus] = []
    /// Largest stable increase of the gain on each axis; unknown without a model.
    public var gainMarginDb = AxisNumbers()
    /// Largest stable decrease of the gain on each axis.
    public var gainMarginDownDb = AxisNumbers()
    /// Phase margin of each axis.
    public var phaseMarginDeg = AxisNumbers()
    /// Problems as text for a person; empty if there are none.
    public var warnings: [String] = []

    /// Creates a status of the controller whose values are unknown.
    public init() {}
}

/// One gain on all three axes.
public struct GainStatus: Hashable, Sendable, Codable {
    /// Name, such as "attitude gain" or "rate gain".
    public var name: String
    /// Unit, empty for a number without a unit.
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
