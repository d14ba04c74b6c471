/// Small graphics made of text characters.
enum Gauges {
    private static let steps: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// Creates a sparkline: the last values as small columns, the newest at the right.
    ///
    /// - Parameters:
    ///   - values: Magnitudes; unknown values leave gaps.
    ///   - width: Width in characters.
    ///   - full: Value at which a column has its full height.
    /// - Returns: `width` characters.
    static func sparkline(_ values: some BidirectionalCollection<Double>, width: Int, full: Double)
        -> String
    {
        let shown = values.suffix(width)
        let columns = shown.map { value -> Character in
            guard value.isFinite else { return " " }
            guard full > 0 else { return steps[0] }
            let level = (value.magnitude / full * Double(steps.count)).rounded(.down)
            return steps[Int(min(max(level, 0), Double(steps.count - 1)))]
        }
        return String(repeating: " ", count: max(0, width - columns.count)) + String(columns)
    }

    /// Creates a bar from the middle to either side: `[      ████│          ]`.
    ///
    /// - Parameters:
    ///   - fraction: Length of the bar, -1...1. For a fraction outside -1...1, the bar is full and
    ///     ends with an arrowhead.
    ///   - width: Width in characters, odd, at least 5.
    /// - Returns: `width` characters.
    static func bar(_ fraction: Double, width: Int) -> String {
        let half = (width - 3) / 2
        guard fraction.isFinite else {
            return "[" + String(repeating: "·", count: half) + "│"
                + String(repeating: "·", count: half) + "]"
        }
        let length = Int((min(fraction.magnitude, 1) * Double(half)).rounded())
        let isOver = fraction.magnitude >= 0.999
        let fill = String(repeating: "█", count: length)
        let rest = String(repeating: " ", count: half - length)
        let empty = String(repeating: " ", count: half)
        if fraction < 0 {
            return "[" + rest + (isOver ? "◀" + fill.dropFirst() : fill) + "│" + empty + "]"
        }
        return "[" + empty + "│" + (isOver ? fill.dropLast() + "▶" : fill) + rest + "]"
    }

    /// Rounds up to 1, 2 or 5 times a power of ten, for a scale that rarely changes.
    static func roundedUp(_ value: Double, least: Double) -> Double {
        var scale = least
        let factors = [2, 2.5, 2]
        var index = 0
        while scale < value, scale < 1e6 {
            scale *= factors[index % 3]
            index += 1
        }
        return scale
    }
}
