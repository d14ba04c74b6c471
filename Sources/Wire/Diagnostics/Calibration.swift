/// Progress and results of calibrations: the answer to `calibrate`.
public struct CalibrationReport: Hashable, Sendable, Codable {
    /// Stage of a calibration.
    public enum State: String, Sendable, Codable {
        /// Not requested since the start.
        case idle
        /// The motors are going off.
        case waiting
        /// Samples are being collected; `instruction` states the next step.
        case collecting
        /// Done and saved.
        case done
        /// Failed; `sentence` states the reason.
        case refused
        /// Cancelled on request.
        case cancelled
    }

    /// gyro, accelerometer, mounting or magnetometer; nil before the first.
    public var what: String?
    /// A `State`; a string, so that a newer daemon does not make an older client fail.
    public var state: String
    /// 0...1.
    public var progress: Number
    /// Next step, for a person; empty if there is none.
    public var instruction: String
    /// Present disturbance, for a person; empty if there is none.
    public var hint: String
    /// Missing faces, by name.
    public var missing: [String]
    /// Result, for a person; empty while it is running.
    public var sentence: String
    /// Residual of the result, in `residualUnit`; unknown before the end.
    public var residual: Number
    /// rad/s, m/s² or µT.
    public var residualUnit: String
    /// All calibrations in force.
    public var saved: [SavedCalibration]

    /// The state before the first run.
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

    /// Whether the calibration is running.
    public var isRunning: Bool {
        state == State.waiting.rawValue || state == State.collecting.rawValue
    }
}

/// One calibration in force.
public struct SavedCalibration: Hashable, Sendable, Codable {
    /// gyro, accelerometer, mounting or magnetometer.
    public var what: String
    /// Wall clock, seconds since 1970.
    public var dateS: Number
    /// Temperature of the sensor, °C; unknown if it was not measured.
    public var temperatureC: Number
    /// Standard deviation of the result, in `unit`.
    public var sigma: Number
    /// Residual of the result, in `unit`.
    public var residual: Number
    /// rad/s, m/s² or µT; the mounting's sigma is in rad.
    public var unit: String
    /// Whether `undo` restores an earlier calibration.
    public var canUndo: Bool

    /// Creates a calibration with these figures.
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
