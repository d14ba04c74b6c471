import CMathShim

/// Landmark model: BlazePose's second model. In a square around a body, the model finds 33 points
/// of the body. The model also returns the square for the next picture. The model is used by one
/// thread at a time.
///
/// The options are those of MediaPipe's graph `pose_landmark_by_roi_cpu.pbtxt`. The input is a
/// picture of 256x256 pixels with values of 0...1. The output has 39 points with x, y, z,
/// visibility and presence. The last six points are auxiliary points of the model.
struct PoseLandmarks {
    private static let edge = 256
    private static let points = 39
    /// Edge length of the probability map, cells.
    private static let cells = 64
    /// Indices of two auxiliary points. `hips` is the midpoint between the hips; its distance to
    /// `top` is half the body's size.
    private static let (hips, top) = (33, 34)

    private let model: Model

    /// Reads the model.
    ///
    /// - Throws: The reason why the model cannot be used.
    init(_ library: InferenceLibrary, path: String, threads: Int) throws(InferenceError) {
        // The model's segmentation mask is not used.
        model = try Model(
            library, path: path, threads: threads, inputCount: 3 * Self.edge * Self.edge,
            outputCounts: [
                Self.points * 5, 1, 0, Self.cells * Self.cells * Self.points, Self.points * 3,
            ])
    }

    /// Finds the body in a part of a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - region: Part of the picture, with the body upright at its centre.
    ///   - minimumScore: Smallest probability that the part contains a body, 0...1.
    /// - Returns: The person; nil if the part contains no body.
    /// - Throws: The reason why the model cannot be executed.
    func find(in picture: RGBPicture, _ region: SquareRegion, minimumScore: Double)
        throws(InferenceError) -> Person?
    {
        region.sample(picture, count: Self.edge, range: 0...1, into: &model.input)
        try model.run()
        let score = Double(model.outputs[1][0])
        guard score >= minimumScore else { return nil }
        let landmarks = Landmark.Part.allCases.map { landmark($0.rawValue, region) }
        let next = SquareRegion(hips: point(Self.hips, region), top: point(Self.top, region))
        guard let box = Person.box(around: landmarks), next.side.isFinite, next.side > 8 else {
            return nil
        }
        return Person(
            score: score, box: box, landmarks: landmarks, region: next)
    }

    private func value(_ index: Int, _ place: Int) -> Double {
        Double(model.outputs[0][index * 5 + place])
    }

    private func point(_ index: Int, _ region: SquareRegion) -> PixelPoint {
        let (u, v) = (value(index, 0) / Double(Self.edge), value(index, 1) / Double(Self.edge))
        let refined = refine(index, u, v) ?? (u, v)
        return region.point(u: refined.u, v: refined.v)
    }

    /// Refines the position (u, v) of a point. The result is the mean position of the cells that
    /// are at most three cells away, weighted by their probabilities. The result is nil if all
    /// cells in this neighbourhood have probabilities below 0.5.
    private func refine(_ index: Int, _ u: Double, _ v: Double) -> (u: Double, v: Double)? {
        let count = Double(Self.cells)
        guard (0..<1).contains(u), (0..<1).contains(v) else { return nil }
        let (column, row) = (Int(u * count), Int(v * count))
        let reach = 3
        var (sum, across, down, largest) = (0.0, 0.0, 0.0, 0.0)
        for y in max(row - reach, 0)...min(row + reach, Self.cells - 1) {
            for x in max(column - reach, 0)...min(column + reach, Self.cells - 1) {
                let raw = model.outputs[3][(y * Self.cells + x) * Self.points + index]
                let weight = 1 / (1 + cm_exp(-Double(raw)))
                sum += weight
                across += weight * Double(x)
                down += weight * Double(y)
                largest = max(largest, weight)
            }
        }
        guard largest >= 0.5 else { return nil }
        return (across / (sum * count), down / (sum * count))
    }

    private func landmark(_ index: Int, _ region: SquareRegion) -> Landmark {
        // The model returns positions in metres, in the axes of the rotated square. The z axis
        // points away from the camera.
        let metres = (0..<3).map { Double(model.outputs[4][index * 3 + $0]) }
        let (cosine, sine) = (cm_cos(region.rotation), cm_sin(region.rotation))
        return Landmark(
            point: point(index, region),
            x: metres[0] * cosine - metres[1] * sine, y: metres[0] * sine + metres[1] * cosine,
            z: metres[2], visibility: 1 / (1 + cm_exp(-value(index, 3))))
    }
}
