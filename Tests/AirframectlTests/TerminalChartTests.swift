import Plot
import Testing
import Wire

@testable import airframectl

@Suite("Charts in the terminal") struct TerminalChartTests {
    @Test("a diagonal line begins at the bottom left and ends at the top right")
    func diagonal() {
        var chart = TerminalChart(across: 0...1, up: 0...1, width: 4, height: 2)
        chart.line([(0, 0), (1, 1)])
        let lines = chart.lines(marks: [0, 1])
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("       1┤") && lines[1].hasPrefix("       0┤"))
        #expect(lines[1].contains("⡠") || lines[1].contains("⣀") || lines[1].contains("⡠"))
        #expect(lines[2].contains("0") && lines[2].contains("1"))
    }

    @Test("points that are not finite, or outside the chart, are not drawn")
    func outside() {
        var chart = TerminalChart(across: 0...1, up: 0...1, width: 4, height: 2)
        chart.line([(.nan, 0), (2, 0), (0.5, .infinity)])
        chart.put("x", x: 3, y: 0)
        #expect(chart.lines(marks: [])[0] == "       1┤")
    }

    @Test("a label of the abscissa that does not fit at the edge is left out")
    func longLabel() {
        let chart = TerminalChart(across: 0...0.305, up: 0...1)
        let margin = String(repeating: " ", count: 9)
        #expect(chart.lines(marks: [0, 0.1 + 0.2]).last == margin + "0")
        let low = -1.0 / 30
        let small = TerminalChart(across: low...1, up: 0...1, width: 4, height: 2)
        #expect(small.lines(marks: [low, 1]).last == margin + "   1")
    }

    @Test("the marks of a recording's plot are exact multiples of 0.1 s")
    func recordingMarks() {
        #expect(RecordPlot.marks(1.21) == [0, 0.2, 0.4, 0.6, 0.8, 1, 1.2])
        #expect(RecordPlot.marks(0.305) == [0, 0.1, 0.2, 0.3])
    }

    @Test("a logarithmic axis puts 10 halfway between 1 and 100")
    func logarithmic() {
        var chart = TerminalChart(
            across: 1...100, up: 0...1, isLogarithmic: true, width: 21, height: 1)
        chart.put("x", x: 10, y: 0.5)
        #expect(Array(chart.lines(marks: [])[0])[9 + 10] == "x")
    }

    @Test(
        "a spectrum shows its peaks, the present filters, and the commands for the proposed filters"
    )
    func spectrum() {
        var report = SpectrumReport()
        report.state = "done"
        report.resolutionHz = 10
        report.axes = [
            SpectrumAxis(
                axis: "y", density: [1, 1, 1, 1, 1, 100, 1, 1, 1, 1],
                peaks: [SpectrumPeak(hz: 50, prominenceDb: 20, rmsDps: 0.5)], notchesHz: [30],
                lowPassHz: 80)
        ]
        report.proposals = [SettingProposal(key: "filter.notch_pitch", value: "[[50, 4, 20]]")]
        let text = SpectrumView.lines(report, .plain).joined(separator: "\n")
        #expect(text.contains("y, pitch") && text.contains("50.0 Hz") && text.contains("0.500 °/s"))
        #expect(text.contains("┊ notch 30.0 Hz") && text.contains("│ low-pass 80 Hz"))
        #expect(text.contains("airframectl set filter.notch_pitch '[[50, 4, 20]]'"))
        let svg = SpectrumView.figure(report).svg()
        #expect(svg.contains("notch y") && svg.contains("low-pass y"))
    }

    @Test(
        "an autotune result shows inertia, delay, margins and a Bode plot, in the terminal and as SVG"
    )
    func autotune() {
        var axis = AutotuneAxis(axis: "pitch")
        axis.inertiaKgM2 = 0.0025
        axis.delayMs = 3.5
        axis.gyroDelayMs = 2.9
        axis.gyroDelaySigmaMs = 0.06
        axis.crossoverHz = 26
        let curve = [2.0, 5, 10, 20, 50, 100].map {
            BodePoint(hz: Number($0), db: Number(40 - $0 / 5), deg: Number(-90 - $0))
        }
        axis.model = curve
        axis.loop = curve
        axis.measured = [BodePoint(hz: 12.5, db: 37, deg: -104, coherence: 0.99)]
        var report = AutotuneReport()
        report.state = "done"
        report.axes = [axis]
        report.proposals = [SettingProposal(key: "control.rate_gain", value: "[1, 2, 3]")]
        report.sentence = "The proposed gains are not applied."
        let hint = "not applied. With --apply, autotune applies them temporarily."
        #expect(AutotuneView.lines(report, .plain, isToApply: true).last == report.sentence)
        let text = AutotuneView.lines(report, .plain).joined(separator: "\n")
        #expect(text.hasSuffix(hint))
        #expect(text.contains("2.500 g·m²") && text.contains("3.50 ms") && text.contains("o"))
        #expect(text.contains("2.90 ± 0.06 ms delay relative to the encoder"))
        #expect(text.contains("airframectl set control.rate_gain '[1, 2, 3]'"))
        let svg = AutotuneView.figure(report).svg()
        #expect(svg.contains("<circle") && svg.contains("crossover pitch"))
    }

    @Test("a cell that is longer than the limit does not widen its column")
    func longCells() {
        var table = Table(widest: 4)
        table.add(.init("a"), .init("1234567"), .init("x"))
        table.add(.init("b"), .init("12"), .init("y"))
        #expect(table.lines(.plain) == ["a  1234567  x", "b  12  y"])
    }

    @Test("a progress bar stays within one row of the terminal", arguments: [1, 40, 80, 200])
    func progress(columns: Int) {
        let words = "pitch finding the amplitude of the shake, about 39 s"
        let line = ProgressLine.line(0.5, words, columns: columns)
        #expect(line.count < columns)
        #expect(columns < 80 || line.hasSuffix(words))
    }
}
