import GimbalCore
import Glibc
import Plot
import Recording

/// Plot of a replay's estimates over time: attitude, attitude error (if there is a reference),
/// bias, and weight of the accelerometer.
struct ReplayPlot {
    private let log: IMULog
    private let name: String
    private var rows: [AttitudeReplay.Row] = []

    private static let degrees = 180 / Double.pi
    private static let blue = "#0072b2"
    private static let orange = "#d55e00"
    private static let green = "#009e73"

    /// Creates a plot without rows.
    ///
    /// - Parameters:
    ///   - log: The replayed log.
    ///   - name: Title of the picture.
    init(log: IMULog, name: String) {
        self.log = log
        self.name = name
        rows.reserveCapacity(log.records.count)
    }

    /// Adds the estimate of the next record to the plot.
    mutating func append(_ row: AttitudeReplay.Row) { rows.append(row) }

    /// Creates the picture from all added rows.
    ///
    /// - Parameter remarks: Problems of the replay, for the second line of the heading.
    /// - Returns: The picture with three charts, or four charts if the log has a reference.
    func figure(remarks: [String] = []) -> Figure {
        let facts = ["\(rows.count) records", "\(Int(log.sampleRate.rounded())) Hz"] + remarks
        var charts = [attitude]
        if let error = inclinationError { charts.append(error) }
        charts += [bias, weight]
        return Figure(
            title: "Attitude estimate: \(name)", subtitle: facts.joined(separator: " · "),
            label: "time, s", abscissa: rows.map(\.time), charts: charts)
    }

    private var shades: [Chart.Shade] {
        [
            Chart.Shade("at rest", color: "#e4eef6", holds: rows.map(\.isAtRest)),
            Chart.Shade("gyroscope saturated", color: "#f4b6b0", holds: rows.map(\.isSaturated)),
            Chart.Shade("record not used", color: "#d9b3e6", holds: rows.map { !$0.isUsed }),
        ]
    }

    private var attitude: Chart {
        let angles = rows.map { EulerZXY.angles($0.attitude) }
        func line(_ name: String, _ color: String, _ axis: (AxisVector) -> Double) -> Chart.Line {
            // The line is interrupted where an angle wraps around at ±180°, because the camera does
            // not jump.
            Chart.Line(
                name, color: color, values: angles.map { axis($0) * Self.degrees }, breaksAt: 180)
        }
        return Chart(
            title: "Attitude, Euler angles in the order Z-X-Y", label: "angle, °",
            lines: [
                line("about z", Self.blue, \.yaw), line("about x", Self.orange, \.roll),
                line("about y", Self.green, \.pitch),
            ], shades: shades)
    }

    /// Chart of the inclination's error; nil if no record has a reference.
    private var inclinationError: Chart? {
        let up = Vector3(0, 0, 1)
        let errors = zip(rows, log.records).map { row, record in
            guard record.reference.isFinite else { return Double.nan }
            let reference = record.reference.normalized.inverseRotate(up)
            let sine = row.attitude.inverseRotate(up).cross(reference).norm
            return asin(min(1, sine)) * Self.degrees
        }
        guard errors.contains(where: \.isFinite) else { return nil }
        return Chart(
            title: "Inclination error relative to the log's reference", label: "error, °",
            lines: [
                Chart.Line(
                    "3 sigma of the estimate", color: "#999999",
                    values: rows.map { 3 * $0.inclinationSigma * Self.degrees }, setsRange: false),
                Chart.Line("error", color: Self.orange, values: errors),
            ], shades: shades, least: 0...1)
    }

    private var bias: Chart {
        func line(
            _ name: String, _ color: String, _ axis: (Vector3) -> Double
        ) -> Chart.Line {
            Chart.Line(
                name, color: color, values: rows.map { axis($0.bias) * Self.degrees },
                band: rows.map { axis($0.biasSigma) * Self.degrees })
        }
        return Chart(
            title: "Gyroscope bias with ± 1 sigma", label: "bias, °/s",
            lines: [
                line("x", Self.blue, \.x), line("y", Self.orange, \.y), line("z", Self.green, \.z),
            ], shades: shades)
    }

    private var weight: Chart {
        Chart(
            title:
                "Accelerometer: weight (below 1 for implausible readings) and innovation over 1 s",
            label: "weight; sigmas",
            lines: [
                Chart.Line("innovation", color: Self.orange, values: rows.map(\.innovation)),
                Chart.Line("weight", color: Self.blue, values: rows.map(\.accelerationWeight)),
            ], shades: shades, least: 0...1)
    }
}
