import CMathShim

/// Square that is cut from a picture as the input of a model; the square can be rotated about its
/// centre.
public struct SquareRegion: Sendable, Equatable, BitwiseCopyable {
    /// Centre of the square, pixels.
    public var centre: PixelPoint
    /// Length of an edge, pixels.
    public var side: Double
    /// Angle from the picture's x axis to the square's x axis, clockwise in the picture, rad.
    public var rotation: Double

    /// Creates a region.
    public init(centre: PixelPoint, side: Double, rotation: Double = 0) {
        self.centre = centre
        self.side = side
        self.rotation = rotation
    }

    /// The smallest square around the whole picture.
    public init(around picture: RGBPicture) {
        self.init(
            centre: PixelPoint(x: Double(picture.width) / 2, y: Double(picture.height) / 2),
            side: Double(max(picture.width, picture.height)))
    }

    /// Creates the square around a body. The square is centred on the hips, and the body is upright
    /// in it.
    ///
    /// - Parameters:
    ///   - hips: Midpoint between the hips, pixels.
    ///   - top: Point towards the head, at a distance of half the body's size from the hips,
    ///     pixels. The detector and the landmark model each return the point `top`.
    init(hips: PixelPoint, top: PixelPoint) {
        let (dx, dy) = (top.x - hips.x, top.y - hips.y)
        // The models were trained on squares 25 % larger than the body.
        self.init(
            centre: hips, side: 2 * 1.25 * cm_sqrt(dx * dx + dy * dy),
            rotation: cm_atan2(dx, -dy))
    }

    /// Converts a position in the square to a point of the picture.
    ///
    /// - Parameters:
    ///   - u: Position along the square's x axis, 0...1 inside the square.
    ///   - v: Position along the square's y axis, 0...1 inside the square.
    /// - Returns: The point, pixels.
    public func point(u: Double, v: Double) -> PixelPoint {
        let (cosine, sine) = (cm_cos(rotation), cm_sin(rotation))
        let (x, y) = (side * (u - 0.5), side * (v - 0.5))
        return PixelPoint(
            x: centre.x + x * cosine - y * sine, y: centre.y + x * sine + y * cosine)
    }
}
