public import GimbalCore

/// The six poses of a camera on its faces, named by the side that points down.
public enum CameraFace: String, Sendable, CaseIterable {
    /// The camera is upright: its bottom points down.
    case bottom
    /// The camera is upside down.
    case top
    /// The lens points up.
    case back
    /// The lens points down.
    case front
    /// The camera lies on its right side.
    case right
    /// The camera lies on its left side.
    case left

    /// End of an instruction that begins with "put the camera", such as "upright and exactly
    /// level".
    public var words: String {
        switch self {
        case .bottom: "upright and exactly level"
        case .top: "upside down, on its top"
        case .back: "on its back, lens up"
        case .front: "on its front, lens down"
        case .right: "on its right side"
        case .left: "on its left side"
        }
    }

    /// Short name of the face, for scripts.
    public var name: String { rawValue }

    /// Finds the side that points down; nil for a pose between two faces.
    ///
    /// - Parameter f: Specific force, body frame (x forward, y right, z down), m/s². At rest, the
    ///   specific force points up.
    public init?(specificForce f: Vector3) {
        let length = f.norm
        // The specific force is at most 25° away from the axis of the face (cos 25° ≈ 0.9).
        guard length > 1, let face = Self.allCases.first(where: { $0.up.dot(f) > 0.9 * length })
        else { return nil }
        self = face
    }

    /// Unit vector that points up in the pose, body frame.
    public var up: Vector3 {
        switch self {
        case .bottom: Vector3(0, 0, -1)
        case .top: Vector3(0, 0, 1)
        case .back: Vector3(1, 0, 0)
        case .front: Vector3(-1, 0, 0)
        case .right: Vector3(0, -1, 0)
        case .left: Vector3(0, 1, 0)
        }
    }
}
