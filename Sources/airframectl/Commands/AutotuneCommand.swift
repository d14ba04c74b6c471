import ArgumentParser
import Client
import Glibc
import PlainText
import Plot
import Wire

struct AutotuneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "autotune",
        abstract: "Measure how each axis responds to its motor, and propose gains.",
        discussion: """
            yaw, roll, pitch, all   shake the axis slightly and measure it; about 13 s for each axis, longer if the \
            present gains do not hold the camera
            status                  progress, or the last results
            cancel                  end the autotune

            Put the handle on a firm support, or hold it still. Any request that another client sends to move the camera ends the autotune. Without \
            --apply nothing is changed. With --apply the new gains revert after two minutes unless \
            `airframectl save` keeps them; the baseline before-autotune contains the previous tuning.
            """)

    /// Actions of the command `autotune`.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case yaw, roll, pitch, all, status, cancel
    }

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Axis (yaw, roll, pitch or all), or status, or cancel.")
    var action: Action
    @Flag(
        help: "Apply the proposed gains temporarily; they revert after 120 s unless you save them.")
    var apply = false
    @Option(help: "Also draw the Bode plot into this file.", completion: .file())
    var svg: String?

    func run() throws {
        let client = try options.connect()
        switch action {
        case .status: try show(try ask(client, "status"))
        case .cancel: try cancel(client)
        case .yaw, .roll, .pitch, .all: try watch(client)
        }
    }

    private func ask(_ client: DaemonClient, _ action: String) throws -> AutotuneReport {
        try client.request(.autotune, ["action": .string(action)])
    }

    private func cancel(_ client: DaemonClient) throws {
        guard try ask(client, "status").isRunning || options.json else {
            return Output.line("No autotune is running.")
        }
        var report = try ask(client, "cancel")
        let signals = SignalQueue([SIGINT, SIGTERM])
        // The loop receives the cancellation within a few milliseconds.
        while report.isRunning, signals.next(within: 0.05) == nil {
            report = try ask(client, "status")
        }
        try show(report)
    }

    private func watch(_ client: DaemonClient) throws {
        let signals = SignalQueue([SIGINT, SIGTERM])
        var progress = ProgressLine()
        defer { progress.clear() }
        var interruption: Int32?
        var report: AutotuneReport = try client.request(
            .autotune,
            ["action": "start", "axis": .string(action.rawValue), "apply": .bool(apply)])
        while report.isRunning {
            let rest = "about \(Format.fixed(report.secondsLeft.value, 0)) s"
            progress.show(
                report.progress.known ?? 0,
                "\(report.axis ?? "") \(report.activity), \(rest)")
            let signal = signals.next(within: 0.2)
            interruption = signal ?? interruption
            report = try ask(client, signal == nil ? "status" : "cancel")
            // The loop receives the cancellation within a few milliseconds. After this time, the
            // result of the autotune is final.
            if signal != nil {
                while report.isRunning {
                    _ = signals.next(within: 0.05)
                    report = try ask(client, "status")
                }
            }
        }
        progress.clear()
        try show(report)
        guard report.state == AutotuneReport.State.done.rawValue else {
            throw ExitCodes.failure(after: interruption)
        }
    }

    private func show(_ report: AutotuneReport) throws {
        if options.json {
            try Output.json(report)
        } else {
            AutotuneView.lines(report, .forOutput(), isToApply: apply).forEach(Output.line)
        }
        if let svg, !report.axes.isEmpty {
            try SVGFile.write(AutotuneView.figure(report), to: svg)
        }
    }
}

/// Text output of an autotune's results.
enum AutotuneView {
    private static let blue = "#0072b2"
    private static let orange = "#d55e00"
    private static let green = "#009e73"

    /// Returns the lines of a report. The option --apply is recommended for proposals that are not
    /// applied, unless the user has given this option (`isToApply`).
    static func lines(
        _ report: AutotuneReport, _ style: Style, isToApply: Bool = false
    ) -> [String] {
        var lines: [String] = []
        for axis in report.axes {
            lines += [style(.strong, axis.axis)]
            lines += facts(axis).lines(style, indent: 2)
            lines += bode(axis)
            lines.append("")
        }
        if !report.proposals.isEmpty, report.rollbackS == nil {
            let isFree = !report.axes.contains { $0.isServo }
            lines.append(
                isFree ? "Proposed settings, with margins of 6 dB and 45°:" : "Proposed settings:")
            lines += report.proposals.map { "  airframectl set \($0.key) '\($0.value)'" }
        } else if !report.proposals.isEmpty {
            lines.append("New settings:")
            lines += report.proposals.map { "  \($0.key) = \($0.value)" }
        }
        if report.isRunning {
            let activity = [report.axis ?? "", report.activity].filter { !$0.isEmpty }
            lines.append("An autotune is running: \(activity.joined(separator: ", ")).")
        } else if report.sentence.isEmpty {
            lines.append(
                "No autotune has run yet. Start an autotune with: airframectl autotune all")
        } else {
            let canApply = !report.proposals.isEmpty && report.rollbackS == nil && !isToApply
            lines.append(
                report.sentence
                    + (canApply ? " With --apply, autotune applies them temporarily." : ""))
        }
        return lines
    }

    private static func facts(_ axis: AutotuneAxis) -> Table {
        var table = Table()
        func row(_ name: String, _ text: String) { table.add(.init(name, .quiet), .init(text)) }
        if axis.isServo {
            row(
                "delay",
                "\(Format.fixed(axis.delayMs.value, 2)) ms from the command to the camera's response"
            )
            row("lag", "\(Format.fixed(axis.lagMs.value, 2)) ms")
            row("gain", "\(Format.fixed(axis.gain.value, 2)) of the command")
        } else {
            row("inertia", "\(Format.fixed(axis.inertiaKgM2.value * 1e3, 3)) g·m²")
            row(
                "delay",
                "\(Format.fixed(axis.delayMs.value, 2)) ms from the torque command to the measured rate"
            )
            if let late = axis.gyroDelayMs.known {
                row(
                    "gyroscope",
                    "\(Format.fixed(late, 2)) ± \(Format.fixed(axis.gyroDelaySigmaMs.value, 2)) ms delay relative to the encoder"
                )
            }
            row(
                "friction",
                "Coulomb \(Format.fixed(axis.coulombNm.value * 1e3, 1)) mN·m, viscous "
                    + "\(Format.fixed(axis.viscous.value * 1e3, 2)) mN·m·s")
        }
        let down =
            axis.gainMarginDownDb.known.map { " (reduction \(Format.fixed($0, 1)) dB)" } ?? ""
        row(
            "margins",
            "gain margin \(Format.fixed(axis.gainMarginDb.value, 1)) dB\(down), phase margin \(Format.fixed(axis.phaseMarginDeg.value, 0))° at \(Format.fixed(axis.crossoverHz.value, 1)) Hz, with the proposed gains"
        )
        row(
            "model",
            "the model does not explain \(Format.fixed(axis.residual.value * 100, 0)) % of the response"
        )
        return table
    }

    /// Text plot of the plant's gain and phase. In the plot, dots are the model, and letters are
    /// the measurement.
    private static func bode(_ axis: AutotuneAxis) -> [String] {
        let marks = [1.0, 2, 5, 10, 20, 50, 100, 200]
        func chart(_ title: String, _ value: (BodePoint) -> Number) -> [String] {
            let values = (axis.model + axis.measured).map { value($0).value }.filter(\.isFinite)
            guard let low = values.min(), let high = values.max(), high > low else { return [] }
            var chart = TerminalChart(
                across: 1.5...150, up: low - 2...high + 2, isLogarithmic: true, height: 8)
            chart.line(axis.model.map { ($0.hz.value, value($0).value) })
            for point in axis.measured {
                let isSure = (point.coherence?.value ?? 0) > 0.8
                chart.put(isSure ? "o" : "?", x: point.hz.value, y: value(point).value)
            }
            if let crossover = axis.crossoverHz.known { chart.upright("┊", x: crossover) }
            return ["  \(title)"] + chart.lines(marks: marks)
        }
        let way = axis.isServo ? "camera angle / command" : "rate / torque"
        return chart(
            "gain of \(way), dB (o measured, ? uncertain measurement, ┊ crossover frequency)", \.db)
            + chart("phase, ° over Hz", \.deg)
    }

    /// Bode plot of all axes: measured and fitted plant, and the open loop with the proposed gains.
    static func figure(_ report: AutotuneReport) -> Figure {
        var hz = Set<Double>()
        for axis in report.axes { hz.formUnion((axis.measured + axis.model).map(\.hz.value)) }
        let abscissa = hz.sorted()
        var charts: [Chart] = []
        for axis in report.axes {
            func line(
                _ name: String, _ color: String, _ points: [BodePoint],
                _ value: (BodePoint) -> Number,
                isPoints: Bool = false
            ) -> Chart.Line {
                let known = Dictionary(
                    points.map { ($0.hz.value, value($0).value) }, uniquingKeysWith: { $1 })
                // Each curve has its own frequencies, so values at the other curves' frequencies
                // are interpolated.
                let values = abscissa.map { x in
                    known[x] ?? (isPoints ? .nan : between(points, x, value))
                }
                return Chart.Line(name, color: color, values: values, isPoints: isPoints)
            }
            let margins =
                "\(Format.fixed(axis.gainMarginDb.value, 1)) dB, "
                + "\(Format.fixed(axis.phaseMarginDeg.value, 0))° at "
                + "\(Format.fixed(axis.crossoverHz.value, 1)) Hz"
            charts.append(
                Chart(
                    title: "\(axis.axis): gain (\(margins))", label: "dB",
                    lines: [
                        line("loop, proposed", green, axis.loop, \.db),
                        line("model", blue, axis.model, \.db),
                        line("measured", orange, axis.measured, \.db, isPoints: true),
                    ]))
            charts.append(
                Chart(
                    title: "\(axis.axis): phase", label: "°",
                    lines: [
                        line("loop, proposed", green, axis.loop, \.deg),
                        line("model", blue, axis.model, \.deg),
                        line("measured", orange, axis.measured, \.deg, isPoints: true),
                    ]))
        }
        let names = report.axes.map { axis in
            let what =
                axis.isServo
                ? "lag \(Format.fixed(axis.lagMs.value, 1)) ms"
                : "\(Format.fixed(axis.inertiaKgM2.value * 1e3, 2)) g·m²"
            return "\(axis.axis) \(what), delay \(Format.fixed(axis.delayMs.value, 1)) ms"
        }
        let isServo = report.axes.contains { $0.isServo }
        var figure = Figure(
            title: "Autotune: \(isServo ? "command to camera angle" : "moment to rate")",
            subtitle: names.joined(separator: " · "),
            label: "frequency, Hz", abscissa: abscissa, charts: charts)
        figure.isLogarithmic = true
        figure.marks = report.axes.compactMap { axis in
            axis.crossoverHz.known.map { ($0, "crossover \(axis.axis)") }
        }
        return figure
    }

    /// Interpolates the value of a curve at a frequency.
    private static func between(
        _ points: [BodePoint], _ x: Double, _ value: (BodePoint) -> Number
    ) -> Double {
        guard let after = points.firstIndex(where: { $0.hz.value >= x }), after > 0 else {
            return .nan
        }
        let (a, b) = (points[after - 1], points[after])
        let share = (x - a.hz.value) / (b.hz.value - a.hz.value)
        return value(a).value + share * (value(b).value - value(a).value)
    }
}
