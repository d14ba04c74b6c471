import CMathShim

/// Detected body in a picture, with its position, size and direction.
struct DetectedBody: Sendable, Equatable {
    /// Probability that the detection is a person, 0...1.
    var score: Double
    /// Box around the face, pixels.
    var face: PixelBox
    /// Midpoint between the hips, pixels.
    var hips: PixelPoint
    /// Point towards the head, at a distance of half the body's size from the hips, pixels.
    var top: PixelPoint

    /// Square part of the picture for the landmark model.
    var region: SquareRegion { SquareRegion(hips: hips, top: top) }
}

/// Body detector: BlazePose's first model. The model finds faces. For each face, the model
/// estimates the hips and the body's size. The detector is used by one thread at a time.
///
/// The options are those of MediaPipe's graph `pose_detection_cpu.pbtxt`. The input is a picture of
/// 224x224 pixels with values of -1...1. Five layers of anchors have strides of 8, 16, 32, 32 and
/// 32 pixels; all anchors have the size 1.
struct PoseDetector {
    private static let edge = 224
    /// Number of coordinates of a detection: centre and size of the face, and four points. The
    /// first point of a detection is the midpoint between the hips. The distance from the first to
    /// the second point is half the body's size. The last two points of a detection belong to the
    /// upper body, and are not used.
    private static let coordinates = 12
    private static let anchors = PoseAnchors.all

    private let model: Model

    /// Reads the model.
    ///
    /// - Throws: The reason why the model cannot be used.
    init(_ library: InferenceLibrary, path: String, threads: Int) throws(InferenceError) {
        let count = Self.anchors.count
        model = try Model(
            library, path: path, threads: threads, inputCount: 3 * Self.edge * Self.edge,
            outputCounts: [count * Self.coordinates, count])
    }

    /// Finds bodies in a part of a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - region: Part of the picture. The model works best for people who fill at least an eighth
    ///     of the region.
    ///   - minimumScore: Score threshold of a body, 0...1.
    /// - Returns: The bodies, the most probable first.
    /// - Throws: The reason why the model cannot be executed.
    func find(in picture: RGBPicture, _ region: SquareRegion, minimumScore: Double)
        throws(InferenceError) -> [DetectedBody]
    {
        region.sample(picture, count: Self.edge, range: -1...1, into: &model.input)
        try model.run()
        let limit = Float(cm_log(minimumScore / (1 - minimumScore)))
        var bodies: [DetectedBody] = []
        for (index, anchor) in Self.anchors.enumerated() where model.outputs[1][index] >= limit {
            bodies.append(decode(index, anchor, region))
        }
        return Self.merged(bodies)
    }

    private func decode(_ index: Int, _ anchor: PixelPoint, _ region: SquareRegion)
        -> DetectedBody
    {
        let values = model.outputs[0]
        func value(_ place: Int) -> Double {
            Double(values[index * Self.coordinates + place]) / Double(Self.edge)
        }
        func point(_ place: Int) -> PixelPoint {
            region.point(u: anchor.x + value(place), v: anchor.y + value(place + 1))
        }
        let middle = point(0)
        let (width, height) = (region.side * value(2), region.side * value(3))
        let raw = min(max(Double(model.outputs[1][index]), -100), 100)
        return DetectedBody(
            score: 1 / (1 + cm_exp(-raw)),
            face: PixelBox(
                left: middle.x - width / 2, top: middle.y - height / 2, width: width,
                height: height),
            hips: point(4), top: point(6))
    }

    /// Merges detections of the same face: the result is the mean of their positions, weighted by
    /// score.
    ///
    /// - Parameter bodies: All detections.
    /// - Returns: The merged detections, the most probable first.
    static func merged(_ bodies: [DetectedBody]) -> [DetectedBody] {
        var rest = bodies.sorted { $0.score > $1.score }
        var result: [DetectedBody] = []
        while let best = rest.first {
            let same = rest.filter { $0.face.overlap(best.face) > 0.3 }
            // A box with zero area has an overlap of 0 with itself, so the best box is removed
            // explicitly.
            rest = rest.dropFirst().filter { $0.face.overlap(best.face) <= 0.3 }
            result.append(same.isEmpty ? best : mean(same, score: best.score))
        }
        return result
    }

    private static func mean(_ bodies: [DetectedBody], score: Double) -> DetectedBody {
        let total = bodies.reduce(0) { $0 + $1.score }
        func mean(_ value: (DetectedBody) -> Double) -> Double {
            bodies.reduce(0) { $0 + $1.score * value($1) } / total
        }
        return DetectedBody(
            score: score,
            face: PixelBox(
                left: mean(\.face.left), top: mean(\.face.top), width: mean(\.face.width),
                height: mean(\.face.height)),
            hips: PixelPoint(x: mean(\.hips.x), y: mean(\.hips.y)),
            top: PixelPoint(x: mean(\.top.x), y: mean(\.top.y)))
    }
}

/// Anchors: reference positions of the detector's outputs.
enum PoseAnchors {
    /// Centres of the anchors, 0...1, in the order of the model's outputs. Layers with the same
    /// stride have a common grid. Each layer has two anchors at each grid point.
    static let all =
        grid(stride: 8, layers: 1) + grid(stride: 16, layers: 1) + grid(stride: 32, layers: 3)

    private static func grid(stride: Int, layers: Int) -> [PixelPoint] {
        let count = 224 / stride
        return (0..<(count * count)).flatMap { place in
            let x = (Double(place % count) + 0.5) / Double(count)
            let y = (Double(place / count) + 0.5) / Double(count)
            return Array(repeating: PixelPoint(x: x, y: y), count: 2 * layers)
        }
    }
}
