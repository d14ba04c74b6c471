public import GimbalCore

/// Pose of a phone's camera in the phone's world frame (metres, y up).
public struct DevicePose: Sendable, Equatable {
    /// Rotation from the picture's axes (x right, y down, z away from the viewer) to the world
    /// frame.
    public var rotation: Quaternion
    /// Position of the camera in the world frame, m.
    public var position: Vector3

    /// Creates a pose.
    public init(rotation: Quaternion, position: Vector3) {
        self.rotation = rotation
        self.position = position
    }

    /// Reads a pose matrix of 4 × 4 numbers in row-major or column-major order. HawkSight documents
    /// row-major order, but its encoder for ARKit matrices writes column-major order. The position
    /// vector is in the last column (row-major order) or in the last row (column-major order).
    ///
    /// - Parameters:
    ///   - matrix: The numbers.
    ///   - axes: Meaning of the matrix's columns.
    public init?(_ matrix: [[Float]], axes: AerieOptions.CameraAxes) {
        guard matrix.count == 4, matrix.allSatisfy({ $0.count == 4 }),
            matrix.joined().allSatisfy({ $0.isFinite && abs($0) < 1e6 })
        else { return nil }
        var m = matrix.map { $0.map(Double.init) }
        let isByRows = m[3][0] == 0 && m[3][1] == 0 && m[3][2] == 0
        if !isByRows {
            m = (0..<4).map { row in (0..<4).map { matrix[$0][row] }.map(Double.init) }
        }
        guard m[3] == [0, 0, 0, 1], let rotation = Quaternion(rows: m) else { return nil }
        self.rotation = axes == .arkit ? rotation * .aboutX(.pi) : rotation
        position = Vector3(m[0][3], m[1][3], m[2][3])
    }

    /// Number of clockwise quarter turns that make the people in the picture upright, 0...3. An
    /// upright phone takes a picture that is rotated by 90°.
    var quarterTurns: Int {
        let up = rotation.inverseRotate(Vector3(0, 1, 0))
        if abs(up.y) >= abs(up.x) { return up.y <= 0 ? 0 : 2 }
        return up.x > 0 ? 3 : 1
    }
}

extension Quaternion {
    /// Rotation in a pose matrix; nil if the matrix deviates from a rotation by more than 2 %.
    init?(rows m: [[Double]]) {
        let x = Vector3(m[0][0], m[1][0], m[2][0])
        let y = Vector3(m[0][1], m[1][1], m[2][1])
        let z = Vector3(m[0][2], m[1][2], m[2][2])
        let errors = [
            x.squaredNorm - 1, y.squaredNorm - 1, z.squaredNorm - 1, x.dot(y), y.dot(z), z.dot(x),
        ]
        guard errors.allSatisfy({ abs($0) < 0.02 }), x.cross(y).dot(z) > 0 else { return nil }
        // Three components of the quaternion are divided by the largest component, to avoid large
        // rounding errors.
        let squares = [
            1 + x.x + y.y + z.z, 1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z, 1 - x.x - y.y + z.z,
        ]
        let (a, b, c) = (y.z - z.y, z.x - x.z, x.y - y.x)
        let (d, e, f) = (x.y + y.x, z.x + x.z, y.z + z.y)
        let candidates = [
            Quaternion(w: squares[0], x: a, y: b, z: c),
            Quaternion(w: a, x: squares[1], y: d, z: e),
            Quaternion(w: b, x: d, y: squares[2], z: f),
            Quaternion(w: c, x: e, y: f, z: squares[3]),
        ]
        let best = squares.indices.max { squares[$0] < squares[$1] } ?? 0
        self = candidates[best].normalized
    }
}
