public import GimbalCore

/// State of a calibration after a sample.
public enum CalibrationOutcome<Result: Sendable>: Sendable {
    /// The calibration continues.
    case collecting
    /// The calibration is complete.
    case done(Result)
    /// The calibration has failed; the associated text states the reason and a remedy.
    case refused(String)
}

/// Calibration of the gyroscope's offset: the mean rate while the camera is still.
///
/// The calibration reports the motion, and waits until the motion ends. After `patience` seconds
/// without a still interval the calibration is refused.
public struct GyroCalibration: Sendable {
    /// Result of the calibration: the offset with its accuracy.
    public struct Result: Sendable, Equatable {
        /// Offset of the gyroscope, sensor frame, rad/s.
        public var bias: Vector3
        /// Standard deviation of the offset on each axis, rad/s. The value includes the uncertainty
        /// of the mean and the drift of the offset.
        public var sigma: Double
    }

    /// Parameters of the calibration procedure.
    public struct Parameters: Sendable, Equatable {
        /// Thresholds for a still camera, and the required duration without motion.
        public var window = StillWindow.Parameters()
        /// Longest time for which the calibration waits for the end of motion, s.
        public var patience = 12.0
        /// Drift of the gyroscope's offset within minutes, rad/s. The drift limits the accuracy of
        /// the measured offset. For a BMI088 the drift is at best 2 °/h, plus 0.015 °/s per kelvin
        /// of temperature change.
        public var instability = 0.005 * Double.pi / 180

        /// Creates the default parameters.
        public init() {}
    }

    private let parameters: Parameters
    private var window: StillWindow
    private var elapsed = 0.0

    /// Creates a calibration without samples.
    public init(parameters: Parameters = Parameters()) {
        self.parameters = parameters
        window = StillWindow(parameters: parameters.window)
    }

    /// Progress of the calibration, 0...1.
    public var progress: Double { window.progress }
    /// Motion of the camera in the last second; nil if the camera was still.
    public var motion: Motion? { window.presentMotion }

    /// Adds one raw sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate, sensor frame, rad/s.
    ///   - accel: Specific force, sensor frame, m/s².
    ///   - dt: Seconds since the previous sample.
    /// - Returns: State of the calibration. After a result other than `collecting`, do not call
    ///   `add` again.
    public mutating func add(
        gyro: Vector3, accel: Vector3, dt: Double
    ) -> CalibrationOutcome<Result> {
        elapsed += max(dt, 0)
        if let mean = window.add(gyro: gyro, accel: accel, dt: dt) {
            let error = max(mean.gyroError.x, max(mean.gyroError.y, mean.gyroError.z))
            return .done(Result(bias: mean.gyro, sigma: error + parameters.instability))
        }
        guard elapsed > parameters.patience else { return .collecting }
        let reason = window.motion?.description ?? "Samples are missing."
        return .refused(
            "The camera was never still for \(Int(parameters.window.seconds)) s. \(reason) "
                + "Put the camera down on a firm surface, and try again.")
    }
}
