// Settings of the motors' wiring, which the set-up measures. They are saved like live settings, but
// take effect at the next start.
extension ParameterStore {
    /// Changes to the saved entries, which give settings of `Schema.wiring` new values at the next
    /// start. The active values do not change.
    ///
    /// - Parameter updates: New values of settings of `Schema.wiring`.
    /// - Returns: New entries, as TOML text by key.
    /// - Throws: A `ConfigurationProblem` if a setting does not belong to `Schema.wiring`, if a value
    ///   is invalid, if `--set` would override a value, or if the values together violate a rule.
    public func wiringChange(
        _ updates: [SettingUpdate]
    ) throws(ConfigurationProblem) -> Overlay {
        var next = self
        next.wiring = nextWiring
        for update in updates {
            let isLive = Schema.wiringCompanions.contains(update.key)
            guard let setting = Schema.setting(update.key),
                isLive || Schema.wiring.contains(update.key)
            else { throw .unknownKey(update.key) }
            let value = update.value ?? setting.defaultValue
            try setting.check(value, written: update.writtenText)
            guard loaded.origin(of: update.key) != .commandLine else {
                throw ConfigurationProblem(
                    .notLive, key: update.key, value: update.writtenText,
                    "has no effect, because the command line of airframed sets the value",
                    hint: "Remove `--set \(update.key)=…` and restart airframed.")
            }
            if isLive {
                next.live[update.key] = nil
                next.saved[update.key] = value
            } else {
                next.wiring[update.key] = value
            }
        }
        next.rebuild()
        try next.obeyRules()
        var change: Overlay = [:]
        for update in updates {
            change[update.key] = (next.wiring[update.key] ?? next.saved[update.key])?.tomlText
        }
        return change
    }

    /// True if a saved setting of the wiring takes effect at the next start.
    public var hasWaitingWiring: Bool { wiring != nextWiring }

    /// Keys of the settings of the wiring whose values in the files have no effect, because the
    /// set-up has saved other values; in the order of the schema.
    public var overriddenWiring: [String] {
        Schema.settings.filter { setting in
            guard case .file = loaded.origin(of: setting.key) else { return false }
            guard let saved = nextWiring[setting.key] else { return false }
            return saved != setting.value(in: loaded.settings)
        }.map(\.key)
    }

    /// Advice for a setting that cannot change while airframed runs.
    func restartHint(_ setting: Setting) -> String {
        let present = "The present value is \(setting.value(in: settings).tomlText)."
        guard loaded.origin(of: setting.key) != .commandLine else {
            return
                "\(present) The command line of airframed sets the value, which overrides the configuration file. Change or remove `--set \(setting.key)=…` and restart airframed."
        }
        guard nextWiring[setting.key] != nil else {
            return
                "\(present) Write the new value into the configuration file and restart airframed."
        }
        let step = setting.key == "joints.range_deg" ? "joints" : "motors"
        return
            "\(present) The set-up has saved a value, which overrides the configuration file. Run `airframectl setup undo \(step)`, then write the values of the step into the configuration file and restart airframed."
    }

    static func wiringValue(
        _ key: String, _ text: String
    ) throws(ConfigurationProblem) -> (Setting, SettingValue) {
        try ConfigurationLoader.value(of: key, text: text, at: .saved)
    }
}

extension Schema {
    /// Keys of the settings that the set-up measures and saves for the next start: assignment,
    /// direction, pole pairs and travel of the motors, range of the joints, direction and zero of the
    /// encoders.
    public static let wiring: Set<String> = [
        "hardware.linux.motor_channels", "hardware.linux.can_id", "hardware.linux.servo_id",
        "motors.direction", "motors.pole_pairs", "servo.direction", "servo.travel_deg",
        "servo.trim_us", "servo.pulse_us", "joints.range_deg", "hardware.linux.encoder_direction",
        "hardware.linux.encoder_zero_deg",
    ]

    /// Keys of live settings that the set-up adapts when settings in `wiring` change.
    public static let wiringCompanions: Set<String> = ["retract.joints_deg"]
}
