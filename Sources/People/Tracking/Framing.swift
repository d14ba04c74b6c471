import CMathShim

/// Desired position of a person in the picture.
public struct Framing: Sendable, Equatable {
    /// Horizontal position of the person.
    public enum Side: String, Sendable, CaseIterable {
        /// The centre of the picture.
        case centre
        /// One third of the width from the left edge. In this position, the picture shows more of
        /// the scene to the right of the person.
        case leftThird = "left_third"
        /// One third of the width from the right edge.
        case rightThird = "right_third"
    }

    /// Horizontal position of the person.
    public var side = Side.centre
    /// Smallest distance of the top of the head from the upper edge, as a fraction of the picture's
    /// height, 0...0.5.
    public var headRoom = 0.12
    /// Half the width of the dead zone, as a fraction of the picture's width, 0...0.4. The camera
    /// moves only if the person is farther from the desired position than this value.
    public var deadZone = 0.0
    /// Time constant of the person's motion to the desired position in the picture, s.
    public var smoothing = 0.25

    /// Creates the default framing.
    public init() {}

    /// Vertical position of the camera's aim point in the current picture, pixels. If the person
    /// fits into the picture, this position is the person's centre. Otherwise this position leaves
    /// room above the head.
    ///
    /// - Parameters:
    ///   - box: Bounding box of the person, pixels.
    ///   - view: Size of the picture.
    /// - Returns: Position below the picture's upper edge, pixels.
    func centreHeight(for box: PixelBox, _ view: CameraView) -> Double {
        let top = max(headRoom * view.height, (view.height - box.height) / 2)
        return box.top + view.height / 2 - top
    }

    /// Angle from the person to the optical axis, right positive, rad.
    func offset(_ view: CameraView) -> Double {
        let shift =
            switch side {
            case .centre: 0.0
            case .leftThird: view.width / 6
            case .rightThird: -view.width / 6
            }
        return cm_atan2(shift, view.focal)
    }

    /// Half the width of the dead zone as an angle, rad.
    func deadAngle(_ view: CameraView) -> Double { cm_atan2(deadZone * view.width, view.focal) }
}
