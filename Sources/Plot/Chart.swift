/// Chart with one set of axes: lines and bands over a common abscissa, and shaded intervals behind
/// them.
public struct Chart: Sendable {
    /// Line of a chart, with an optional uncertainty band.
    public struct Line: Sendable {
        /// Name in the legend.
        public var name: String
        /// Colour as in SVG, for example `#0072b2`.
        public var color: String
        /// One value for each abscissa of the figure. An infinite or NaN value interrupts the line.
        public var values: [Double]
        /// Half the height of the band around the line, at each value; empty for no band.
        public var band: [Double]
        /// Difference of adjacent values that interrupts the line, for angles that wrap around.
        public var breaksAt: Double
        /// True if the range of the ordinate includes the whole line. Otherwise the line is clipped
        /// to the range of the other lines.
        public var setsRange: Bool
        /// True if the values are drawn as separate points instead of a line.
        public var isPoints: Bool

        /// Creates a line.
        ///
        /// - Parameters:
        ///   - name: Name in the legend.
        ///   - color: Colour as in SVG.
        ///   - values: One value for each abscissa.
        ///   - band: Half the height of the band at each value; empty for no band.
        ///   - breaksAt: Difference of adjacent values that interrupts the line; infinity means a
        ///     continuous line.
        ///   - setsRange: True if the range of the ordinate includes the whole line.
        ///   - isPoints: True if the values are drawn as separate points instead of a line.
        public init(
            _ name: String, color: String, values: [Double], band: [Double] = [],
            breaksAt: Double = .infinity, setsRange: Bool = true, isPoints: Bool = false
        ) {
            self.name = name
            self.color = color
            self.values = values
            self.band = band
            self.breaksAt = breaksAt
            self.setsRange = setsRange
            self.isPoints = isPoints
        }
    }

    /// Shaded intervals of the abscissa where a condition is true.
    public struct Shade: Sendable {
        /// Name in the legend.
        public var name: String
        /// Colour as in SVG.
        public var color: String
        /// Condition at each abscissa of the figure; true if the condition is fulfilled.
        public var holds: [Bool]

        /// Creates shaded intervals.
        ///
        /// - Parameters:
        ///   - name: Name in the legend; omitted from the legend if no interval exists.
        ///   - color: Colour as in SVG.
        ///   - holds: Condition at each abscissa; true if the condition is fulfilled.
        public init(_ name: String, color: String, holds: [Bool]) {
            self.name = name
            self.color = color
            self.holds = holds
        }
    }

    /// Title above the axes.
    public var title: String
    /// Name of the ordinate, with its unit.
    public var label: String
    /// Lines, in the order of drawing.
    public var lines: [Line]
    /// Shaded intervals behind the lines.
    public var shades: [Shade]
    /// Range that the ordinate always includes.
    public var least: ClosedRange<Double>?

    /// Creates a chart.
    ///
    /// - Parameters:
    ///   - title: Title above the axes.
    ///   - label: Name of the ordinate, with its unit.
    ///   - lines: Lines to draw.
    ///   - shades: Shaded intervals.
    ///   - least: Range that the ordinate always includes.
    public init(
        title: String, label: String, lines: [Line], shades: [Shade] = [],
        least: ClosedRange<Double>? = nil
    ) {
        self.title = title
        self.label = label
        self.lines = lines
        self.shades = shades
        self.least = least
    }

    /// Range of the ordinate: the range of the drawn values, with a margin. The widest 10 % of a
    /// band's values do not affect the range. Otherwise a large initial uncertainty would flatten
    /// the rest of the curve.
    var range: ClosedRange<Double> {
        var low = least?.lowerBound ?? .infinity
        var high = least?.upperBound ?? -.infinity
        for line in lines where line.setsRange {
            let widths = line.band.filter { $0.isFinite }.sorted()
            let widest = widths.isEmpty ? 0 : widths[widths.count * 9 / 10]
            for (index, value) in line.values.enumerated() where value.isFinite {
                let half = index < line.band.count ? line.band[index] : 0
                let shown = half <= widest ? half : 0
                low = min(low, value - shown)
                high = max(high, value + shown)
            }
        }
        guard low <= high, (high - low).isFinite else { return -1...1 }
        let air = high > low ? 0.04 * (high - low) : max(abs(high), 1) * 0.5
        return (low - air)...(high + air)
    }
}
