public import GimbalCore
internal import CMathShim

/// The accelerometer's offset, scale and, as far as the poses show them, cross-axis terms, from six
/// still poses.
///
/// The faces may come in any order and are detected automatically. They need not be exact, because
/// only the length of the specific force counts, except the upright one, which defines the horizon.
/// A still pose between two faces is taken as well, because such poses show the cross-axis terms.
public struct AccelerometerCalibration: Sendable {
    /// Offset and matrix.
    public struct Result: Sendable, Equatable {
        /// The correction, sensor frame, m/s².
        public var correction: SensorCorrection.Affine
        /// Standard deviation of the offset, largest axis, m/s².
        public var offsetSigma: Double
        /// Root mean square of what the lengths are still off, m/s².
        public var residual: Double
        /// By how much the upright pose was off level before, rad. Larger than
        /// `Parameters.largestTilt`, the sensor is mounted otherwise than believed, and the pose
        /// has not been used.
        public var tilt: Double
        /// Whether the horizon is that of the upright pose now.
        public var isLevel: Bool
    }

    /// Parameters of the procedure.
    public struct Parameters: Sendable, Equatable {
        /// Criterion and duration of stillness.
        public var window: StillWindow.Parameters
        /// Length of the specific force at rest, m/s².
        public var gravity = 9.80665
        /// Offset that a sensor may have, standard deviation, m/s²; five of them are refused.
        /// BMI088: ±20 mg.
        public var offsetSigma = 0.3
        /// Scale error that a sensor may have, standard deviation; five of them are refused.
        public var scaleSigma = 0.01
        /// Cross-axis term that a sensor may have, standard deviation. BMI088: 0.5 %.
        public var crossSigma = 0.003
        /// Largest residual that is accepted, m/s².
        public var largestResidual = 0.03
        /// Largest angle between the upright pose and level that the correction takes out, rad: a
        /// sensor's own axes and a crooked joint of glue. More is a matter of the mounting.
        public var largestTilt = 4 * Double.pi / 180
        /// Most poses that are kept.
        public var poseLimit = 30

        /// The defaults; a pose is still for a second and a half.
        public init() {
            window = StillWindow.Parameters()
            window.seconds = 1.5
        }
    }

    private let parameters: Parameters
    private let mounting: Quaternion
    private var window: StillWindow
    private var poses: [Vector3] = []
    private var faces: Set<CameraFace> = []
    /// The upright pose, as it was measured.
    private var upright: Vector3?

    /// A calibration that has seen no pose yet.
    ///
    /// - Parameters:
    ///   - mounting: Sensor frame to camera body frame, to name the faces; half right is enough.
    ///   - parameters: Parameters of the procedure.
    public init(mounting: Quaternion, parameters: Parameters = Parameters()) {
        self.mounting = mounting
        self.parameters = parameters
        window = StillWindow(parameters: parameters.window)
    }

    /// Faces that are still to come, in the order in which they are asked for.
    public var missing: [CameraFace] { CameraFace.allCases.filter { !faces.contains($0) } }
    /// Number of finished poses, faces and others.
    public var poseCount: Int { poses.count }
    /// Progress, 0...1; the present pose counts by its share.
    public var progress: Double {
        min((Double(faces.count) + (isNewPose ? window.progress : 0)) / 6, 1)
    }
    /// Last disturbance of the present pose.
    public var motion: Motion? { window.motion }
    /// Whether the camera lies as it has lain before: it waits for another face then.
    public private(set) var isNewPose = true

    /// Takes one raw sample.
    ///
    /// - Parameters:
    ///   - gyro: Sensor frame, rad/s.
    ///   - accel: Sensor frame, m/s².
    ///   - dt: Seconds since the previous one.
    /// - Returns: Whether it goes on. Done once all six faces are there.
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

    /// The result with the poses there are.
    ///
    /// - Returns: Done, or refused with the reason: faces are missing, or no sensor is like that.
    public func finish() -> CalibrationOutcome<Result> {
        guard missing.isEmpty else {
            let words = missing.map(\.words).joined(separator: "; ")
            return .refused("Poses are missing: \(words).")
        }
        let prior = NormFit.Prior(
            offsetSigma: parameters.offsetSigma, scaleSigma: parameters.scaleSigma,
            crossSigma: parameters.crossSigma, lengthSigma: 0.003)
        guard let fit = NormFit(poses, length: parameters.gravity, prior: prior) else {
            return .refused("The poses contradict each other. Start again.")
        }
        guard fit.residual <= parameters.largestResidual else {
            return .refused(
                "The poses contradict each other: the residual is \(milli(fit.residual)) mm/s²; at most "
                    + "\(milli(parameters.largestResidual)) are accepted. Hold each pose still, and start again."
            )
        }
        guard isPlausible(fit.correction) else {
            return .refused(
                "No healthy accelerometer has such an offset or scale. Check imu.accel_range_g and the sensor."
            )
        }
        let sigma = fit.offsetSigma
        var result = Result(
            correction: fit.correction, offsetSigma: max(sigma.x, max(sigma.y, sigma.z)),
            residual: fit.residual, tilt: 0, isLevel: false)
        level(&result)
        return .done(result)
    }

    /// Turns the corrected axes so that the upright pose is level: lengths show no rotation.
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
        let affine = result.correction
        // The turn applies to the matrix's columns.
        let x = turn.rotate(Vector3(affine.rowX.x, affine.rowY.x, affine.rowZ.x))
        let y = turn.rotate(Vector3(affine.rowX.y, affine.rowY.y, affine.rowZ.y))
        let z = turn.rotate(Vector3(affine.rowX.z, affine.rowY.z, affine.rowZ.z))
        result.correction.rowX = Vector3(x.x, y.x, z.x)
        result.correction.rowY = Vector3(x.y, y.y, z.y)
        result.correction.rowZ = Vector3(x.z, y.z, z.z)
    }

    /// Farther than 20° from every pose there is: cos 20° = 0.94. A face that is still missing is
    /// always new.
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

    private func milli(_ value: Double) -> Int { Int(min(value, 1000) * 1000 + 0.5) }
}
