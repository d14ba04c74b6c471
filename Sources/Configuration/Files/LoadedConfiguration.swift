public import GimbalCore

/// A valid configuration and the origin of each value.
public struct LoadedConfiguration: Sendable {
    /// Configured value of a setting, with its origin.
    struct Entry: Sendable, Equatable {
        var value: SettingValue
        var origin: Origin
    }

    /// The files that were read, in order.
    public internal(set) var files: [String] = []

    /// Values from the files, by key.
    var fromFiles: [String: Entry] = [:]
    /// Values from arguments of `--set`, by key.
    var fromCommandLine: [String: Entry] = [:]

    /// The built-in defaults.
    public init() {}

    /// Built-in defaults, adapted to the configured values; they apply to keys without a value in a
    /// file. In lockstep, the delay of the sensor's filter is 0, because a simulator's values apply
    /// exactly to the time `t` in the same message. With real chips, the loop's rate is 500 Hz,
    /// which suits a sensor and servos on one I2C bus at 400 kHz. Address, range and filter depend
    /// on the configured sensor. The gains are adapted to the loop's rate. The servo model's delay
    /// and the tracker's bandwidth are adapted to the pulse rate and to the loop's rate.
    var defaults: Settings {
        var settings = Settings()
        switch written("hardware.backend") {
        case .text("lockstep"): settings.imu.filterDelayMs = 0
        case .text("linux"):
            settings.loop.rateHz = 500
            var chip = settings.hardware.linux.imu
            if case .text(let name) = written("hardware.linux.imu") {
                chip = name == SensorChip.kernelDriver ? nil : SensorChip(rawValue: name) ?? chip
            }
            if let chip {
                settings.hardware.linux.imuAddress = chip.defaultAddress
                settings.imu.accelRangeG = chip.largestAccelRange
                settings.imu.filterDelayMs = chip.filterDelayMs
            } else {
                let corner =
                    switch written("hardware.iio.low_pass_hz") {
                    case .number(let value): value
                    case .integer(let value): Double(value)
                    default: settings.hardware.iio.lowPassHz
                    }
                settings.imu.accelRangeG = 16
                settings.imu.filterDelayMs = Settings.IIO.filterDelayMs(lowPassHz: corner)
            }
        default: break
        }
        var rate = settings.loop.rateHz
        if case .integer(let value) = written("loop.rate_hz") { rate = value }
        settings.control.fit(rateHz: rate)
        var frame = settings.servo.frameHz
        switch written("servo.frame_hz") {
        case .number(let value): frame = value
        case .integer(let value): frame = Double(value)
        default: break
        }
        settings.servo.fit(frameHz: frame, rateHz: rate)
        return settings
    }

    /// Parameters of the estimator for a recorded log. Configured values override the estimator's
    /// values from the log. Without configured values, the estimator determines the sensor's range
    /// and the kind of samples (mean or instantaneous rates) from the log.
    public var recordedSensor: AttitudeEstimator.Parameters {
        var parameters = settings.stabilizerParameters.estimator
        guard written("hardware.backend") == nil else { return parameters }
        let unknown = AttitudeEstimator.Parameters.unknownSensor
        if written("imu.filter_delay_ms") == nil {
            parameters.sensorDelay = unknown.sensorDelay
            parameters.averagesRate = unknown.averagesRate
        }
        if written("imu.gyro_range_dps") == nil { parameters.gyroRange = unknown.gyroRange }
        return parameters
    }

    /// Sentence for a configuration that describes chips, but does not select them: without
    /// `hardware.backend`, airframed simulates a gimbal; nil otherwise.
    public var unusedChips: String? {
        guard written("hardware.backend") == nil else { return nil }
        let keys = Set(fromFiles.keys).union(fromCommandLine.keys).filter {
            $0.hasPrefix("hardware.linux.") || $0.hasPrefix("hardware.iio.")
        }.sorted()
        guard let first = keys.first else { return nil }
        let names = keys.count == 1 ? first : "\(first) and \(keys.count - 1) more below [hardware]"
        return
            "airframed simulates a gimbal: without hardware.backend, the configured chips are not used (\(names)). Set hardware.backend = \"linux\" to use them, or \"simulated\" to remove this message."
    }

    private func written(_ key: String) -> SettingValue? {
        (fromCommandLine[key] ?? fromFiles[key])?.value
    }

    /// The active values if there are no saved values.
    public var settings: Settings {
        var settings = defaults
        for setting in Schema.settings {
            if let entry = fromCommandLine[setting.key] ?? fromFiles[setting.key] {
                setting.write(&settings, entry.value)
            }
        }
        return settings
    }

    /// Origin of a key's value; `builtIn` for keys without a configured value.
    public func origin(of key: String) -> Origin {
        (fromCommandLine[key] ?? fromFiles[key])?.origin ?? .builtIn
    }

    /// Output of `--print-config`: every setting as TOML, grouped by table, with its origin as a
    /// comment. The output does not contain saved values.
    public var description: String {
        Listing.text(settings: settings, origin: origin(of:))
    }
}

extension LoadedConfiguration: CustomStringConvertible {}

/// A configuration as TOML text.
enum Listing {
    /// TOML text; parsing it gives the same settings.
    static func text(settings: Settings, origin: (String) -> Origin) -> String {
        var lines: [String] = []
        var table: String?
        for setting in Schema.settings {
            if setting.table != table {
                if table != nil { lines.append("") }
                lines.append("[\(setting.table)]")
                table = setting.table
            }
            let pair = "\(setting.name) = \(setting.value(in: settings).tomlText)"
            let padding = String(repeating: " ", count: max(1, 44 - pair.unicodeScalars.count))
            lines.append(pair + padding + "# \(origin(setting.key))")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
