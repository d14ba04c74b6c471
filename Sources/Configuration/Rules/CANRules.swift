import GimbalCore

/// Rules for drives on a CAN bus.
enum CANRules {
    /// All rules for drives on a CAN bus.
    static let all = [
        ids, encoders, encoderDirection, interface, hostID, watchdog, watchdogPeriods,
        odriveEndpoints, endlessYaw,
    ]

    private static func isUsed(_ settings: Settings) -> Bool {
        settings.hardware.backend == .linux && settings.hardware.linux.motors == .can
    }

    private static let ids = ConfigurationRule(
        keys: [
            "hardware.linux.can_id", "hardware.linux.can_protocol", "hardware.linux.motors",
            "hardware.backend",
        ],
        triggers: ["hardware.backend"]
    ) { settings in
        guard isUsed(settings) else { return nil }
        let linux = settings.hardware.linux
        let ids = [linux.canId.yaw, linux.canId.roll, linux.canId.pitch]
        let range = linux.canProtocol.ids
        guard !ids.contains(-1) else {
            return (
                "does not contain a CAN ID for the drive of every joint",
                "Set the three CAN IDs that are configured in the drives, for example [1, 2, 3]."
            )
        }
        guard ids.allSatisfy({ $0 == $0.rounded() && range.contains(Int($0)) }) else {
            return (
                "must be three whole numbers from \(range.lowerBound) to \(range.upperBound), the range of CAN IDs of protocol \(linux.canProtocol.rawValue)",
                "For example [1, 2, 3]."
            )
        }
        guard Set(ids).count < 3 else { return nil }
        return (
            "contains the same CAN ID twice",
            "Give each drive a different CAN ID with the vendor's configuration tool."
        )
    }

    private static let encoders = ConfigurationRule(
        keys: ["hardware.linux.encoders", "hardware.linux.motors", "hardware.backend"],
        triggers: ["hardware.linux.encoders"]
    ) { settings in
        let linux = settings.hardware.linux
        guard settings.hardware.backend == .linux, linux.encoders == .drives,
            !linux.motors.haveEncoders
        else { return nil }
        return (
            "needs drives on a CAN bus, servos on a serial bus or a motor board, but hardware.linux.motors is \"\(linux.motors.rawValue)\"",
            "Set hardware.linux.motors to \"can\", \"bus_servo\" or \"board\"."
        )
    }

    private static let encoderDirection = ConfigurationRule(
        keys: ["hardware.linux.encoder_direction", "hardware.linux.encoders"]
    ) { settings in
        let linux = settings.hardware.linux
        guard linux.encoders == .drives, linux.encoderDirection != AxisVector(repeating: 1) else {
            return nil
        }
        return (
            "does not apply to hardware.linux.encoders = \"drives\", because torque and angle of a drive have the same direction",
            "Remove hardware.linux.encoder_direction, and set motors.direction, or for servos servo.direction."
        )
    }

    private static let interface = ConfigurationRule(keys: ["hardware.linux.can_interface"]) {
        settings in
        let name = settings.hardware.linux.canInterface
        guard name.isEmpty || name.contains("/") || name.contains(" ") else { return nil }
        return ("must be the name of a CAN interface", "For example \"can0\".")
    }

    private static let hostID = ConfigurationRule(
        keys: [
            "hardware.linux.can_host_id", "hardware.linux.can_protocol", "hardware.linux.motors",
        ]
    ) { settings in
        guard isUsed(settings) else { return nil }
        let linux = settings.hardware.linux
        let most =
            switch linux.canProtocol {
            case .odrive, .gm6020, .gm6020Voltage, .mit: 2047
            case .cybergear, .moteus: 127
            }
        let host = Double(linux.canHostId)
        if linux.canHostId > most { return ("must be at most \(most)", "For example 0.") }
        guard [.mit, .cybergear, .moteus].contains(linux.canProtocol),
            [linux.canId.yaw, linux.canId.roll, linux.canId.pitch].contains(host)
        else { return nil }
        return ("is also the CAN ID of a drive", "Set a CAN ID that no drive uses.")
    }

    /// Shortest time of the drives' watchdogs, ms.
    private static let shortestWatchdog = 10.0

    private static let watchdog = ConfigurationRule(
        keys: ["hardware.linux.can_watchdog_ms", "hardware.linux.can_protocol"],
        triggers: ["hardware.linux.can_watchdog_ms"]
    ) { settings in
        let linux = settings.hardware.linux
        guard isUsed(settings), linux.canWatchdogMs < shortestWatchdog else { return nil }
        if linux.canWatchdogMs > 0 { return ("must be 0, or at least 10", "For example 25.") }
        guard linux.canProtocol == .moteus else { return nil }
        return (
            "must not be 0 for protocol moteus, because each frame to a moteus contains the watchdog's time",
            "For example 25."
        )
    }

    private static let watchdogPeriods = ConfigurationRule(
        keys: [
            "loop.rate_hz", "hardware.linux.can_watchdog_ms", "hardware.linux.can_protocol",
            "hardware.linux.motors",
        ]
    ) { settings in
        let linux = settings.hardware.linux
        let shortest = 2000 / Double(settings.loop.rateHz)
        // The rule `watchdog` refuses a shorter time, for which no rate of the loop is fast enough.
        guard isUsed(settings), linux.setsDriveWatchdogs, linux.canWatchdogMs < shortest,
            linux.canWatchdogMs >= shortestWatchdog
        else { return nil }
        return (
            "is too low: the drives' watchdogs expire after hardware.linux.can_watchdog_ms = \(SettingValue.text(of: linux.canWatchdogMs)), which is shorter than two periods of the loop",
            "Set can_watchdog_ms to at least \(Int(shortest.rounded(.up))), or loop.rate_hz to at least \(Int((2000 / linux.canWatchdogMs).rounded(.up)))."
        )
    }

    private static let odriveEndpoints = ConfigurationRule(
        keys: [
            "hardware.linux.odrive_firmware", "hardware.linux.odrive_timeout_id",
            "hardware.linux.odrive_enable_id",
        ]
    ) { settings in
        let linux = settings.hardware.linux
        let isEmpty =
            linux.odriveFirmware == Settings.Linux.noFirmware && linux.odriveTimeoutId == 0
            && linux.odriveEnableId == 0
        guard !isEmpty, linux.odriveEndpoints == nil else { return nil }
        return (
            "needs a version such as \"0.6.9\", together with odrive_timeout_id and odrive_enable_id",
            "Set the three settings, or none of them."
        )
    }

    /// A drive with the Mini Cheetah's protocol reports its angle in a field with a limited range. The
    /// joint's angle is known in every turn only if this range is a whole number of turns.
    private static let endlessYaw = ConfigurationRule(
        keys: [
            "joints.range_deg", "hardware.linux.mit_angle_rad", "hardware.linux.can_protocol",
            "hardware.linux.encoders",
        ]
    ) { settings in
        let linux = settings.hardware.linux
        guard isUsed(settings), linux.encoders == .drives, settings.joints.rangeDeg.isYawEndless
        else { return nil }
        let isMIT = linux.canProtocol == .mit
        guard isMIT || linux.canProtocol == .cybergear else { return nil }
        let largest = isMIT ? linux.mitAngleRad : DriveProtocol.cyberGearAngle
        guard abs((2 * largest).remainder(dividingBy: 2 * .pi)) > 0.002 else { return nil }
        return (
            "lets yaw turn without end, but the drives report angles from -\(SettingValue.text(of: largest)) to \(SettingValue.text(of: largest)) rad, which is not a whole number of turns",
            isMIT
                ? "Set the drives' P_MAX and hardware.linux.mit_angle_rad to 12.566, or limit the range of yaw."
                : "Limit the range of yaw, for example to [-170, 170]."
        )
    }
}
