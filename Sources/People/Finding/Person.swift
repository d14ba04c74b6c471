/// Point of a detected body.
public struct Landmark: Sendable, Equatable, BitwiseCopyable {
    /// Body part; the cases are in the order of the model's outputs.
    public enum Part: Int, Sendable, CaseIterable {
        case nose, leftEyeInner, leftEye, leftEyeOuter, rightEyeInner, rightEye, rightEyeOuter
        case leftEar, rightEar, mouthLeft, mouthRight
        case leftShoulder, rightShoulder, leftElbow, rightElbow, leftWrist, rightWrist
        case leftPinky, rightPinky, leftIndex, rightIndex, leftThumb, rightThumb
        case leftHip, rightHip, leftKnee, rightKnee, leftAnkle, rightAnkle
        case leftHeel, rightHeel, leftFootIndex, rightFootIndex
    }

    /// Position of the point in the picture, pixels.
    public var point: PixelPoint
    /// Position that the model estimates, relative to the midpoint between the hips, m; axes:
    /// right, down, away from the camera.
    public var x: Double, y: Double, z: Double
    /// Probability that the point is in the picture and not occluded, 0...1.
    public var visibility: Double

    /// Creates a point.
    public init(
        point: PixelPoint, x: Double, y: Double, z: Double, visibility: Double
    ) {
        self.point = point
        (self.x, self.y, self.z) = (x, y, z)
        self.visibility = visibility
    }
}

/// Person in a picture.
public struct Person: Sendable, Equatable {
    /// Probability that the picture contains a body at this position, 0...1.
    public var score: Double
    /// Rectangle around the visible points and the top of the head, pixels.
    public var box: PixelBox
    /// The 33 points, in the order of `Landmark.Part`.
    public var landmarks: [Landmark]
    /// Square region of the next picture in which to search for the body. The square contains the
    /// body if the body moves by less than a quarter of its size.
    public var region: SquareRegion

    /// Creates a person.
    public init(score: Double, box: PixelBox, landmarks: [Landmark], region: SquareRegion) {
        self.score = score
        self.box = box
        self.landmarks = landmarks
        self.region = region
    }

    /// The point for the given part of the body.
    public subscript(part: Landmark.Part) -> Landmark { landmarks[part.rawValue] }

    /// Visibility above which a point counts as visible, 0...1.
    public static let visible = 0.5

    /// Rectangle around the visible points of the body, pixels; nil if fewer than four points are
    /// visible.
    static func box(around landmarks: [Landmark]) -> PixelBox? {
        let points = landmarks.filter { $0.visibility >= visible }.map(\.point)
        guard points.count >= 4, let left = points.map(\.x).min(),
            let right = points.map(\.x).max(), let top = points.map(\.y).min(),
            let bottom = points.map(\.y).max()
        else { return nil }
        // The model has no point at the top of the head. The distance from the eyes to the top of
        // the head is about 1.5 times the distance from the mouth to the eyes.
        func mean(_ a: Landmark.Part, _ b: Landmark.Part) -> PixelPoint? {
            let (a, b) = (landmarks[a.rawValue], landmarks[b.rawValue])
            guard min(a.visibility, b.visibility) >= visible else { return nil }
            return PixelPoint(x: (a.point.x + b.point.x) / 2, y: (a.point.y + b.point.y) / 2)
        }
        var crown = top
        if let eyes = mean(.leftEye, .rightEye), let mouth = mean(.mouthLeft, .mouthRight) {
            crown = min(top, eyes.y - 1.5 * max(0, mouth.y - eyes.y))
        }
        return PixelBox(left: left, top: crown, width: right - left, height: bottom - crown)
    }
}
