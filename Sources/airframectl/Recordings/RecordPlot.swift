import GimbalCore
import PlainText
import Plot
import Recording

/// Plot of a recording, as a picture and as text for a terminal.
enum RecordPlot {
    private static let colors = [
        GimbalAxis.yaw: "#0072b2", .roll: "#d55e00", .pitch: "#009e73",
    ]
    /// Largest number of event marks; more marks would hide the curves.
    private static let markLimit = 40

    /// Creates the picture: four charts over time, with events as vertical lines.
    static func figure(
        _ series: FlightSeries, name: String, metadata: [String: String]
    ) -> Figure {
        let on = Chart.Shade("outputs on", color: "#e8f3ec", holds: series.isEnabled)
        var figure = Figure(
            title: "Recording \(name)",
            subtitle: [
                "airframe \(metadata["version"] ?? "?")", metadata["backend"] ?? "",
                metadata["board"] ?? "", "\(series.times.count) ticks",
            ].filter { !$0.isEmpty }.joined(separator: " · "),
            label: "time, s", abscissa: series.times,
            charts: [
                Chart(
                    title: "Attitude, set-point in grey", label: "degrees",
                    lines: setpoints(series) + axes(series.attitude, breaksAt: 180), shades: [on]),
                Chart(title: "Error", label: "degrees", lines: axes(series.error), shades: [on]),
                Chart(title: "Torque", label: "N·m", lines: axes(series.torque), shades: [on]),
                Chart(
                    title: "Timing", label: "µs",
                    lines: [
                        Chart.Line("tick to tick", color: "#0072b2", values: series.period),
                        Chart.Line("thinking", color: "#d55e00", values: series.thinking),
                    ]),
            ])
        figure.marks = marks(series)
        return figure
    }

    /// Creates a vertical line for each event. If several events are close together, only the most
    /// important event has a label.
    private static func marks(_ series: FlightSeries) -> [(value: Double, name: String)] {
        var clusters: [[FlightSeries.Event]] = []
        for event in series.events.prefix(markLimit) {
            if let first = clusters.last?.first, event.time - first.time < 0.12 * series.seconds {
                clusters[clusters.count - 1].append(event)
            } else {
                clusters.append([event])
            }
        }
        return clusters.flatMap { cluster in
            let heaviest = cluster.max { weight($0) < weight($1) }
            let more = cluster.count > 1 ? " +\(cluster.count - 1)" : ""
            return cluster.enumerated().map { index, event in
                (event.time, index == 0 ? (heaviest.map(words) ?? "") + more : "")
            }
        }
    }

    private static func weight(_ event: FlightSeries.Event) -> Int {
        if event.isFault { return 3 }
        if ["outputs", "mode", "gap"].contains(event.name) { return 2 }
        return event.what.isEmpty ? 1 : 0
    }

    /// Creates the plot as lines of text for a terminal.
    static func lines(_ series: FlightSeries, _ style: Style) -> [String] {
        var lines: [String] = []
        func chart(_ title: String, _ values: [[Double]], decimals: Int) {
            let all = values.joined().filter(\.isFinite)
            let low = all.min() ?? 0
            let high = all.max() ?? 1
            let air = max((high - low) * 0.05, 1e-9)
            var chart = TerminalChart(
                across: 0...max(series.seconds, 1e-3), up: (low - air)...(high + air))
            for event in series.events where event.isFault { chart.upright("│", x: event.time) }
            for line in values { chart.line(Array(zip(series.times, line))) }
            lines.append(style(.strong, title))
            lines += chart.lines(marks: marks(series.seconds), decimals: decimals)
        }
        chart("attitude, °", axisValues(series.attitude), decimals: 1)
        chart("error, °", axisValues(series.error), decimals: 3)
        chart("torque, N·m", axisValues(series.torque), decimals: 3)
        chart("tick to tick, µs", [series.period], decimals: 0)
        for event in series.events.prefix(markLimit) {
            lines.append(line(event))
        }
        if series.events.count > markLimit {
            lines.append("… and \(series.events.count - markLimit) more; `record info` lists them")
        }
        return lines
    }

    /// Text of an event, such as `mode locked`, or `mode requested` for a client's request.
    static func words(_ event: FlightSeries.Event) -> String {
        "\(event.name) \(event.what.isEmpty ? "requested" : event.what)"
    }

    /// Line of an event in a list: time, text, and the repetitions of a request.
    static func line(_ event: FlightSeries.Event) -> String {
        let repetitions =
            event.count > 1
            ? ", \(event.count) requests until \(Format.fixed(event.end, 3)) s" : ""
        return "\(Format.right(Format.fixed(event.time, 3), 10)) s  \(words(event))\(repetitions)"
    }

    /// Marks of the time axis, s, multiples of 0.1. Multiples of a step such as 0.1 are not exact:
    /// without rounding, a label would be 0.30000000000000004.
    static func marks(_ seconds: Double) -> [Double] {
        let step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300].first { seconds / $0 <= 8 } ?? 600
        return stride(from: 0, through: seconds, by: step).map { ($0 * 10).rounded() / 10 }
    }

    private static func axisValues(_ values: [AxisVector]) -> [[Double]] {
        GimbalAxis.allCases.map { axis in values.map { $0[axis] } }
    }

    private static func axes(
        _ values: [AxisVector], breaksAt: Double = .infinity
    ) -> [Chart.Line] {
        GimbalAxis.allCases.map { axis in
            Chart.Line(
                "\(axis)", color: colors[axis] ?? "#444444", values: values.map { $0[axis] },
                breaksAt: breaksAt)
        }
    }

    private static func setpoints(_ series: FlightSeries) -> [Chart.Line] {
        GimbalAxis.allCases.map { axis in
            Chart.Line(
                "set-point \(axis)", color: "#b0b0b0", values: series.setpoint.map { $0[axis] },
                breaksAt: 180)
        }
    }
}
