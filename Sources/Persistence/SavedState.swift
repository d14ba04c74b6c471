internal import Port

/// State that survives a restart: saved settings, mode, calibration, named baselines, and the
/// history of changes.
public struct SavedState: Sendable, Equatable, Codable {
    /// Change of the tuning, for the history of changes.
    public struct Change: Sendable, Equatable, Codable {
        /// Time of the change, seconds since 1970.
        public var time: Double
        /// Name of the author: a client or a link.
        public var who: String
        /// Description of the change, as a phrase without a subject or full stop.
        public var what: String

        /// Creates a change.
        public init(time: Double, who: String, what: String) {
            self.time = time
            self.who = who
            self.what = what
        }
    }

    /// Finished step of the set-up.
    public struct Step: Sendable, Equatable, Codable {
        /// Result of the step: `done`, `skipped` or `restart`; `open` if the set-up began again.
        public var state: String
        /// Saved settings that the step replaced, as TOML text by key; an empty text for a setting
        /// that was not saved before.
        public var replaced: [String: String]
        /// Name and place of the sensor with which the step was finished; nil in files from earlier
        /// releases.
        public var sensor: String?

        /// Creates a step.
        public init(state: String, replaced: [String: String] = [:], sensor: String? = nil) {
            self.state = state
            self.replaced = replaced
            self.sensor = sensor
        }
    }

    /// Saved settings, as TOML text by key. Saved settings override the values from the
    /// configuration files.
    public var parameters: [String: String]
    /// Name of the saved mode, which becomes active after a restart; nil if no mode was saved.
    public var mode: String?
    /// Calibration results by name, such as `imu.accel_offset_mps2`; finite numbers.
    public var calibration: [String: [Double]]
    /// Name and place of the sensor of each calibration, by the calibration's name, such as
    /// `mounting`; nil before the first calibration that contains a sensor.
    public var calibratedSensors: [String: String]?
    /// Saved settings of each baseline, by the baseline's name.
    public private(set) var baselines: [String: [String: String]]
    /// The newest changes, oldest first.
    public var history: [Change]
    /// Finished steps of the set-up, by name; nil before the first finished step.
    public var setup: [String: Step]?

    /// Creates an empty state.
    public init() {
        parameters = [:]
        calibration = [:]
        baselines = [:]
        history = []
    }

    /// Names of the baselines, sorted.
    public var baselineNames: [String] { baselines.keys.sorted() }

    /// Largest number of baselines.
    public static let baselineLimit = 32

    /// Saves settings as a baseline. A baseline with the same name is replaced.
    ///
    /// - Parameters:
    ///   - name: Name of the baseline; see `BaselineName`.
    ///   - parameters: Settings as TOML text by key.
    /// - Throws: `badName`, or `tooMany` if the limit is reached.
    public mutating func saveBaseline(
        _ name: String, _ parameters: [String: String]
    ) throws(BaselineError) {
        guard BaselineName.isValid(name) else { throw .badName(name) }
        guard baselines[name] != nil || baselines.count < Self.baselineLimit else { throw .tooMany }
        baselines[name] = parameters
    }

    /// The settings of the baseline with the given name.
    ///
    /// - Parameter name: Name of the baseline.
    /// - Returns: Settings as TOML text by key.
    /// - Throws: `unknown` if no baseline has this name.
    public func baseline(_ name: String) throws(BaselineError) -> [String: String] {
        guard let parameters = baselines[name] else { throw .unknown(name, known: baselineNames) }
        return parameters
    }

    /// Deletes a baseline.
    ///
    /// - Parameter name: Name of the baseline.
    /// - Throws: `unknown` if no baseline has this name.
    public mutating func deleteBaseline(_ name: String) throws(BaselineError) {
        guard baselines.removeValue(forKey: name) != nil else {
            throw .unknown(name, known: baselineNames)
        }
    }

    /// Decodes a state. Missing members count as empty. Therefore files from earlier releases
    /// remain readable.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        parameters = try values.decodeIfPresent([String: String].self, forKey: .parameters) ?? [:]
        mode = try values.decodeIfPresent(String.self, forKey: .mode)
        calibration =
            try values.decodeIfPresent([String: [Double]].self, forKey: .calibration) ?? [:]
        calibratedSensors = try values.decodeIfPresent(
            [String: String].self, forKey: .calibratedSensors)
        baselines =
            try values.decodeIfPresent([String: [String: String]].self, forKey: .baselines) ?? [:]
        history = try values.decodeIfPresent([Change].self, forKey: .history) ?? []
        setup = try values.decodeIfPresent([String: Step].self, forKey: .setup)
    }
}

/// Reason why a baseline was refused.
public enum BaselineError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name is invalid.
    case badName(String)
    /// No baseline has this name.
    case unknown(String, known: [String])
    /// The number of baselines has reached `SavedState.baselineLimit`.
    case tooMany

    /// Error message with a remedy, in one sentence.
    public var description: String {
        switch self {
        case .badName(let name):
            "\"\(name.prefix(40))\" is not a valid name of a baseline. Use \(BaselineName.rule)."
        case .unknown(let name, let known):
            "There is no baseline \"\(name.prefix(40))\". "
                + (known.isEmpty
                    ? "No baseline is saved." : "Saved: \(known.joined(separator: ", ")).")
        case .tooMany:
            "There are \(SavedState.baselineLimit) baselines already. Delete a baseline first: airframectl baseline delete NAME."
        }
    }
}
