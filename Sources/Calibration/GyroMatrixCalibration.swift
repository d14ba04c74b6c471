public import GimbalCore
internal import PlainText

/// Calibration of the gyroscope's scale and cross-axis sensitivity, from turns between still poses.
///
/// Between two still poses, the gyroscope must turn the first direction of gravity into the second
/// one. The differences determine the gyroscope's matrix (Tedaldi, Pretto, Menegatti: A Robust and
/// Easy to Implement Method for IMU Calibration without External Equipments, ICRA 2014). Half turns
/// about the vertical on three sides of the camera determine the cross-axis terms, and the
/// rotations from one side to the next determine the scale. A last half turn of the upright camera,
/// which the fit does not use, checks the cross-axis terms that matter most.
///
/// The matrix aligns the gyroscope with the accelerometer, so the accelerometer must be calibrated
/// first.
public struct GyroMatrixCalibration: Sendable {
    /// A half turn that the calibration requires. The raw value is the name in reports.
    public enum Step: String, Sendable, CaseIterable {
        /// Half turn of the upright camera.
        case upright = "upright_turn"
        /// Half turn of the camera on its right or left side.
        case side = "side_turn"
        /// Half turn of the camera with the lens up or down.
        case lens = "lens_turn"
        /// Second half turn of the upright camera, which checks the result.
        case check = "check_turn"

        /// Sides of the camera that may point down during the turn.
        fileprivate var faces: [CameraFace] {
            switch self {
            case .upright, .check: [.bottom]
            case .side: [.right, .left]
            case .lens: [.back, .front]
            }
        }
    }

    /// Result of the calibration: the matrix, with its accuracy.
    public struct Result: Sendable, Equatable {
        /// Correction of the raw rate: a matrix, and an offset of zero. The axes after the
        /// correction are those of the accelerometer without the rotation in its matrix.
        public var correction: SensorCorrection.Affine
        /// Standard deviation of the least certain cross-axis term, dimensionless.
        public var crossSigma: Double
        /// RMS angle between the measured and the predicted directions of gravity, rad.
        public var residual: Double
        /// Error of gravity's direction after the half turn of the check, rad, without correction.
        public var errorBefore: Double
        /// Error of gravity's direction after the half turn of the check, rad, with a correction
        /// that was determined without this turn.
        public var errorAfter: Double
    }

    /// Parameters of the calibration procedure.
    public struct Parameters: Sendable, Equatable {
        /// Thresholds for a still camera, and the required duration without motion.
        public var window: StillWindow.Parameters
        /// Standard deviation of a typical sensor's relative scale error. MPU-6050: ±3 %.
        public var scaleSigma = 0.015
        /// Standard deviation of a typical sensor's cross-axis terms. MPU-6050: ±2 %.
        public var crossSigma = 0.01
        /// Standard deviation of the direction of gravity after a turn, rad: remaining errors of
        /// the accelerometer, and noise of the gyroscope.
        public var directionSigma = 0.15 * Double.pi / 180
        /// Smallest rotation that is used, rad.
        public var smallestTurn = 30 * Double.pi / 180
        /// Smallest rotation that counts as a half turn, rad.
        public var halfTurn = 120 * Double.pi / 180
        /// Longest duration of a turn, s, with the time at rest before and after it. The drift of the
        /// gyroscope's offset limits the accuracy of longer turns.
        public var longestTurn = 20.0
        /// Longest interval between two samples of a turn, s. A longer interval hides a part of the
        /// turn.
        public var longestGap = 0.05
        /// Largest scale error that is accepted, as a multiple of `scaleSigma`.
        public var largestScale = 3.5
        /// Largest error of the check's half turn with the correction, and largest residual, rad.
        public var largestError = 0.6 * Double.pi / 180
        /// Largest increase of the check's error by the correction, rad: the noise of the check.
        public var largestIncrease = 0.1 * Double.pi / 180
        /// Duration of the parts into which a turn is divided, s. The axis of rotation is constant
        /// within a part.
        public var partSeconds = 0.005
        /// Duration of a part without a rotation of `partAngle`, s.
        public var longestPart = 0.1
        /// Rotation that ends a part after `partSeconds`, rad.
        public var partAngle = 0.005
        /// Largest number of stored turns; the oldest turns are removed.
        public var turnLimit = 40

        /// Creates the default parameters: the camera must be still for 1.5 s in each pose.
        public init() {
            window = StillWindow.Parameters()
            window.seconds = 1.5
        }
    }

    /// A still pose: direction of the specific force, and gyroscope's offset, sensor frame.
    private struct Pose: Sendable {
        var up: Vector3
        var bias: Vector3
        var face: CameraFace?
    }

    /// Parameters of the calibration procedure.
    public let parameters: Parameters
    private let accel: SensorCorrection.Affine
    private let mounting: Quaternion
    private var window: StillWindow
    private var pose: Pose?
    private var parts: [GravityTurn.Part] = []
    private var elapsed = 0.0
    private var lastRate: Vector3?
    private var turns: [GravityTurn] = []
    private var done: Set<Step> = []

    /// Reason why the last turn does not count.
    public enum Flaw: Sendable, Equatable {
        /// The camera has turned by the given angle, rad, which is not half a turn.
        case angle(Double)
        /// The turn has taken longer than `longestTurn`.
        case tooSlow
        /// Samples are missing.
        case gap
    }

    /// Reason why the last turn does not count; nil if it counts.
    public private(set) var flaw: Flaw?

    /// Creates a calibration without turns.
    ///
    /// - Parameters:
    ///   - accel: Correction of the accelerometer, without the rotation in its matrix.
    ///   - mounting: Rotation from the sensor frame to the camera's body frame, which is needed to
    ///     name the sides. An error of a few degrees is permitted.
    ///   - parameters: Parameters of the calibration procedure.
    public init(
        accel: SensorCorrection.Affine, mounting: Quaternion, parameters: Parameters = Parameters()
    ) {
        self.accel = accel.parts.symmetric
        self.mounting = mounting
        self.parameters = parameters
        window = StillWindow(parameters: parameters.window)
    }

    /// The half turns that have not been measured yet, in the order in which they are requested.
    public var missing: [Step] { Step.allCases.filter { !done.contains($0) } }
    /// Progress of the calibration, 0...1. A pose counts half as much as the half turn after it.
    public var progress: Double {
        let pose = place != nil ? 0.5 : 0.25 * window.progress
        return min((Double(done.count) + pose) / Double(Step.allCases.count), 1)
    }
    /// Motion of the camera in the last second; nil if the camera was still.
    public var motion: Motion? { window.presentMotion }
    /// Side on which the next half turn begins, if the camera was still on this side; otherwise nil.
    public var place: CameraFace? {
        guard let face = pose?.face, let next = missing.first, next.faces.contains(face) else {
            return nil
        }
        return face
    }

    /// Adds one raw sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate, sensor frame, rad/s.
    ///   - raw: Specific force, sensor frame, m/s².
    ///   - dt: Seconds since the previous sample.
    /// - Returns: State of the calibration, which is `done` after all half turns.
    public mutating func add(
        gyro: Vector3, accel raw: Vector3, dt: Double
    ) -> CalibrationOutcome<Result> {
        guard dt > 0, dt <= parameters.longestGap, gyro.isFinite else {
            // Samples are missing, so the rotation since the pose is unknown.
            if pose != nil { forgetPose(.gap) }
            lastRate = nil
            window.restart()
            return .collecting
        }
        if pose != nil { integrate(((lastRate ?? gyro) + gyro) / 2, dt) }
        lastRate = gyro
        guard let mean = window.add(gyro: gyro, accel: raw, dt: dt) else { return .collecting }
        let force = accel.apply(mean.accel)
        guard force.norm > 1 else { return .collecting }
        let face = CameraFace(specificForce: mounting.rotate(force))
        let new = Pose(up: force / force.norm, bias: mean.gyro, face: face)
        defer {
            pose = new
            parts.removeAll(keepingCapacity: true)
            elapsed = 0
        }
        guard let old = pose else { return .collecting }
        return add(
            GravityTurn(from: old.up, to: new.up, bias: (old.bias + new.bias) / 2, parts: parts),
            from: old.face, to: new.face)
    }

    private mutating func integrate(_ gyro: Vector3, _ dt: Double) {
        elapsed += dt
        guard elapsed <= parameters.longestTurn else { return forgetPose(.tooSlow) }
        if let last = parts.last,
            last.seconds < parameters.partSeconds
                || last.seconds < parameters.longestPart && last.angle.norm < parameters.partAngle
        {
            parts[parts.count - 1].angle += gyro * dt
            parts[parts.count - 1].seconds += dt
        } else {
            parts.append(GravityTurn.Part(angle: gyro * dt, seconds: dt))
        }
    }

    private mutating func forgetPose(_ reason: Flaw) {
        flaw = reason
        pose = nil
        parts.removeAll(keepingCapacity: true)
        elapsed = 0
    }

    private mutating func add(
        _ turn: GravityTurn, from old: CameraFace?, to new: CameraFace?
    ) -> CalibrationOutcome<Result> {
        let swept = turn.swept(turn.from)
        // At rest, the flaw of the last turn remains.
        guard max(swept, turn.angle) > parameters.smallestTurn else { return .collecting }
        flaw = nil
        if let next = missing.first, let old, old == new, next.faces.contains(old) {
            guard swept > parameters.halfTurn, swept < 2 * .pi - parameters.halfTurn else {
                flaw = .angle(swept)
                return .collecting
            }
            done.insert(next)
            if next == .check { return finish(checkedBy: turn) }
        }
        if turns.count >= parameters.turnLimit { turns.removeFirst() }
        turns.append(turn)
        return .collecting
    }

    private func finish(checkedBy check: GravityTurn) -> CalibrationOutcome<Result> {
        let prior = GyroMatrixFit.Prior(
            scaleSigma: parameters.scaleSigma, crossSigma: parameters.crossSigma,
            directionSigma: parameters.directionSigma)
        guard let trial = GyroMatrixFit(turns, prior: prior), isPlausible(trial),
            let fit = GyroMatrixFit(turns + [check], prior: prior)
        else {
            return .refused(
                "The turns contradict each other. Turn the camera more slowly, and start again.")
        }
        let before = check.error(SensorCorrection.Affine()).norm
        let after = check.error(trial.correction).norm
        guard after <= parameters.largestError, after <= before + parameters.largestIncrease else {
            return .refused(
                "The last half turn does not confirm the result: gravity is off by \(Self.degrees(after))° with the correction, and by \(Self.degrees(before))° without it. Calibrate the accelerometer, and start again on a firm surface."
            )
        }
        return .done(
            Result(
                correction: fit.correction, crossSigma: fit.crossSigma, residual: fit.residual,
                errorBefore: before, errorAfter: after))
    }

    private func isPlausible(_ fit: GyroMatrixFit) -> Bool {
        let matrix = fit.correction
        let limit = parameters.largestScale * parameters.scaleSigma
        return fit.residual <= parameters.largestError
            && [matrix.rowX.x, matrix.rowY.y, matrix.rowZ.z].allSatisfy { abs($0 - 1) < limit }
    }

    private static func degrees(_ angle: Double) -> String { Format.fixed(angle * 180 / .pi, 2) }
}
