import PlainText

/// SVG picture of several charts, one below the other, with the same abscissa.
public struct Figure: Sendable {
    /// The first line of the heading.
    public var title: String
    /// The second line of the heading, in smaller type.
    public var subtitle: String
    /// Name of the abscissa, with its unit.
    public var label: String
    /// Abscissas in ascending order, one for each value of each line.
    public var abscissa: [Double]
    /// Charts from top to bottom.
    public var charts: [Chart]
    /// True if the abscissa is logarithmic. On a logarithmic axis, all abscissas must be above
    /// zero.
    public var isLogarithmic = false
    /// Named vertical lines, each with its abscissa.
    public var marks: [(value: Double, name: String)] = []
    /// Map above the charts; nil if there is none.
    public var map: FieldMap?

    /// Creates a picture.
    ///
    /// - Parameters:
    ///   - title: The first line of the heading.
    ///   - subtitle: The second line of the heading.
    ///   - label: Name of the abscissa, with its unit.
    ///   - abscissa: Abscissas in ascending order.
    ///   - charts: Charts from top to bottom.
    public init(
        title: String, subtitle: String, label: String, abscissa: [Double], charts: [Chart]
    ) {
        self.title = title
        self.subtitle = subtitle
        self.label = label
        self.abscissa = abscissa
        self.charts = charts
    }

    private static let width = 1200.0
    private static let left = 84.0
    private static let right = 1176.0
    private static let head = 72.0
    private static let chartHeight = 190.0
    /// Room for the title and the ticks of a map.
    private static let mapMargin = 60.0
    /// Distance between the axes of two charts, with room for title and legend.
    private static let pitch = 250.0

    /// Create the picture, with a width of 1200 pixels.
    ///
    /// - Returns: A complete SVG document.
    public func svg() -> String {
        let width = Self.right - Self.left
        let mapHeight = map.map { $0.height(width: width) + Self.mapMargin } ?? 0
        let head = Self.head + mapHeight
        let height = head + Self.pitch * Double(charts.count) + 26
        var pen = Pen(width: Self.width, height: height)
        pen.text(title, x: Self.left, y: 30, size: 20, weight: "bold")
        pen.text(subtitle, x: Self.left, y: 52, size: 13, color: "#555555")
        map?.draw(x: Self.left, y: Self.head + 30, width: width, &pen)
        let first = abscissa.first { $0.isFinite } ?? 0
        let last = abscissa.last { $0.isFinite } ?? 1
        let across = Axis(
            range: first...(last > first ? last : first + 1), start: Self.left, end: Self.right,
            marks: 12, isLogarithmic: isLogarithmic)
        let columns = abscissa.map { value in
            value.isFinite ? Int(across.position(value)) : 0
        }
        for (index, chart) in charts.enumerated() {
            let top = head + Self.pitch * Double(index) + 30
            draw(chart, top: top, across: across, columns: columns, &pen)
        }
        pen.text(
            label, x: (Self.left + Self.right) / 2, y: height - 14, size: 13, anchor: "middle")
        return pen.document
    }

    private func draw(
        _ chart: Chart, top: Double, across: Axis, columns: [Int], _ pen: inout Pen
    ) {
        let bottom = top + Self.chartHeight
        let up = Axis(range: chart.range, start: bottom, end: top, marks: 6)
        for shade in chart.shades {
            for stretch in stretches(shade.holds, across) {
                pen.rectangle(
                    x: stretch.lowerBound, y: top,
                    width: max(stretch.upperBound - stretch.lowerBound, 1),
                    height: Self.chartHeight, fill: shade.color)
            }
        }
        drawGrid(top: top, bottom: bottom, across: across, up: up, &pen)
        for mark in marks where across.range.contains(mark.value) {
            let x = across.position(mark.value)
            pen.polyline([(x, top), (x, bottom)], color: "#cc79a7")
            pen.text(mark.name, x: x + 4, y: top + 13, size: 11, color: "#8f4a72")
        }
        pen.beginCut(x: Self.left, y: top, width: Self.right - Self.left, height: Self.chartHeight)
        for line in chart.lines where !line.band.isEmpty {
            drawBand(line, across: across, up: up, columns: columns, &pen)
        }
        for line in chart.lines where line.isPoints {
            for (value, x) in zip(line.values, abscissa) where value.isFinite && x.isFinite {
                pen.dot(x: across.position(x), y: up.position(value), color: line.color)
            }
        }
        for line in chart.lines where !line.isPoints {
            drawLine(line, across: across, up: up, columns: columns, &pen)
        }
        pen.endCut()
        pen.frame(x: Self.left, y: top, width: Self.right - Self.left, height: Self.chartHeight)
        pen.text(chart.title, x: Self.left, y: top - 9, size: 14, weight: "bold")
        pen.text(
            chart.label, x: 20, y: (top + bottom) / 2, size: 13, anchor: "middle", turned: true)
        drawLegend(chart, y: top - 9, &pen)
    }

    private func drawGrid(
        top: Double, bottom: Double, across: Axis, up: Axis, _ pen: inout Pen
    ) {
        for mark in across.marks {
            let x = across.position(mark)
            pen.rule(x, top, x, bottom)
            pen.text(across.text(mark), x: x, y: bottom + 17, size: 12, anchor: "middle")
        }
        for mark in up.marks {
            let y = up.position(mark)
            pen.rule(Self.left, y, Self.right, y, isZero: mark == 0)
            pen.text(up.text(mark), x: Self.left - 7, y: y + 4, size: 12, anchor: "end")
        }
    }

    private func drawLine(
        _ line: Chart.Line, across: Axis, up: Axis, columns: [Int], _ pen: inout Pen
    ) {
        var points: [Pen.Point] = []
        var previous: Double?
        for index in Column.visible(line.values, columns: columns) {
            let value = line.values[index]
            if let known = previous, !value.isFinite || abs(value - known) > line.breaksAt {
                pen.polyline(points, color: line.color)
                points = []
                previous = nil
            }
            guard value.isFinite, abscissa[index].isFinite else { continue }
            points.append((across.position(abscissa[index]), up.position(value)))
            previous = value
        }
        pen.polyline(points, color: line.color)
    }

    private func drawBand(
        _ line: Chart.Line, across: Axis, up: Axis, columns: [Int], _ pen: inout Pen
    ) {
        let middle = zip(line.values, line.band).map { $0 + $1 }
        var upper: [Pen.Point] = []
        var lower: [Pen.Point] = []
        for index in Column.visible(middle, columns: columns) where middle[index].isFinite {
            guard abscissa[index].isFinite else { continue }
            let x = across.position(abscissa[index])
            upper.append((x, up.position(line.values[index] + line.band[index])))
            lower.append((x, up.position(line.values[index] - line.band[index])))
        }
        pen.area(upper + lower.reversed(), color: line.color)
    }

    /// Draws the legend above the axes, at the right. The last entry is drawn first, because the
    /// entries are aligned at their right ends.
    private func drawLegend(_ chart: Chart, y: Double, _ pen: inout Pen) {
        var x = Self.right
        let shades = chart.shades.filter { $0.holds.contains(true) }
        for shade in shades.reversed() {
            pen.text(shade.name, x: x, y: y, size: 13, anchor: "end")
            x -= pen.width(of: shade.name) + 22
            pen.rectangle(x: x, y: y - 10, width: 16, height: 12, fill: shade.color)
            x -= 18
        }
        for line in chart.lines.reversed() {
            pen.text(line.name, x: x, y: y, size: 13, anchor: "end")
            x -= pen.width(of: line.name) + 26
            if line.isPoints {
                pen.dot(x: x + 10, y: y - 4, color: line.color)
                x -= 18
                continue
            }
            pen.polyline([(x, y - 4), (x + 20, y - 4)], color: line.color, width: 2.5)
            x -= 18
        }
    }

    /// Find the intervals in which `holds` is true, in pixels.
    private func stretches(_ holds: [Bool], _ across: Axis) -> [ClosedRange<Double>] {
        var result: [ClosedRange<Double>] = []
        var start: Double?
        for (value, isHeld) in zip(abscissa, holds) where value.isFinite {
            let x = across.position(value)
            if isHeld, start == nil { start = x }
            if !isHeld, let begin = start {
                result.append(begin...max(begin, x))
                start = nil
            }
        }
        if let begin = start { result.append(begin...max(begin, across.end)) }
        return result
    }
}
