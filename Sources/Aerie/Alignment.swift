public import GimbalCore
import Glibc

/// Result of a calibration: rotations and position that relate a phone's world frame to the
/// gimbal's earth frame.
public struct Alignment: Sendable, Equatable, Codable {
    /// Name of the phone.
    public var device: String
    /// Rotation from the axes of the phone's picture to the camera's body: w, x, y, z.
    public var mounting: [Double]
    /// Rotation from the phone's world frame to the earth frame: w, x, y, z.
    public var world: [Double]
    /// Position of the gimbal, in the phone's world frame, m: x, y, z.
    public var gimbal: [Double]

    /// Creates an alignment from a calibration.
    ///
    /// - Parameters:
    ///   - device: Name of the phone.
    ///   - result: The calibration.
    ///   - position: Position of the phone during the calibration, m. The gimbal is assumed to have
    ///     the same position.
    public init(device: String, _ result: HandEye, position: Vector3) {
        self.device = device
        mounting = Self.numbers(result.mounting)
        world = Self.numbers(result.world)
        gimbal = [position.x, position.y, position.z]
    }

    /// True if the rotations and the position are valid.
    public var isValid: Bool {
        func isRotation(_ q: [Double]) -> Bool {
            q.count == 4 && abs(q.reduce(0) { $0 + $1 * $1 } - 1) < 1e-3
        }
        return isRotation(mounting) && isRotation(world) && gimbal.count == 3
            && gimbal.allSatisfy { $0.isFinite && abs($0) < 1e6 }
            && (1...128).contains(device.utf8.count)
    }

    /// Computes the camera angles that aim the gimbal's camera at a point.
    ///
    /// - Parameter point: Position of the point, in the phone's world frame, m.
    /// - Returns: Yaw (right positive) and pitch (up positive) in the earth frame, rad; nil if the
    ///   point is within 0.2 m of the gimbal.
    public func angles(to point: Vector3) -> (yaw: Double, pitch: Double)? {
        guard isValid else { return nil }
        let sight = point - Vector3(gimbal[0], gimbal[1], gimbal[2])
        guard sight.isFinite, sight.norm > 0.2 else { return nil }
        let q = Quaternion(w: world[0], x: world[1], y: world[2], z: world[3]).normalized
        let v = q.rotate(sight)
        let (level, down) = ((v.x * v.x + v.y * v.y).squareRoot(), v.z)
        return (atan2(v.y, v.x), atan2(-down, level))
    }

    private static func numbers(_ q: Quaternion) -> [Double] { [q.w, q.x, q.y, q.z] }
}
