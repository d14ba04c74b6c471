import Glibc

/// Orientation of the camera in the earth frame, Euler order Z-X-Y, degrees, as in requests of the
/// socket: yaw right, roll right and pitch up are positive.
public struct Pose: Sendable, Equatable, Codable {
    /// Yaw, degrees; in a plan, relative to the camera's yaw at the beginning of the shot.
    public var yaw: Double
    /// Roll, degrees.
    public var roll: Double
    /// Pitch, degrees.
    public var pitch: Double

    /// Creates a pose.
    public init(yaw: Double = 0, roll: Double = 0, pitch: Double = 0) {
        (self.yaw, self.roll, self.pitch) = (yaw, roll, pitch)
    }

    /// Largest difference between the corresponding angles of two poses, degrees, 0...180.
    public func distance(to other: Pose) -> Double {
        max(
            Self.wrapped(yaw - other.yaw).magnitude, Self.wrapped(roll - other.roll).magnitude,
            Self.wrapped(pitch - other.pitch).magnitude)
    }

    /// Pose with the given angle added to the yaw; the sum is wrapped to -180...180°.
    public func turned(byYaw yaw: Double) -> Pose {
        Pose(yaw: Self.wrapped(self.yaw + yaw), roll: roll, pitch: pitch)
    }

    /// The angle wrapped to -180...180°.
    public static func wrapped(_ degrees: Double) -> Double {
        let rest = remainder(degrees, 360)
        // An angle of -180° becomes 180°, so that a full circle begins and ends with the same
        // value.
        return rest <= -180 ? rest + 360 : rest
    }
}

/// Field of view of a camera, degrees: angles between opposite edges of the picture, measured
/// through the picture's centre.
public struct FieldOfView: Sendable, Equatable {
    /// Horizontal angle, degrees, 1...170.
    public var width: Double
    /// Vertical angle, degrees, 1...170.
    public var height: Double

    /// Creates a field of view.
    public init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

    /// Field of view of a central part of the picture. `share` is the part's width and height, as a
    /// fraction of the whole picture. The lens is rectilinear.
    public func shrunk(to share: Double) -> FieldOfView {
        func angle(_ degrees: Double) -> Double {
            atan(tan(degrees * .pi / 360) * share) * 360 / .pi
        }
        return FieldOfView(width: angle(width), height: angle(height))
    }

    /// True if the picture of a camera at `pitch` contains the given direction.
    ///
    /// - Parameters:
    ///   - yaw: Yaw of the direction, relative to the camera's yaw, degrees.
    ///   - elevation: Angle of the direction above the horizon, degrees.
    ///   - pitch: Pitch of the camera, degrees.
    /// - Returns: True if the direction is in the picture.
    public func contains(yaw: Double, elevation: Double, pitch: Double) -> Bool {
        let (psi, e, p) = (yaw * .pi / 180, elevation * .pi / 180, pitch * .pi / 180)
        let (level, up) = (cos(e) * cos(psi), sin(e))
        let forward = level * cos(p) + up * sin(p)
        let across = cos(e) * sin(psi)
        let high = up * cos(p) - level * sin(p)
        guard forward > 0 else { return false }
        // A tolerance of one part in 10^9 prevents rounding from excluding an edge.
        let slack = 1 + 1e-9
        return across.magnitude <= forward * tan(width * .pi / 360) * slack
            && high.magnitude <= forward * tan(height * .pi / 360) * slack
    }

    /// Outline of a camera's picture.
    ///
    /// - Parameter pose: Orientation of the camera.
    /// - Returns: Directions in degrees; yaw is continuous, within 180° of the camera's yaw.
    public func outline(of pose: Pose) -> [(yaw: Double, elevation: Double)] {
        let (a, b) = (tan(width * .pi / 360), tan(height * .pi / 360))
        let corners = [(-a, b), (a, b), (a, -b), (-a, -b)]
        let (p, r) = (pose.pitch * .pi / 180, pose.roll * .pi / 180)
        var outline: [(yaw: Double, elevation: Double)] = corners.indices.flatMap { index in
            let (start, end) = (corners[index], corners[(index + 1) % 4])
            return (0..<12).map { step in
                let share = Double(step) / 12
                let x = start.0 + share * (end.0 - start.0)
                let y = start.1 + share * (end.1 - start.1)
                let (across, high) = (x * cos(r) + y * sin(r), y * cos(r) - x * sin(r))
                let level = cos(p) - high * sin(p)
                let up = sin(p) + high * cos(p)
                let yaw = atan2(across, level) * 180 / .pi
                return (pose.yaw + yaw, atan2(up, hypot(across, level)) * 180 / .pi)
            }
        }
        func offset(_ point: (yaw: Double, elevation: Double)) -> Double {
            Pose.wrapped(point.yaw - pose.yaw)
        }
        let pole = pose.pitch > 0 ? 90.0 : -90
        // If the picture contains the zenith or the nadir, its outline has one point at each yaw; a
        // line at ±90° closes the outline.
        if contains(yaw: 0, elevation: pole, pitch: pose.pitch) {
            outline = outline.map { (pose.yaw + offset($0), $0.elevation) }
                .sorted { $0.yaw < $1.yaw }
            let end = outline[0].elevation
            outline = [(pose.yaw - 180, end)] + outline + [(pose.yaw + 180, end)]
            outline += [(pose.yaw + 180, pole), (pose.yaw - 180, pole)]
        }
        return outline
    }
}
