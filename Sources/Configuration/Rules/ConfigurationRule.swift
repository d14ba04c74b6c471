import GimbalCore

/// Rule about a combination of several settings, in addition to the range of each setting.
struct ConfigurationRule: Sendable {
    /// Keys of the settings that the rule compares. The message names the first setting with a
    /// configured value.
    let keys: [String]
    /// Key of the setting that the rule restricts. The rule applies only if this setting has a
    /// configured value, because its default adapts to the other settings.
    let trigger: String
    /// Problem and remedy; nil if the settings satisfy the rule.
    let violation: @Sendable (Settings) -> (complaint: String, hint: String)?

    init(
        keys: [String], trigger: String? = nil,
        violation: @escaping @Sendable (Settings) -> (complaint: String, hint: String)?
    ) {
        self.keys = keys
        self.trigger = trigger ?? keys[0]
        self.violation = violation
    }

    /// All rules of the configuration.
    static let all: [ConfigurationRule] =
        [
            ConfigurationRule(
                keys: [
                    "filter.notch_yaw", "filter.notch_roll", "filter.notch_pitch", "loop.rate_hz",
                ]
            ) { settings in
                let notches =
                    settings.filter.notchYaw + settings.filter.notchRoll
                    + settings.filter.notchPitch
                guard let highest = notches.map(\.hz).max(),
                    highest >= 0.45 * Double(settings.loop.rateHz)
                else { return nil }
                return (
                    "has a centre of \(SettingValue.text(of: highest)) Hz, which is not below 0.45 times loop.rate_hz",
                    "Lower the centre or raise loop.rate_hz: the loop cannot measure frequencies above half its rate."
                )
            },
            ConfigurationRule(keys: ["control.derivative_cutoff_hz", "loop.rate_hz"]) { settings in
                let limit = Double(settings.loop.rateHz) / 2
                guard settings.control.derivativeCutoffHz >= limit else { return nil }
                return (
                    "is not below half of loop.rate_hz = \(settings.loop.rateHz)",
                    "\(Int(limit / 3)) is a suitable value at this loop rate."
                )
            },
            ConfigurationRule(keys: ["loop.rate_hz", "imu.timeout_ms"]) { settings in
                let period = 1000 / Double(settings.loop.rateHz)
                let timeout = settings.imu.timeoutMs
                guard timeout < 1.5 * period else { return nil }
                return (
                    "is too low, because imu.timeout_ms = \(SettingValue.text(of: timeout)) must be at least one and a half periods of the loop",
                    "The loop would treat every sample as late. Set imu.timeout_ms to \(Int((2 * period).rounded(.up)))."
                )
            },
            ConfigurationRule(keys: ["retract.joints_deg", "joints.range_deg"]) { settings in
                let (pose, range) = (settings.retract.jointsDeg, settings.joints.rangeDeg)
                var joints = JointRange()
                joints.minimum = range.lower
                joints.maximum = range.upper
                guard !joints.contains(pose) else { return nil }
                return (
                    "is not within joints.range_deg",
                    "Choose a pose that every joint can reach."
                )
            },
            ConfigurationRule(keys: ["commander.release_after_s", "commander.dead_man_s"]) {
                settings in
                let deadMan = settings.commander.deadManS
                guard settings.commander.releaseAfterS < deadMan else { return nil }
                return (
                    "is below commander.dead_man_s = \(SettingValue.text(of: deadMan))",
                    "Raise commander.release_after_s to at least commander.dead_man_s, so that no other client takes control before the last command has expired."
                )
            },
            ConfigurationRule(keys: ["servo.direction"]) { settings in
                let direction = settings.servo.direction
                guard
                    ![direction.yaw, direction.roll, direction.pitch].allSatisfy({ abs($0) == 1 })
                else { return nil }
                return ("must be 1 or -1 for each joint", "For example [1, -1, 1].")
            },
            BusSchedule.rule,
        ] + MotorRules.all + SensorRules.all + IIORules.all

    /// Checks whether the settings satisfy the rule. `origin` returns the origin of a value.
    ///
    /// - Returns: The problem; nil if the settings satisfy the rule.
    func problem(
        in settings: Settings, origin: (String) -> Origin
    ) -> ConfigurationProblem? {
        guard origin(trigger) != .builtIn, let (complaint, hint) = violation(settings) else {
            return nil
        }
        // If a default and a configured value conflict, the message names the configured value.
        let key = keys[0]
        let written = keys.first { origin($0) != .builtIn } ?? key
        let value = Schema.setting(key)?.value(in: settings).tomlText
        return ConfigurationProblem(
            .conflict, at: origin(written).place, key: key, value: value, complaint, hint: hint)
    }
}
