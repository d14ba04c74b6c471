internal import CMathShim
public import GimbalCore
internal import PlainText

/// Calibration of the accelerometer from six still poses. The calibration determines the offset,
/// the scale and, if the poses are sufficient, the cross-axis terms.
///
/// The camera can be put on its faces in any order; the calibration detects each face. The poses
/// need not be exact, because the calibration uses only the magnitude of the specific force. Only
/// the upright pose defines the horizon, if the mounting has not been calibrated. The calibration
/// also uses still poses between two faces, because they determine the cross-axis terms.
public struct AccelerometerCalibration: Sendable {
    /// Result of the calibration: offset and matrix, with their accuracy.
    public struct Result: Sendable, Equatable {
        /// Correction of raw samples: offset and matrix, sensor frame, m/s². The matrix contains the
        /// rotation that levels the upright pose; `ActiveCalibrations` applies this rotation to all
        /// sensors.
        public var correction: SensorCorrection.Affine
        /// Standard deviation of the offset on the least certain axis, m/s².
        public var offsetSigma: Double
        /// RMS error of the specific force's magnitude after the correction, m/s².
        public var residual: Double
        /// Tilt of the upright pose before the correction, rad. If the tilt exceeds
        /// `Parameters.largestTilt`, the sensor's mounting differs from the configured mounting,
        /// and the pose is not used.
        public var tilt: Double
        /// True if the correction includes the tilt of the upright pose.
        public var isLevel: Bool
    }

    /// Parameters of the calibration procedure.
    public struct Parameters: Sendable, Equatable {
        /// Thresholds for a still camera, and the required duration without motion.
        public var window: StillWindow.Parameters
        /// Magnitude of the specific force at rest, m/s².
        public var gravity = 9.80665
        /// Standard deviation of a typical sensor's offset, m/s². A calibration is refused if its
        /// offset exceeds five times this value. BMI088: ±20 mg.
        public var offsetSigma = 0.3
        /// Standard deviation of a typical sensor's relative scale error. A calibration is refused
        /// if its scale error exceeds five times this value.
        public var scaleSigma = 0.01
        /// Standard deviation of a typical sensor's cross-axis terms, dimensionless. BMI088: 0.5 %.
        public var crossSigma = 0.003
        /// Largest residual that is accepted, m/s².
        public var largestResidual = 0.03
        /// Largest tilt of the upright pose that the correction removes, rad. Misaligned axes of
        /// the sensor and an uneven glue joint cause tilts of a few degrees. The cause of a larger
        /// tilt is the sensor's mounting.
        public var largestTilt = 4 * Double.pi / 180
        /// Largest number of stored poses.
        public var poseLimit = 30

        /// Creates the default parameters: the camera must be still for 1.5 s in each pose.
        public init() {
            window = StillWindow.Parameters()
            window.seconds = 1.5
        }
    }

    private let parameters: Parameters
    private let mounting: Quaternion
    private var window: StillWindow
    private(set) var poses: [Vector3] = []
    private var faces: Set<CameraFace> = []
    /// Specific force measured in the upright pose, m/s²; nil until this pose has been measured.
    private var upright: Vector3?

    /// Creates a calibration without poses.
    ///
    /// - Parameters:
    ///   - mounting: Rotation from the sensor frame to the camera's body frame, which is needed to
    ///     name the faces. An error of a few degrees is permitted.
    ///   - parameters: Parameters of the calibration procedure.
    public init(mounting: Quaternion, parameters: Parameters = Parameters()) {
        self.mounting = mounting
        self.parameters = parameters
        window = StillWindow(parameters: parameters.window)
    }

    /// The faces of the camera that have not been measured yet, in the order in which they are
    /// requested.
    public var missing: [CameraFace] { CameraFace.allCases.filter { !faces.contains($0) } }
    /// Progress of the calibration, 0...1, including the finished part of the current pose.
    public var progress: Double {
        min((Double(faces.count) + (isNewPose ? window.progress : 0)) / 6, 1)
    }
    /// Motion of the camera in the last second; nil if the camera was still.
    public var motion: Motion? { window.presentMotion }
    /// True if the current pose differs from all earlier poses. If the pose has already been
    /// measured, the calibration waits for another pose.
    public private(set) var isNewPose = true

    /// Adds one raw sample to the current pose.
    ///
    /// - Parameters:
    ///   - gyro: Rate, sensor frame, rad/s.
    ///   - accel: Specific force, sensor frame, m/s².
    ///   - dt: Seconds since the previous sample.
    /// - Returns: State of the calibration, which is `done` after all six faces have been measured.
    public mutating func add(
        gyro: Vector3, accel: Vector3, dt: Double
    ) -> CalibrationOutcome<Result> {
        isNewPose = isNew(accel)
        guard let mean = window.add(gyro: gyro, accel: accel, dt: dt) else { return .collecting }
        let g = parameters.gravity
        guard abs(mean.accel.norm - g) < 0.2 * g, isNew(mean.accel) else { return .collecting }
        if let face = CameraFace(specificForce: mounting.rotate(mean.accel)) {
            faces.insert(face)
            if face == .bottom { upright = mean.accel }
        } else if poses.count >= parameters.poseLimit - 6 {
            return .collecting
        }
        poses.append(mean.accel)
        return missing.isEmpty ? finish() : .collecting
    }

    /// Computes the result from the poses so far.
    ///
    /// - Returns: `done` with the result, or `refused` with the reason: faces are missing, or the
    ///   values are impossible for a sensor.
    public func finish() -> CalibrationOutcome<Result> {
        guard missing.isEmpty else {
            let words = missing.map(\.words).joined(separator: "; ")
            return .refused("The camera has not yet been held still in these poses: \(words).")
        }
        let prior = NormFit.Prior(
            offsetSigma: parameters.offsetSigma, scaleSigma: parameters.scaleSigma,
            crossSigma: parameters.crossSigma, lengthSigma: 0.003)
        guard let fit = NormFit(poses, length: parameters.gravity, prior: prior) else {
            return .refused(
                "The readings of the poses contradict each other. Hold each pose still, and start again."
            )
        }
        guard fit.residual <= parameters.largestResidual else {
            return .refused(
                "The readings of the poses contradict each other: the residual is \(milli(fit.residual)) mm/s²; at most \(milli(parameters.largestResidual)) mm/s² are accepted. Hold each pose still, and start again."
            )
        }
        guard isPlausible(fit.correction) else {
            return .refused(
                "The measured offset or scale error is too large for a working accelerometer. Check imu.accel_range_g and the sensor."
            )
        }
        let sigma = fit.offsetSigma
        var result = Result(
            correction: fit.correction, offsetSigma: max(sigma.x, max(sigma.y, sigma.z)),
            residual: fit.residual, tilt: 0, isLevel: false)
        level(&result)
        return .done(result)
    }

    /// Rotates the corrected axes so that the upright pose is level. The ellipsoid fit uses only
    /// the lengths of vectors, and these lengths do not depend on a rotation of the axes.
    private func level(_ result: inout Result) {
        guard let upright else { return }
        let seen = result.correction.apply(upright)
        let up = mounting.inverseRotate(CameraFace.bottom.up)
        let axis = seen.cross(up)
        result.tilt = cm_atan2(axis.norm, seen.dot(up))
        guard result.tilt <= parameters.largestTilt else { return }
        result.isLevel = true
        guard axis.norm > 1e-12 else { return }
        let turn = Quaternion(rotationVector: axis * (result.tilt / axis.norm))
        result.correction = result.correction.turned(by: turn)
    }

    /// True if the camera lies on a face that has not been measured, or if the pose differs by more
    /// than 20° (cos 20° = 0.94) from every earlier pose.
    private func isNew(_ accel: Vector3) -> Bool {
        if let face = CameraFace(specificForce: mounting.rotate(accel)) {
            return !faces.contains(face)
        }
        let length = accel.norm
        return !poses.contains { $0.dot(accel) > 0.94 * length * $0.norm }
    }

    private func isPlausible(_ correction: SensorCorrection.Affine) -> Bool {
        let scale = 5 * parameters.scaleSigma
        return correction.offset.norm < 5 * parameters.offsetSigma
            && abs(correction.rowX.x - 1) < scale && abs(correction.rowY.y - 1) < scale
            && abs(correction.rowZ.z - 1) < scale
    }

    private func milli(_ value: Double) -> String { Format.fixed(value * 1000, 0) }
}
