import GimbalCore

/// Rule about a combination of several settings, in addition to the range of each setting.
struct ConfigurationRule: Sendable {
    /// Keys of the settings that the rule compares. The message names the first setting with a
    /// configured value.
    let keys: [String]
    /// Keys of the settings that the rule restricts. The rule applies only if one of them has a
    /// configured value, because the defaults adapt to the other settings.
    let triggers: [String]
    /// Problem and remedy; nil if the settings satisfy the rule.
    let violation: @Sendable (Settings) -> (complaint: String, hint: String)?

    init(
        keys: [String], triggers: [String]? = nil,
        violation: @escaping @Sendable (Settings) -> (complaint: String, hint: String)?
    ) {
        self.keys = keys
        self.triggers = triggers ?? [keys[0]]
        self.violation = violation
    }

    /// All rules of the configuration.
    static let all: [ConfigurationRule] =
        [
            notch("filter.notch_yaw", \.filter.notchYaw),
            notch("filter.notch_roll", \.filter.notchRoll),
            notch("filter.notch_pitch", \.filter.notchPitch),
            ConfigurationRule(keys: ["control.derivative_cutoff_hz", "loop.rate_hz"]) { settings in
                let limit = Double(settings.loop.rateHz) / 2
                guard settings.control.derivativeCutoffHz >= limit else { return nil }
                return (
                    "is not below half of loop.rate_hz = \(settings.loop.rateHz)",
                    "\(Int(limit / 3)) is a suitable value at this loop rate."
                )
            },
            ConfigurationRule(
                keys: ["imu.timeout_ms", "loop.rate_hz"],
                triggers: ["imu.timeout_ms", "loop.rate_hz"]
            ) { settings in
                let period = 1000 / Double(settings.loop.rateHz)
                guard settings.imu.timeoutMs < 1.5 * period else { return nil }
                return (
                    "is less than one and a half periods of the loop with loop.rate_hz = \(settings.loop.rateHz)",
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
                    "Set retract.joints_deg to a pose that every joint can reach."
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
        ] + MotorRules.all + SensorRules.all + IIORules.all + RecordingRules.all

    private static func notch(
        _ key: String, _ path: any KeyPath<Settings, [Notch]> & Sendable
    ) -> ConfigurationRule {
        ConfigurationRule(keys: [key, "loop.rate_hz"]) { settings in
            guard let highest = settings[keyPath: path].map(\.hz).max(),
                highest >= 0.45 * Double(settings.loop.rateHz)
            else { return nil }
            return (
                "has a centre of \(SettingValue.text(of: highest)) Hz, which is not below 0.45 times loop.rate_hz",
                "Lower the centre or raise loop.rate_hz: the loop cannot measure frequencies above half its rate."
            )
        }
    }

    /// Checks whether the settings satisfy the rule. `origin` returns the origin of a value.
    ///
    /// - Returns: The problem; nil if the settings satisfy the rule.
    func problem(
        in settings: Settings, origin: (String) -> Origin
    ) -> ConfigurationProblem? {
        guard triggers.contains(where: { origin($0) != .builtIn }),
            let (complaint, hint) = violation(settings)
        else { return nil }
        // If a default and a configured value conflict, the message names the configured value.
        let key = keys[0]
        let written = keys.first { origin($0) != .builtIn } ?? key
        let value = Schema.setting(key)?.value(in: settings).tomlText
        return ConfigurationProblem(
            .conflict, at: origin(written).place, key: key, value: value, complaint, hint: hint)
    }
}
