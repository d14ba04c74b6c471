public import GimbalCore
internal import CMathShim

/// Calibration of the sensor's mounting, from two still poses: first the camera is level, then its
/// lens points down.
///
/// In the level pose, gravity is parallel to the camera's downward axis. From the first pose to the
/// second, the direction of gravity rotates about the camera's pitch axis. The two poses together
/// determine the whole rotation, for every mounting.
public struct MountingCalibration: Sendable {
    /// Result of the calibration: the mounting rotation, with its accuracy.
    public struct Result: Sendable, Equatable {
        /// Mounting: rotation from the sensor frame to the camera's body frame.
        public var mounting: Quaternion
        /// Raw specific force in the level pose, sensor frame, m/s².
        public var level: Vector3
        /// Raw specific force in the pose with the lens down, sensor frame, m/s².
        public var lensDown: Vector3
        /// Angle between the two poses, rad.
        public var tilt: Double
        /// Difference between the magnitudes of the specific force in the two poses, m/s². An ideal
        /// accelerometer would measure no difference.
        public var residual: Double
    }

    /// Parameters of the calibration procedure.
    public struct Parameters: Sendable, Equatable {
        /// Thresholds for a still camera, and the required duration without motion.
        public var window: StillWindow.Parameters
        /// Smallest angle between the poses, rad.
        public var smallestTilt = 25 * Double.pi / 180
        /// Largest angle between the poses, rad.
        public var largestTilt = 130 * Double.pi / 180

        /// Creates the default parameters: the camera must be still for 1.5 s in each pose.
        public init() {
            window = StillWindow.Parameters()
            window.seconds = 1.5
        }
    }

    private let parameters: Parameters
    private let accel: SensorCorrection.Affine
    private var window: StillWindow
    /// Raw specific force in the level pose, sensor frame, m/s².
    private var level: Vector3?

    /// Creates a calibration without poses; the first still pose is the level pose.
    ///
    /// - Parameters:
    ///   - accel: Recorded correction of the accelerometer.
    ///   - parameters: Parameters of the calibration procedure.
    public init(accel: SensorCorrection.Affine, parameters: Parameters = Parameters()) {
        self.accel = accel
        self.parameters = parameters
        window = StillWindow(parameters: parameters.window)
    }

    /// True if the level pose has been measured.
    public var hasLevelPose: Bool { level != nil }
    /// Progress of the calibration, 0...1.
    public var progress: Double { (hasLevelPose ? 0.5 : 0) + 0.5 * window.progress }
    /// Motion of the camera in the last second; nil if the camera was still.
    public var motion: Motion? { window.presentMotion }

    /// Adds one raw sample to the current pose.
    ///
    /// - Parameters:
    ///   - gyro: Rate, sensor frame, rad/s.
    ///   - raw: Specific force, sensor frame, m/s².
    ///   - dt: Seconds since the previous sample.
    /// - Returns: State of the calibration. If the second pose is too close to the first pose, the
    ///   calibration waits for another pose.
    public mutating func add(
        gyro: Vector3, accel raw: Vector3, dt: Double
    ) -> CalibrationOutcome<Result> {
        guard let mean = window.add(gyro: gyro, accel: raw, dt: dt) else { return .collecting }
        let force = accel.apply(mean.accel)
        guard abs(force.norm - 9.80665) < 2 else {
            return .refused(
                "The accelerometer does not measure 9.81 m/s² at rest. Check imu.accel_range_g and the sensor."
            )
        }
        guard let level else {
            self.level = mean.accel
            return .collecting
        }
        let first = accel.apply(level)
        let tilt = cm_atan2(first.cross(force).norm, first.dot(force))
        if tilt < parameters.smallestTilt { return .collecting }
        guard tilt <= parameters.largestTilt else {
            return .refused(
                "The camera is tilted too far in the second pose. Tilt the lens down by about 45 to 90 degrees."
            )
        }
        return .done(
            Result(
                mounting: Self.mounting(level: first, lensDown: force), level: level,
                lensDown: mean.accel, tilt: tilt, residual: abs(first.norm - force.norm)))
    }

    /// Computes the mounting from the corrected specific forces in the two poses, which must not be
    /// parallel.
    static func mounting(level: Vector3, lensDown: Vector3) -> Quaternion {
        // The camera's axes in the sensor frame. At rest, the specific force points up. When the
        // lens is turned down, the up vector rotates about −y of the camera, so up × up' is +y.
        let down = -(level / level.norm)
        let axis = level.cross(lensDown)
        let right = axis / axis.norm
        let forward = right.cross(down)
        return quaternion(rows: forward, right, down)
    }

    /// Converts a rotation matrix with the given rows to a quaternion. The quaternion's largest
    /// component is computed first, for accuracy.
    static func quaternion(rows x: Vector3, _ y: Vector3, _ z: Vector3) -> Quaternion {
        let trace = x.x + y.y + z.z
        let q: Quaternion
        if trace > max(x.x, max(y.y, z.z)) {
            q = Quaternion(w: 1 + trace, x: z.y - y.z, y: x.z - z.x, z: y.x - x.y)
        } else if x.x >= max(y.y, z.z) {
            q = Quaternion(w: z.y - y.z, x: 1 + 2 * x.x - trace, y: x.y + y.x, z: x.z + z.x)
        } else if y.y >= z.z {
            q = Quaternion(w: x.z - z.x, x: x.y + y.x, y: 1 + 2 * y.y - trace, z: y.z + z.y)
        } else {
            q = Quaternion(w: y.x - x.y, x: x.z + z.x, y: y.z + z.y, z: 1 + 2 * z.z - trace)
        }
        return q.normalized
    }
}
