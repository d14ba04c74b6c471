/// Map of directions: the pictures of a camera as outlines, and the path between them. The abscissa
/// is the yaw, and the ordinate is the pitch, both in degrees with the same scale.
public struct FieldMap: Sendable {
    /// Point of a map, degrees.
    public typealias Point = (yaw: Double, pitch: Double)

    /// Title above the map.
    public var title: String
    /// Outlines of the pictures, with continuous yaw; parts outside the map are not drawn.
    public var outlines: [[Point]]
    /// Directions of the photos, in the order of the photos.
    public var places: [Point]
    /// Path of the camera from photo to photo; a jump of the yaw by more than 180° interrupts the
    /// path.
    public var path: [Point]

    /// Creates a map.
    ///
    /// - Parameters:
    ///   - title: Title above the map.
    ///   - outlines: Outlines of the pictures.
    ///   - places: Directions of the photos, in the order of the photos.
    ///   - path: Path of the camera.
    public init(title: String, outlines: [[Point]], places: [Point], path: [Point]) {
        (self.title, self.outlines, self.places, self.path) = (title, outlines, places, path)
    }

    /// Largest height of a map, pixels.
    private static let highest = 640.0

    /// Ranges of yaw and pitch that the map shows, degrees.
    var ranges: (yaw: ClosedRange<Double>, pitch: ClosedRange<Double>) {
        let points = outlines.joined() + places + path
        func range(_ values: [Double], within limit: ClosedRange<Double>) -> ClosedRange<Double> {
            let low = max(values.min() ?? 0, limit.lowerBound)
            let high = min(values.max() ?? 0, limit.upperBound)
            let air = max(0.03 * (high - low), 2)
            return (low - air)...(high + air)
        }
        return (
            range(points.map(\.yaw), within: -360...360),
            range(points.map(\.pitch), within: -90...90)
        )
    }

    /// Height, pixels, of a map that is `width` pixels wide.
    func height(width: Double) -> Double {
        let (yaw, pitch) = ranges
        let scale = width / (yaw.upperBound - yaw.lowerBound)
        return min(max((pitch.upperBound - pitch.lowerBound) * scale, 120), Self.highest)
    }

    /// Draws the map into a rectangle.
    func draw(x: Double, y: Double, width: Double, _ pen: inout Pen) {
        let height = height(width: width)
        let (yaw, pitch) = ranges
        let scale = min(
            width / (yaw.upperBound - yaw.lowerBound),
            height / (pitch.upperBound - pitch.lowerBound)
        )
        func widened(_ range: ClosedRange<Double>, to pixels: Double) -> ClosedRange<Double> {
            let middle = (range.lowerBound + range.upperBound) / 2
            return (middle - pixels / scale / 2)...(middle + pixels / scale / 2)
        }
        let across = Axis(range: widened(yaw, to: width), start: x, end: x + width, marks: 12)
        let up = Axis(range: widened(pitch, to: height), start: y + height, end: y, marks: 7)
        func pixel(_ point: Point) -> Pen.Point {
            (across.position(point.yaw), up.position(point.pitch))
        }
        for mark in across.marks {
            pen.rule(across.position(mark), y, across.position(mark), y + height)
            pen.text(
                across.text(mark), x: across.position(mark), y: y + height + 17, size: 12,
                anchor: "middle")
        }
        for mark in up.marks {
            pen.rule(x, up.position(mark), x + width, up.position(mark), isZero: mark == 0)
            pen.text(up.text(mark), x: x - 7, y: up.position(mark) + 4, size: 12, anchor: "end")
        }
        pen.beginCut(x: x, y: y, width: width, height: height)
        for outline in outlines {
            let points = outline.map(pixel)
            pen.area(points, color: "#56b4e9")
            if let first = points.first {
                pen.polyline(points + [first], color: "#0072b2", width: 0.8)
            }
        }
        var part: [Pen.Point] = []
        for (index, point) in path.enumerated() {
            if index > 0, abs(point.yaw - path[index - 1].yaw) > 180 {
                pen.polyline(part, color: "#d55e00")
                part = []
            }
            part.append(pixel(point))
        }
        pen.polyline(part, color: "#d55e00")
        for (index, place) in places.enumerated() {
            // Hundreds of dots and numbers would cover each other and the path.
            guard places.count <= 120 || index == 0 || index == places.count - 1 else { continue }
            let point = pixel(place)
            pen.dot(x: point.x, y: point.y, color: "#d55e00")
            pen.text("\(index + 1)", x: point.x + 6, y: point.y - 7, size: 11)
        }
        pen.endCut()
        pen.frame(x: x, y: y, width: width, height: height)
        pen.text(title, x: x, y: y - 9, size: 14, weight: "bold")
        pen.text(
            "pitch, °", x: x - 64, y: y + height / 2, size: 13, anchor: "middle", turned: true)
    }
}
