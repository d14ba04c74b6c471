import PlainText

/// Writer of the elements of an SVG document.
struct Pen {
    typealias Point = (x: Double, y: Double)

    private var body: String
    private var cuts = 0
    private static let font = "DejaVu Sans, Helvetica, Arial, sans-serif"

    init(width: Double, height: Double) {
        let (w, h) = (Format.plain(width), Format.plain(height))
        body = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(w)" height="\(h)" \
            viewBox="0 0 \(w) \(h)" font-family="\(Self.font)">
            <rect width="\(w)" height="\(h)" fill="#ffffff"/>

            """
    }

    /// The complete SVG document.
    var document: String { body + "</svg>\n" }

    mutating func text(
        _ text: String, x: Double, y: Double, size: Int, weight: String = "normal",
        color: String = "#222222", anchor: String = "start", turned: Bool = false
    ) {
        let place =
            turned
            ? "transform=\"translate(\(short(x)) \(short(y))) rotate(-90)\""
            : "x=\"\(short(x))\" y=\"\(short(y))\""
        body += "<text \(place) font-size=\"\(size)\" font-weight=\"\(weight)\" fill=\"\(color)\" "
        body += "text-anchor=\"\(anchor)\">\(Self.escaped(text))</text>\n"
    }

    mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, fill: String
    ) {
        body += "<rect x=\"\(short(x))\" y=\"\(short(y))\" width=\"\(short(width))\" "
        body += "height=\"\(short(height))\" fill=\"\(fill)\"/>\n"
    }

    mutating func frame(x: Double, y: Double, width: Double, height: Double) {
        body += "<rect x=\"\(short(x))\" y=\"\(short(y))\" width=\"\(short(width))\" "
        body += "height=\"\(short(height))\" fill=\"none\" stroke=\"#444444\"/>\n"
    }

    /// Clips all following elements to a rectangle, until `endCut` is called.
    mutating func beginCut(x: Double, y: Double, width: Double, height: Double) {
        cuts += 1
        body += "<clipPath id=\"cut\(cuts)\"><rect x=\"\(short(x))\" y=\"\(short(y))\" "
        body += "width=\"\(short(width))\" height=\"\(short(height))\"/></clipPath>\n"
        body += "<g clip-path=\"url(#cut\(cuts))\">\n"
    }

    mutating func endCut() { body += "</g>\n" }

    /// Draws a grid line of the chart; the line at zero is darker.
    mutating func rule(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, isZero: Bool = false
    ) {
        body += "<line x1=\"\(short(x1))\" y1=\"\(short(y1))\" x2=\"\(short(x2))\" "
        body += "y2=\"\(short(y2))\" stroke=\"#000000\" "
        body += "stroke-opacity=\"\(isZero ? "0.45" : "0.1")\"/>\n"
    }

    mutating func polyline(_ points: [Point], color: String, width: Double = 1.3) {
        guard points.count > 1 else { return }
        body += "<polyline fill=\"none\" stroke=\"\(color)\" stroke-width=\"\(short(width))\" "
        body += "stroke-linejoin=\"round\" points=\"\(list(points))\"/>\n"
    }

    mutating func dot(x: Double, y: Double, color: String) {
        body += "<circle cx=\"\(short(x))\" cy=\"\(short(y))\" r=\"4\" fill=\"\(color)\"/>\n"
    }

    mutating func area(_ points: [Point], color: String) {
        guard points.count > 3 else { return }
        body += "<polygon fill=\"\(color)\" fill-opacity=\"0.16\" points=\"\(list(points))\"/>\n"
    }

    /// Approximate width of a text with font size 13, pixels. The mean width of sans-serif letters
    /// is 0.56 times the font size.
    func width(of text: String) -> Double { Double(text.count) * 13 * 0.56 }

    /// Coordinates of the points as SVG text. Interior points of horizontal segments are omitted. A
    /// point at which the line turns back is the end of a segment.
    private func list(_ points: [Point]) -> String {
        let heights = points.map { ($0.y * 10).rounded() }
        var texts: [String] = []
        // Abscissa of the last point in the text. If two points are equal, a comparison with the
        // neighbours does not detect that the line turns back there.
        var last = 0.0
        for (index, point) in points.enumerated() {
            let isInner = index > 0 && index < points.count - 1
            if isInner, heights[index - 1] == heights[index], heights[index + 1] == heights[index],
                (point.x - last) * (points[index + 1].x - point.x) >= 0
            {
                continue
            }
            last = point.x
            texts.append("\(short(point.x)),\(short(point.y))")
        }
        return texts.joined(separator: " ")
    }

    private func short(_ value: Double) -> String { Format.fixed(value, 1) }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
