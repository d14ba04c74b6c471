import Glibc
import PlainText

/// Linear or logarithmic axis of a chart. The axis converts values to pixels, and finds round
/// values for the ticks.
struct Axis {
    var range: ClosedRange<Double>
    /// Pixel positions of the ends of the axis's range.
    var start: Double
    var end: Double
    /// Distance between ticks, in the unit of the axis: 1, 2 or 5 times a power of ten, or a round
    /// fraction of 360°.
    let step: Double
    /// True if the axis is logarithmic.
    let isLogarithmic: Bool

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - range: Range of the values; its ends must differ.
    ///   - start: Pixel position of the range's lower end.
    ///   - end: Pixel position of the range's upper end.
    ///   - marks: Approximate number of ticks.
    ///   - isLogarithmic: True if the axis is logarithmic; the range must then be above zero.
    init(
        range: ClosedRange<Double>, start: Double, end: Double, marks: Int,
        isLogarithmic: Bool = false
    ) {
        self.range = range
        self.isLogarithmic = isLogarithmic && range.lowerBound > 0
        self.start = start
        self.end = end
        step = Self.roundStep((range.upperBound - range.lowerBound) / Double(max(marks, 1)))
    }

    /// Converts a value to its pixel position.
    func position(_ value: Double) -> Double {
        if isLogarithmic {
            let span = log(range.upperBound / range.lowerBound)
            return start + log(max(value, 1e-300) / range.lowerBound) / span * (end - start)
        }
        let share = (value - range.lowerBound) / (range.upperBound - range.lowerBound)
        return start + share * (end - start)
    }

    /// The tick values within the range, in ascending order.
    var marks: [Double] {
        var result: [Double] = []
        if isLogarithmic {
            // Ticks of a logarithmic axis are at 1, 2 and 5 times every power of ten.
            var decade = pow(10, floor(log10(range.lowerBound)))
            while decade <= range.upperBound, result.count < 100 {
                result += [1, 2, 5].map { $0 * decade }.filter(range.contains)
                decade *= 10
            }
            return result
        }
        var index = (range.lowerBound / step).rounded(.up)
        while index * step <= range.upperBound, result.count < 100 {
            result.append(index * step)
            index += 1
        }
        return result
    }

    /// Label of a tick, with as many decimals as the tick spacing needs.
    func text(_ value: Double) -> String {
        if isLogarithmic { return Format.plain((value * 1e6).rounded() / 1e6) }
        var decimals = 0
        var scaled = step
        while decimals < 9, abs(scaled - scaled.rounded()) > 1e-6 * scaled {
            decimals += 1
            scaled *= 10
        }
        return Format.fixed(value, decimals)
    }

    /// Compute the smallest step that is at least `raw`: 1, 2 or 5 times a power of ten. Above 20,
    /// the function prefers fractions of 360, which suit angles in degrees.
    private static func roundStep(_ raw: Double) -> Double {
        guard raw > 0, raw.isFinite else { return 1 }
        if let share = [30.0, 45, 60, 90].first(where: { $0 >= raw }), raw > 20 { return share }
        var power = 1.0
        while power > raw { power /= 10 }
        while power * 10 <= raw { power *= 10 }
        let factor = [1.0, 2, 5].first { $0 * power >= raw * (1 - 1e-9) } ?? 10
        return factor * power
    }
}
