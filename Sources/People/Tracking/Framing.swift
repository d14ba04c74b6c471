import CMathShim

/// Place of a person in the picture.
public struct Framing: Sendable, Equatable {
    /// Horizontal place.
    public enum Side: String, Sendable, CaseIterable {
        /// The middle of the picture.
        case centre
        /// The line between the left third and the rest, so that the picture shows more to the
        /// person's right.
        case leftThird = "left_third"
        /// The line between the right third and the rest.
        case rightThird = "right_third"
    }

    /// Horizontal place.
    public var side = Side.centre
    /// Smallest distance of the top of the head from the upper edge, as a fraction of the picture's
    /// height, 0...0.5.
    public var headRoom = 0.12
    /// Distance of the person from their place to each side at which the camera begins to move, as
    /// a fraction of the picture's width, 0...0.4.
    public var deadZone = 0.0
    /// Time constant with which the camera corrects the place, s.
    public var smoothing = 0.25

    /// Creates the default framing.
    public init() {}

    /// Height in the picture that the camera's axis must reach so that the person is in place: the
    /// middle of a person who fits into the picture, otherwise the head with its room.
    ///
    /// - Parameters:
    ///   - box: Box of the person, pixels.
    ///   - view: Size of the picture.
    /// - Returns: Position below the picture's upper edge, pixels.
    func centreHeight(for box: PixelBox, _ view: CameraView) -> Double {
        let top = max(headRoom * view.height, (view.height - box.height) / 2)
        return box.top + view.height / 2 - top
    }

    /// Angle by which the camera looks to the right of the person, rad.
    func offset(_ view: CameraView) -> Double {
        let shift =
            switch side {
            case .centre: 0.0
            case .leftThird: view.width / 6
            case .rightThird: -view.width / 6
            }
        return cm_atan2(shift, view.focal)
    }

    /// Half the width of the dead zone, rad.
    func deadAngle(_ view: CameraView) -> Double { cm_atan2(deadZone * view.width, view.focal) }
}
