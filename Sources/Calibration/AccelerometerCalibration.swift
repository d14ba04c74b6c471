public import GimbalCore

/// The accelerometer's offset, scale and, as far as the poses show them, cross-axis terms, from six still poses.
///
/// The faces may come in any order and are found by themselves. They need not be exact: only the length of the specific
/// force counts. A still pose between two faces is taken as well, because such poses show the cross-axis terms.
public struct AccelerometerCalibration: Sendable {
    /// Offset and matrix.
    public struct Result: Sendable, Equatable {
        /// The correction, sensor frame, m/s².
        public var correction: SensorCorrection.Affine
        /// Standard deviation of the offset, largest axis, m/s².
        public var offsetSigma: Double
        /// Root mean square of what the lengths are still off, m/s².
        public var residual: Double
    }

    /// How it is done.
    public struct Parameters: Sendable, Equatable {
        /// What counts as still, and for how long.
        public var window: StillWindow.Parameters
        /// Length of the specific force at rest, m/s².
        public var gravity = 9.80665
        /// Offset that a sensor may have, standard deviation, m/s²; five of them are refused. BMI088: ±20 mg.
        public var offsetSigma = 0.3
        /// Scale error that a sensor may have, standard deviation; five of them are refused.
        public var scaleSigma = 0.01
        /// Cross-axis term that a sensor may have, standard deviation. BMI088: 0.5 %.
        public var crossSigma = 0.003
        /// Largest residual that is accepted, m/s².
        public var largestResidual = 0.03
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

    /// A calibration that has seen no pose yet.
    ///
    /// - Parameters:
    ///   - mounting: Sensor frame to camera body frame, to name the faces; half right is enough.
    ///   - parameters: How it is done.
    public init(mounting: Quaternion, parameters: Parameters = Parameters()) {
        self.mounting = mounting
        self.parameters = parameters
        window = StillWindow(parameters: parameters.window)
    }

    /// Faces that are still to come, in the order in which they are asked for.
    public var missing: [CameraFace] { CameraFace.allCases.filter { !faces.contains($0) } }
    /// How many poses have been taken, faces and others.
    public var poseCount: Int { poses.count }
    /// How far it is, 0...1; the pose that is being taken counts by its share.
    public var progress: Double {
        min((Double(faces.count) + (isNewPose ? window.progress : 0)) / 6, 1)
    }
    /// What disturbed the present pose.
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
            return .refused("Faces are missing: \(words).")
        }
        let prior = NormFit.Prior(
            offsetSigma: parameters.offsetSigma, scaleSigma: parameters.scaleSigma,
            crossSigma: parameters.crossSigma, lengthSigma: 0.003)
        guard let fit = NormFit(poses, length: parameters.gravity, prior: prior) else {
            return .refused("The poses contradict each other. Start again.")
        }
        guard fit.residual <= parameters.largestResidual else {
            return .refused(
                "The poses contradict each other: the residual is \(milli(fit.residual)) mm/s², at most "
                    + "\(milli(parameters.largestResidual)) are accepted. Hold each pose still, and start again."
            )
        }
        guard isPlausible(fit.correction) else {
            return .refused(
                "No healthy accelerometer has such an offset or scale. Check imu.accel_range_g and the sensor."
            )
        }
        let sigma = fit.offsetSigma
        return .done(
            Result(
                correction: fit.correction, offsetSigma: max(sigma.x, max(sigma.y, sigma.z)),
                residual: fit.residual))
    }

    /// Farther than 20° from every pose there is: cos 20° = 0.94. A face that is still missing is always new.
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
