import ArgumentParser
import Client
import Glibc
import PlainText
import Plot
import Wire

struct SpectrumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "spectrum",
        abstract: "Record the gyroscope, show vibration, and propose notch filters.",
        discussion: """
            The command computes the spectrum from every sample, up to half the sensor's rate, with Welch's method and Hann windows of about a second. x is \
            roll, y is pitch, z is yaw. The gimbal continues to work during the recording; produce the vibration that you want to measure.
            """)

    /// Axes of the printed spectra: one axis, or all axes.
    enum Axis: String, ExpressibleByArgument, CaseIterable {
        case x, y, z, all
    }

    @OptionGroup var options: GlobalOptions
    @Option(help: "Axis: x, y, z or all.")
    var axis = Axis.all
    @Option(help: "Duration of the recording, 3 to 60 s.")
    var seconds: Double = 10
    @Option(help: "Also draw the spectrum into this file.", completion: .file())
    var svg: String?

    func run() throws {
        let client = try options.connect()
        let signals = SignalQueue([SIGINT, SIGTERM])
        var progress = ProgressLine()
        defer { progress.clear() }
        var interruption: Int32?
        var report: SpectrumReport = try client.request(
            .spectrum, ["action": "start", "seconds": .double(seconds)])
        while report.isRunning {
            let share = report.progress.known ?? 0
            progress.show(share, "\(Format.fixed((1 - share) * seconds, 0)) s")
            let signal = signals.next(within: 0.2)
            interruption = signal ?? interruption
            report = try client.request(
                .spectrum, ["action": .string(signal == nil ? "status" : "cancel")])
        }
        progress.clear()
        if axis != .all { report.axes = report.axes.filter { $0.axis == axis.rawValue } }
        if options.json { try Output.json(report) }
        guard report.state == SpectrumReport.State.done.rawValue else {
            if !options.json { Output.error("airframectl: \(report.sentence)") }
            throw ExitCodes.failure(after: interruption)
        }
        if !options.json { SpectrumView.lines(report, .forOutput()).forEach(Output.line) }
        if let svg { try SVGFile.write(SpectrumView.figure(report), to: svg) }
    }
}

/// Text output of a vibration spectrum.
enum SpectrumView {
    private static let names = ["x": "x, roll", "y": "y, pitch", "z": "z, yaw"]

    static func lines(_ report: SpectrumReport, _ style: Style) -> [String] {
        var lines = [report.sentence]
        for axis in report.axes {
            let levels = decibels(axis)
            let highest = (levels.max() ?? 0) + 3
            let lowest = max((levels.dropFirst(2).min() ?? -60), highest - 80)
            let resolution = report.resolutionHz.value
            let end = Double(axis.density.count - 1) * resolution
            var chart = TerminalChart(across: 0...end, up: lowest...max(highest, lowest + 10))
            chart.line(levels.enumerated().map { (Double($0.offset) * resolution, $0.element) })
            for (index, peak) in axis.peaks.prefix(9).enumerated() {
                let bin = min(Int((peak.hz.value / resolution).rounded()), levels.count - 1)
                chart.put(Character("\(index + 1)"), x: peak.hz.value, y: levels[bin] + 3)
            }
            for notch in axis.notchesHz { chart.upright("┊", x: notch.value) }
            if let corner = axis.lowPassHz.known { chart.upright("│", x: corner) }
            lines += [
                "",
                style(.strong, names[axis.axis] ?? axis.axis)
                    + "  dB relative to 1 (°/s)²/Hz, by frequency in Hz",
            ]
            lines += chart.lines(marks: stride(from: 0, through: end, by: 50).map(\.self))
            lines += filters(axis)
            lines += peaks(axis).lines(style, indent: 2)
        }
        lines.append("")
        if report.proposals.isEmpty {
            lines.append("No peak is strong enough to need a notch filter.")
        } else {
            lines.append("To try these notch filters temporarily:")
            lines += report.proposals.map {
                "  airframectl set \($0.key) '\($0.value)' --rollback 60s"
            }
        }
        return lines
    }

    private static func filters(_ axis: SpectrumAxis) -> [String] {
        var parts = axis.notchesHz.map { "┊ notch \(Format.fixed($0.value, 1)) Hz" }
        if let corner = axis.lowPassHz.known {
            parts.append("│ low-pass \(Format.fixed(corner, 0)) Hz")
        }
        return parts.isEmpty ? [] : ["  in force: " + parts.joined(separator: ", ")]
    }

    private static func peaks(_ axis: SpectrumAxis) -> Table {
        var table = Table(rightAligned: [1, 2, 3])
        for (index, peak) in axis.peaks.enumerated() {
            table.add(
                .init("\(index + 1)"), .init("\(Format.fixed(peak.hz.value, 1)) Hz"),
                .init(
                    "\(Format.fixed(peak.prominenceDb.value, 0)) dB above the neighbouring frequencies"
                ),
                .init("\(Format.fixed(peak.rmsDps.value, 3)) °/s RMS"))
        }
        return table
    }

    private static func decibels(_ axis: SpectrumAxis) -> [Double] {
        axis.density.map { 10 * log10(max($0.value, 1e-12)) }
    }

    /// SVG plot of the vibration spectrum.
    static func figure(_ report: SpectrumReport) -> Figure {
        let count = report.axes.first?.density.count ?? 0
        let colors = ["x": "#0072b2", "y": "#d55e00", "z": "#009e73"]
        var figure = Figure(
            title: "Gyroscope: power spectral density", subtitle: report.sentence,
            label: "frequency, Hz",
            abscissa: (0..<count).map { Double($0) * report.resolutionHz.value },
            charts: report.axes.map { axis in
                let peaks = axis.peaks.prefix(4).map { "\(Format.fixed($0.hz.value, 1)) Hz" }
                let title =
                    (names[axis.axis] ?? axis.axis)
                    + (peaks.isEmpty ? "" : ": " + peaks.joined(separator: ", "))
                return Chart(
                    title: title, label: "dB of 1 (°/s)²/Hz",
                    lines: [
                        Chart.Line(
                            axis.axis, color: colors[axis.axis] ?? "#444444",
                            values: decibels(axis))
                    ])
            })
        for axis in report.axes {
            figure.marks += axis.notchesHz.map { ($0.value, "notch \(axis.axis)") }
            if let corner = axis.lowPassHz.known {
                figure.marks.append((corner, "low-pass \(axis.axis)"))
            }
        }
        return figure
    }
}
