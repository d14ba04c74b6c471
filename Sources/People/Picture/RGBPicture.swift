/// Picture with three bytes per pixel (red, green, blue), without gaps between rows.
public struct RGBPicture: Sendable, Equatable {
    /// Width, pixels.
    public let width: Int
    /// Height, pixels.
    public let height: Int
    /// Colour values 0...255 in the order red, green, blue, row by row from the upper left corner.
    public var bytes: [UInt8]

    /// Creates a picture; nil if the number of bytes does not match the size.
    ///
    /// - Parameters:
    ///   - width: Width, pixels, at least 1.
    ///   - height: Height, pixels, at least 1.
    ///   - bytes: Colour values; their number is 3 · width · height.
    public init?(width: Int, height: Int, bytes: [UInt8]) {
        guard width > 0, height > 0, bytes.count == 3 * width * height else { return nil }
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}

/// Point in a picture, pixels: x right and y down. The origin is the upper left corner of the upper
/// left pixel.
public struct PixelPoint: Sendable, Equatable, BitwiseCopyable {
    /// Position to the right of the picture's left edge, pixels.
    public var x: Double
    /// Position below the picture's upper edge, pixels.
    public var y: Double

    /// Creates a point.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// Axis-parallel rectangle in a picture, pixels. The rectangle can extend beyond the picture.
public struct PixelBox: Sendable, Equatable, BitwiseCopyable {
    /// Position of the left edge, pixels.
    public var left: Double
    /// Position of the upper edge, pixels.
    public var top: Double
    /// Width, pixels.
    public var width: Double
    /// Height, pixels.
    public var height: Double

    /// Creates a rectangle.
    public init(left: Double, top: Double, width: Double, height: Double) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    /// Centre of the rectangle.
    public var centre: PixelPoint { PixelPoint(x: left + width / 2, y: top + height / 2) }

    /// Overlap with another rectangle: area of the intersection divided by the area of the union,
    /// 0...1.
    public func overlap(_ other: PixelBox) -> Double {
        let common =
            max(0, min(left + width, other.left + other.width) - max(left, other.left))
            * max(0, min(top + height, other.top + other.height) - max(top, other.top))
        let union = width * height + other.width * other.height - common
        return union > 0 ? common / union : 0
    }

    /// True if the rectangle contains a point.
    public func contains(_ point: PixelPoint) -> Bool {
        point.x >= left && point.x <= left + width && point.y >= top && point.y <= top + height
    }
}
