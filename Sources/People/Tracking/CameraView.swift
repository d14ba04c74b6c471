import CMathShim
public import GimbalCore

/// Relation of a picture's pixels to directions from the camera: a camera without distortion, whose
/// axis goes through the middle of the picture.
public struct CameraView: Sendable, Equatable, BitwiseCopyable {
    /// Width of the pictures, pixels.
    public var width: Double
    /// Height of the pictures, pixels.
    public var height: Double
    /// Focal length, pixels.
    public var focal: Double

    /// Creates the view of a camera.
    ///
    /// - Parameters:
    ///   - width: Width of the pictures, pixels, positive.
    ///   - height: Height of the pictures, pixels, positive.
    ///   - fieldOfView: Angle between the left and the right edge, rad, between 0 and π.
    public init(width: Int, height: Int, fieldOfView: Double) {
        self.width = Double(width)
        self.height = Double(height)
        let half = fieldOfView / 2
        focal = Double(width) / 2 * cm_cos(half) / cm_sin(half)
    }

    /// Direction of a point of the picture in the earth frame.
    ///
    /// - Parameters:
    ///   - point: The point, pixels.
    ///   - attitude: Attitude of the camera at the exposure, body to earth.
    /// - Returns: The direction.
    public func direction(of point: PixelPoint, _ attitude: Quaternion) -> EarthDirection {
        EarthDirection(
            attitude.rotate(
                Vector3(focal, point.x - width / 2, point.y - height / 2)))
    }

    /// The point of the picture in which a direction of the earth frame appears; nil behind the
    /// camera.
    public func point(of direction: EarthDirection, _ attitude: Quaternion) -> PixelPoint? {
        let body = attitude.inverseRotate(direction.vector)
        guard body.x > 1e-3 else { return nil }
        return PixelPoint(
            x: width / 2 + focal * body.y / body.x, y: height / 2 + focal * body.z / body.x)
    }
}

/// Direction in the earth frame.
public struct EarthDirection: Sendable, Equatable, BitwiseCopyable {
    /// Heading, rad, right positive, -π...π.
    public var yaw: Double
    /// Elevation, rad, up positive, -π/2...π/2.
    public var pitch: Double

    /// Creates a direction.
    public init(yaw: Double, pitch: Double) {
        self.yaw = yaw
        self.pitch = pitch
    }

    /// The direction of a vector, north-east-down, of any length but zero.
    public init(_ vector: Vector3) {
        yaw = cm_atan2(vector.y, vector.x)
        pitch = cm_atan2(-vector.z, cm_sqrt(vector.x * vector.x + vector.y * vector.y))
    }

    /// The vector of length 1.
    public var vector: Vector3 {
        let level = cm_cos(pitch)
        return Vector3(level * cm_cos(yaw), level * cm_sin(yaw), -cm_sin(pitch))
    }
}

/// Person in a picture as the tracker sees it: directions instead of pixels.
public struct Sighting: Sendable, Equatable {
    /// Heading of the body's middle, rad.
    public var yaw: Double
    /// Elevation of the direction in which the camera is to look, rad.
    public var aimPitch: Double
    /// Horizontal distance, m, about; nil if unknown.
    public var distance: Double?

    /// Creates a sighting.
    public init(yaw: Double, aimPitch: Double, distance: Double?) {
        self.yaw = yaw
        self.aimPitch = aimPitch
        self.distance = distance
    }

    /// Creates the sighting of a person.
    ///
    /// - Parameters:
    ///   - person: The person in the picture.
    ///   - view: Relation of pixels to directions.
    ///   - attitude: Attitude of the camera at the exposure, body to earth.
    ///   - framing: Place of the person in the picture that the camera is to reach.
    public init(
        _ person: Person, _ view: CameraView, _ attitude: Quaternion, _ framing: Framing
    ) {
        let middle = person.box.centre
        yaw = view.direction(of: middle, attitude).yaw
        let aim = PixelPoint(x: middle.x, y: framing.centreHeight(for: person.box, view))
        let direction = view.direction(of: aim, attitude)
        aimPitch = direction.pitch
        distance = person.pixelsPerMetre.map { view.focal / $0 * cm_cos(direction.pitch) }
    }
}

extension Person {
    /// Size of a metre at the person's place, pixels, from the distances of visible points of the
    /// trunk in the picture and in the model's metres; nil without enough visible points.
    public var pixelsPerMetre: Double? {
        let parts: [Landmark.Part] = [
            .nose, .leftShoulder, .rightShoulder, .leftHip, .rightHip, .leftElbow, .rightElbow,
            .leftKnee, .rightKnee,
        ]
        let points = parts.map { self[$0] }.filter { $0.visibility >= Person.visible }
        guard points.count >= 3 else { return nil }
        let count = Double(points.count)
        func spread(_ x: (Landmark) -> Double, _ y: (Landmark) -> Double) -> Double {
            let mean = (points.map(x).reduce(0, +) / count, points.map(y).reduce(0, +) / count)
            let squares = points.map { point in
                (x(point) - mean.0) * (x(point) - mean.0)
                    + (y(point) - mean.1) * (y(point) - mean.1)
            }
            return (squares.reduce(0, +) / count).squareRoot()
        }
        let metres = spread(\.x, \.y)
        guard metres > 0.05 else { return nil }
        return spread(\.point.x, \.point.y) / metres
    }
}
