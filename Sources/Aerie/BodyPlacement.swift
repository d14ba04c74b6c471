import GimbalCore

/// Detected point of a body in a picture.
public struct BodyPoint: Sendable, Equatable {
    /// Position in the picture, pixels: x right, y down.
    public var u: Double, v: Double
    /// Position relative to the midpoint between the hips, m: to the right, down, and away from the
    /// viewer.
    public var x: Double, y: Double, z: Double
    /// Probability that the point is visible, 0...1.
    public var visibility: Double

    /// Creates a point.
    public init(u: Double, v: Double, x: Double, y: Double, z: Double, visibility: Double) {
        self.u = u
        self.v = v
        self.x = x
        self.y = y
        self.z = z
        self.visibility = visibility
    }
}

/// Body that a detector has found in a picture.
public struct Body: Sendable, Equatable {
    /// Probability that the body is a person, 0...1.
    public var confidence: Double
    /// Points from which the distance of the body is computed. Each joint in `joints` is one of
    /// these points, or is computed from several points.
    public var points: [BodyPoint]
    /// Joints that a broadcast can contain.
    public var joints: [JointType: BodyPoint]

    /// Creates a body.
    public init(confidence: Double, points: [BodyPoint], joints: [JointType: BodyPoint]) {
        self.confidence = confidence
        self.points = points
        self.joints = joints
    }

    /// Threshold of a point's visibility, 0...1; points with a lower visibility are ignored.
    static let visible = 0.5

    /// Converts the body to coordinates of the picture before the clockwise rotation.
    ///
    /// - Parameters:
    ///   - turns: Number of clockwise quarter turns, 0...3.
    ///   - width: Width of the picture before the rotation, pixels.
    ///   - height: Height of the picture before the rotation, pixels.
    /// - Returns: The body, in coordinates of the picture before the rotation.
    func turnedBack(_ turns: Int, width: Double, height: Double) -> Body {
        func back(_ p: BodyPoint) -> BodyPoint {
            var q = p
            switch turns {
            case 1: (q.u, q.v, q.x, q.y) = (p.v, height - p.u, p.y, -p.x)
            case 2: (q.u, q.v, q.x, q.y) = (width - p.u, height - p.v, -p.x, -p.y)
            case 3: (q.u, q.v, q.x, q.y) = (width - p.v, p.u, -p.y, p.x)
            default: break
            }
            return q
        }
        return Body(
            confidence: confidence, points: points.map(back), joints: joints.mapValues(back))
    }
}

/// Optics of a camera: focal lengths and principal point, in pixels of the picture.
struct Optics: Equatable {
    let fx: Double, fy: Double, cx: Double, cy: Double

    /// Scales the intrinsics to the size of the picture, which can be smaller than the sensor's
    /// picture.
    ///
    /// - Returns: The optics; nil if the intrinsics are implausible.
    init?(_ intrinsics: CameraIntrinsics, width: Int, height: Int) {
        guard intrinsics.width > 0, intrinsics.height > 0, width > 0, height > 0 else { return nil }
        let (sx, sy) = (
            Double(width) / Double(intrinsics.width), Double(height) / Double(intrinsics.height)
        )
        fx = Double(intrinsics.fx) * sx
        fy = Double(intrinsics.fy) * sy
        cx = Double(intrinsics.cx) * sx
        cy = Double(intrinsics.cy) * sy
        let size = Double(max(width, height))
        guard (size / 10...size * 20).contains(fx), (size / 10...size * 20).contains(fy),
            (0...Double(width)).contains(cx), (0...Double(height)).contains(cy)
        else { return nil }
    }

    /// Slopes of the line of sight through a point of the picture: displacement to the right and
    /// down, divided by the depth.
    func slopes(_ point: BodyPoint) -> (a: Double, b: Double) {
        ((point.u - cx) / fx, (point.v - cy) / fy)
    }
}

/// Position of a body in front of a camera, computed from the body's apparent size.
struct BodyPlacement {
    /// Position of the midpoint between the hips, m: right, down, away from the viewer.
    let hips: Vector3
    /// Positions of the visible joints, m: right, down, away from the viewer. Each joint lies on
    /// the line of sight through its pixel.
    let joints: [JointType: Vector3]

    /// Range of plausible distances, m.
    private static let distances = 0.3...60.0

    /// Computes the body's position from the pixels of its points. The detector also returns each
    /// point's position relative to the hips, in metres. The position minimises the sum of squared
    /// distances between the points and their lines of sight. Points with large errors have lower
    /// weights.
    ///
    /// - Returns: The position; nil if fewer than 6 points are visible, or if the result is
    ///   implausible.
    init?(_ body: Body, _ optics: Optics) {
        let points = body.points.filter { $0.visibility >= Body.visible }
        guard points.count >= 6 else { return nil }
        // The detector assumes that the hips are on the optical axis. The detector examines a crop
        // of the picture, centred on the hips.
        let hips = [JointType.leftHip, .rightHip].compactMap { body.joints[$0] }
        let centre = hips.count == 2 ? hips : points
        let middle = centre.reduce((a: 0.0, b: 0.0)) { sum, point in
            let (a, b) = optics.slopes(point)
            return (sum.a + a / Double(centre.count), sum.b + b / Double(centre.count))
        }
        let turn = Self.turn(to: Vector3(middle.a, middle.b, 1))
        var weights = points.map(\.visibility)
        var place = Vector3.zero
        for _ in 0..<4 {
            guard let solution = Self.solve(points, weights, optics, turn) else { return nil }
            place = solution
            weights = points.map { point in
                let (a, b) = optics.slopes(point)
                let p = turn.rotate(Vector3(point.x, point.y, point.z)) + place
                let error = Vector3(p.x - a * p.z, p.y - b * p.z, 0).norm
                return point.visibility * min(1, 0.05 / max(error, 1e-9))
            }
        }
        guard place.isFinite, Self.distances.contains(place.z) else { return nil }
        self.hips = place
        joints = body.joints.compactMapValues { point in
            guard point.visibility >= Body.visible else { return nil }
            let (a, b) = optics.slopes(point)
            let depth = turn.rotate(Vector3(point.x, point.y, point.z)).z + place.z
            return depth > 0.1 ? Vector3(a * depth, b * depth, depth) : nil
        }
    }

    /// Shortest rotation from the optical axis to the given direction.
    private static func turn(to direction: Vector3) -> Quaternion {
        let ahead = Vector3(0, 0, 1)
        let target = direction / direction.norm
        let axis = ahead.cross(target)
        return Quaternion(w: 1 + ahead.dot(target), x: axis.x, y: axis.y, z: axis.z).normalized
    }

    /// Each point gives two equations for the position (X, Y, Z): X - a Z = a z - x, Y - b Z = b z
    /// - y.
    private static func solve(
        _ points: [BodyPoint], _ weights: [Double], _ optics: Optics, _ turn: Quaternion
    ) -> Vector3? {
        var (n, na, nb, nab) = (0.0, 0.0, 0.0, 0.0)
        var (rx, ry, rz) = (0.0, 0.0, 0.0)
        for (point, w) in zip(points, weights) {
            let (a, b) = optics.slopes(point)
            let p = turn.rotate(Vector3(point.x, point.y, point.z))
            let (c, d) = (a * p.z - p.x, b * p.z - p.y)
            n += w
            na += w * a
            nb += w * b
            nab += w * (a * a + b * b)
            rx += w * c
            ry += w * d
            rz -= w * (a * c + b * d)
        }
        // The first two equations give X = (rx + na Z) / n and Y = (ry + nb Z) / n; the third
        // equation then gives Z.
        let spread = nab - (na * na + nb * nb) / n
        guard n > 0, spread > 1e-9 * n else { return nil }
        let z = (rz + (na * rx + nb * ry) / n) / spread
        return Vector3((rx + na * z) / n, (ry + nb * z) / n, z)
    }
}
