/// Progress and results of calibrations: the answer to `calibrate`.
public struct CalibrationReport: Hashable, Sendable, Codable {
    /// State of a calibration, from the request to the result.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// No calibration has been requested since the start.
        case idle
        /// The motors are being switched off before the calibration.
        case waiting
        /// Samples are being collected. `instruction` states the next step.
        case collecting
        /// The calibration is complete and saved.
        case done
        /// The calibration has failed. `sentence` states the reason.
        case refused
        /// The calibration was cancelled on request.
        case cancelled
    }

    /// Kind of the calibration: `gyro`, `accelerometer`, `mounting`, `magnetometer` or
    /// `gyro_matrix`; nil before the first calibration.
    public var what: String?
    /// State of the calibration, a case of `State`. The property is a string, so that older clients
    /// accept the new values of a newer daemon.
    public var state: String
    /// Progress of the calibration, 0...1.
    public var progress: Number
    /// Next step as text for the user; empty if there is none.
    public var instruction: String
    /// Current disturbance of the calibration, as text for the user; empty if there is none.
    public var hint: String
    /// Names of the camera's faces, poses or half turns that have not been measured yet.
    public var missing: [String]
    /// Result as text for the user; empty while the calibration runs.
    public var sentence: String
    /// Residual of the result, in `residualUnit`; unknown before the end.
    public var residual: Number
    /// Unit of `residual`: rad/s, m/s², µT or rad.
    public var residualUnit: String
    /// All active calibrations.
    public var saved: [SavedCalibration]

    /// Creates the state before the first calibration.
    public init() {
        state = State.idle.rawValue
        progress = 0
        instruction = ""
        hint = ""
        missing = []
        sentence = ""
        residual = .unknown
        residualUnit = ""
        saved = []
    }

    /// True if the calibration is running.
    public var isRunning: Bool {
        state == State.waiting.rawValue || state == State.collecting.rawValue
    }
}

/// An active calibration.
public struct SavedCalibration: Hashable, Sendable, Codable {
    /// Kind of the calibration: `gyro`, `accelerometer`, `mounting`, `magnetometer` or
    /// `gyro_matrix`.
    public var what: String
    /// Date of the calibration, seconds since 1970.
    public var dateS: Number
    /// Temperature of the sensor, °C; unknown if it was not measured.
    public var temperatureC: Number
    /// Standard deviation of the result, in `unit`.
    public var sigma: Number
    /// Residual of the result, in `unit`.
    public var residual: Number
    /// Unit of residual and standard deviation: rad/s, m/s², µT or rad. The standard deviation of a
    /// mounting calibration is in rad; that of a gyroscope's matrix has no unit.
    public var unit: String
    /// True if `undo` restores an earlier calibration.
    public var canUndo: Bool

    /// Creates a calibration with the given values.
    public init(
        what: String, dateS: Number, temperatureC: Number, sigma: Number, residual: Number,
        unit: String, canUndo: Bool
    ) {
        self.what = what
        self.dateS = dateS
        self.temperatureC = temperatureC
        self.sigma = sigma
        self.residual = residual
        self.unit = unit
        self.canUndo = canUndo
    }
}
