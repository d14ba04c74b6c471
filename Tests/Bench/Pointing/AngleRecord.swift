/// Record of one true camera angle over a run, in degrees at 1 kHz, with its statistics.
struct AngleRecord {
    private var values: [Double] = []

    /// Samples per second.
    static let rate = 1000

    /// Number of samples in the record.
    var count: Int { values.count }

    mutating func append(_ degrees: Double) { values.append(degrees) }

    /// Mean of the angle over the run. An uncalibrated accelerometer causes a nonzero mean.
    var mean: Double { Self.mean(values[...]) }

    /// Root mean square of the angle.
    var rms: Double { Self.rms(values[...], about: 0) }

    /// Root mean square of the angle's deviation from `centre`.
    func rms(about centre: Double) -> Double { Self.rms(values[...], about: centre) }

    /// RMS of the angle's deviation from its mean; a separate mean is computed for each 10 s of the
    /// run.
    var jitter: Double {
        let window = 10 * Self.rate
        var sum = 0.0
        var windows = 0.0
        var start = 0
        while start + window <= values.count {
            let part = values[start..<(start + window)]
            let rms = Self.rms(part, about: Self.mean(part))
            sum += rms * rms
            windows += 1
            start += window
        }
        return windows > 0 ? (sum / windows).squareRoot() : .nan
    }

    /// RMS of the angle after a second-order Butterworth high-pass at 1 Hz. The first 2 s are
    /// ignored, because the filter is still settling.
    var shake: Double {
        let quick = quick
        return quick.isEmpty ? .nan : Self.rms(quick[...], about: 0)
    }

    /// Peak-to-peak value of the angle above 1 Hz in the worst 10 s: twice the ± value in gimbal
    /// manufacturers' specifications. The last part of the run is evaluated if it is at least 5 s
    /// long.
    var peakToPeak: Double {
        let quick = quick
        let window = 10 * Self.rate
        var worst = Double.nan
        var start = 0
        while start < quick.count, start == 0 || quick.count - start >= window / 2 {
            let part = quick[start..<min(start + window, quick.count)]
            guard let least = part.min(), let most = part.max() else { break }
            worst = worst.isNaN ? most - least : max(worst, most - least)
            start += window
        }
        return worst
    }

    /// Largest magnitude of the angle.
    var largest: Double { values.reduce(0) { max($0, abs($1)) } }

    /// The part of the angle above 1 Hz, without the first 2 s; empty if the record is too short.
    private var quick: [Double] {
        guard let first = values.first, values.count > 3 * Self.rate else { return [] }
        let k = Double.pi / Double(Self.rate)
        let root = 2.0.squareRoot()
        let n = 1 / (1 + root * k + k * k)
        var (x1, x2, y1, y2) = (first, first, 0.0, 0.0)
        var result: [Double] = []
        result.reserveCapacity(values.count)
        for (i, x) in values.enumerated() {
            let y =
                n * (x - 2 * x1 + x2)
                - n * (2 * (k * k - 1) * y1 + (1 - root * k + k * k) * y2)
            (x2, x1, y2, y1) = (x1, x, y1, y)
            if i >= 2 * Self.rate { result.append(y) }
        }
        return result
    }

    private static func mean(_ part: ArraySlice<Double>) -> Double {
        part.reduce(0, +) / Double(max(part.count, 1))
    }

    private static func rms(_ part: ArraySlice<Double>, about centre: Double) -> Double {
        let sum = part.reduce(0) { $0 + ($1 - centre) * ($1 - centre) }
        return (sum / Double(max(part.count, 1))).squareRoot()
    }
}
