import CMathShim
public import GimbalCore

/// Camera model that relates a picture's pixels to directions. The model has no distortion, and its
/// optical axis is at the centre of the picture.
public struct CameraView: Sendable, Equatable, BitwiseCopyable {
    /// Width of the pictures, pixels.
    public var width: Double
    /// Height of the pictures, pixels.
    public var height: Double
    /// Focal length, pixels.
    public var focal: Double

    /// Creates the model of a camera.
    ///
    /// - Parameters:
    ///   - width: Width of the pictures, pixels, positive.
    ///   - height: Height of the pictures, pixels, positive.
    ///   - fieldOfView: Horizontal angle of view, rad, between 0 and π.
    public init(width: Int, height: Int, fieldOfView: Double) {
        self.width = Double(width)
        self.height = Double(height)
        let half = fieldOfView / 2
        focal = Double(width) / 2 * cm_cos(half) / cm_sin(half)
    }

    /// Converts a point of the picture to a direction in the earth frame.
    ///
    /// - Parameters:
    ///   - point: The point, pixels.
    ///   - attitude: Attitude of the camera at the exposure, body to earth.
    /// - Returns: Direction from the camera to the point.
    public func direction(of point: PixelPoint, _ attitude: Quaternion) -> EarthDirection {
        EarthDirection(
            attitude.rotate(
                Vector3(focal, point.x - width / 2, point.y - height / 2)))
    }

    /// Converts a direction in the earth frame to a point of the picture; nil if the direction is
    /// behind the camera.
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

    /// Creates the direction of a vector (north, east, down). The vector must not be zero.
    public init(_ vector: Vector3) {
        yaw = cm_atan2(vector.y, vector.x)
        pitch = cm_atan2(-vector.z, cm_sqrt(vector.x * vector.x + vector.y * vector.y))
    }

    /// Unit vector of the direction: north, east, down.
    public var vector: Vector3 {
        let level = cm_cos(pitch)
        return Vector3(level * cm_cos(yaw), level * cm_sin(yaw), -cm_sin(pitch))
    }
}

/// Observation of a person in one picture, as directions, for the tracker.
public struct Sighting: Sendable, Equatable {
    /// Heading of the body's centre, rad.
    public var yaw: Double
    /// Elevation of the optical axis for the desired framing, rad.
    public var aimPitch: Double
    /// Approximate horizontal distance of the person, m; nil if it is unknown.
    public var distance: Double?

    /// Creates an observation from its values.
    public init(yaw: Double, aimPitch: Double, distance: Double?) {
        self.yaw = yaw
        self.aimPitch = aimPitch
        self.distance = distance
    }

    /// Creates the observation of a person in a picture.
    ///
    /// - Parameters:
    ///   - person: The person in the picture.
    ///   - view: Camera model of the picture.
    ///   - attitude: Attitude of the camera at the exposure, body to earth.
    ///   - framing: Desired position of the person in the picture.
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
    /// Scale of the picture at the person, pixels per metre. The scale is the distance between
    /// visible points of the trunk in pixels, divided by the model's distance in metres. The scale
    /// is nil if too few points are visible.
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
