import Testing

@testable import Plot

@Suite("A figure as SVG")
struct FigureTests {
    private func figure(_ values: [Double], shades: [Chart.Shade] = []) -> Figure {
        Figure(
            title: "A & B", subtitle: "x < y", label: "time, s",
            abscissa: values.indices.map(Double.init),
            charts: [
                Chart(
                    title: "Bias", label: "bias, °/s",
                    lines: [
                        Chart.Line(
                            "x", color: "#0072b2", values: values,
                            band: values.map { _ in 0.5 }, breaksAt: 180)
                    ], shades: shades)
            ])
    }

    private func count(_ part: String, in text: String) -> Int {
        text.indices.count { text[$0...].hasPrefix(part) }
    }

    /// The points of the lines of the curves, which are thinner than the lines of the legend.
    private func curves(_ svg: String) -> [String] {
        svg.split(separator: "\n").filter {
            $0.hasPrefix("<polyline") && $0.contains("stroke-width=\"1.3\"")
        }.compactMap { $0.split(separator: "points=\"").last?.split(separator: "\"").first }
            .map(String.init)
    }

    @Test(
        "is one document with title, labels with units, legend, band and line, and escapes special characters"
    )
    func document() {
        let svg = figure([0, 1, 2, 1]).svg()
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\""))
        #expect(svg.hasSuffix("</svg>\n"))
        for text in [">A &amp; B<", ">x &lt; y<", ">time, s<", ">bias, °/s<", ">Bias<", ">x<"] {
            #expect(count(text, in: svg) == 1)
        }
        #expect(count("<polygon", in: svg) == 1)
        // One line of the curve and one of the legend.
        #expect(count("<polyline", in: svg) == 2)
        #expect(!svg.contains("nan") && !svg.contains("inf") && !svg.contains("–"))
    }

    @Test("draws each value at its position")
    func places() {
        var plain = figure([0, 10])
        plain.charts[0].lines[0].band = []
        // A margin of 4 %: the value 0 is drawn 0.4 / 10.8 of 190 pixels above the bottom at 292.
        #expect(curves(plain.svg()) == ["84.0,285.0 1176.0,109.0"])
    }

    @Test("interrupts a line where an angle wraps and where a value is missing")
    func interruptions() {
        #expect(curves(figure([170, 179, -179, -170]).svg()).count == 2)
        #expect(curves(figure([1, 2, .nan, 2, 1]).svg()).count == 2)
        #expect(curves(figure([.nan, .nan]).svg()).isEmpty)
    }

    @Test("shades intervals, and has a legend only for existing intervals")
    func shades() {
        let rest = Chart.Shade("rest", color: "#eeeeef", holds: [true, true, false, true])
        let never = Chart.Shade("never", color: "#eeeeee", holds: [false, false, false, false])
        let svg = figure([0, 1, 2, 3], shades: [rest, never]).svg()
        // Two shaded intervals and one in the legend.
        #expect(count("#eeeeef", in: svg) == 3)
        #expect(svg.contains(">rest<") && !svg.contains(">never<"))
    }

    @Test("stays below 400 kB for 200,000 samples, and keeps a spike")
    func size() {
        var values = (0..<200_000).map { Double($0 % 7) }
        values[123_456] = 100
        let svg = figure(values).svg()
        #expect(svg.utf8.count < 400_000)
        var plain = figure(values)
        plain.charts[0].lines[0].band = []
        // The spike sets the range, and is 4 % of the range below the top at 102.
        #expect(curves(plain.svg()).contains { $0.contains(",109.0") })
    }

    @Test(
        "a path that turns back at the same pitch keeps its turning point, also after a pause there",
        arguments: [[0.0, 40, 0], [0, 20, 40, 40, 20, 0]])
    func turningPath(yaws: [Double]) {
        var map = figure([0, 1])
        map.map = FieldMap(
            title: "Directions", outlines: [], places: [], path: yaws.map { ($0, 0) })
        let paths = curves(map.svg()).map { $0.split(separator: " ") }.filter { $0.count == 3 }
        #expect(paths.count == 1)
        #expect(paths.allSatisfy { $0[0] == $0[2] && $0[0] != $0[1] })
    }

    @Test("is valid without values, with one sample and with constant values")
    func degenerate() {
        for values in [[], [1.0], [5.0, 5.0, 5.0]] {
            let svg = figure(values).svg()
            #expect(svg.hasSuffix("</svg>\n"))
            #expect(!svg.contains("nan") && !svg.contains("inf"))
        }
    }
}
