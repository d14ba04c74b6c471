import GimbalCore
import Port

/// Load of the motors' serial port.
public struct SerialLoad: Sendable, Equatable {
    /// Number of bytes of the longest exchange: the goal values, the request and all replies.
    public let bytes: Int
    /// Load of the port at the configured baud rate and loop rate, 0...1.
    public let load: Double
    /// Number of exchanges (a request with its replies) per second.
    public let rate: Double

    /// Computes the load for the given settings; nil if the motors are not on a serial port.
    public init?(_ settings: Settings) {
        let linux = settings.hardware.linux
        let servos = [linux.servoId.yaw, linux.servoId.roll, linux.servoId.pitch]
            .count { $0 >= 0 }
        switch linux.motors {
        case .none, .pca9685, .pwm, .can: return nil
        case .board: bytes = 21 + 22 + 16
        case .busServo where linux.servoProtocol == .feetech:
            bytes = (8 + 3 * servos) + (8 + servos) + 14 * servos
        case .busServo:
            let goal = settings.motors.type == .torque ? 2 : 4
            // Either the replies with health data, or the state replies and two watchdog writes.
            let replies = max(32 * servos, 18 * servos + 2 * (14 + 2 * servos))
            bytes = (14 + (1 + goal) * servos) + (14 + servos) + replies
        }
        rate =
            settings.motors.type == .servo
            ? min(settings.servo.frameHz, Double(settings.loop.rateHz))
            : Double(settings.loop.rateHz)
        load = Double(bytes) * 10 / Double(linux.motorBaud) * rate
    }
}

/// Rules for servos and motor boards on a serial port.
enum SerialRules {
    static let all = [
        ids, protocolOfType, jointEncoders, travel, absent, load, boardPeriods, supply,
        supplySource, nominal, powerLine, supplyLimit("supply.low_v", \.supply.lowV),
        supplyLimit("supply.empty_v", \.supply.emptyV),
    ]

    private static func usesServos(_ settings: Settings) -> Bool {
        settings.hardware.backend == .linux && settings.hardware.linux.motors == .busServo
    }

    private static let ids = ConfigurationRule(
        keys: [
            "hardware.linux.servo_id", "hardware.linux.servo_protocol", "hardware.linux.motors",
            "hardware.backend",
        ],
        triggers: ["hardware.backend"]
    ) { settings in
        guard usesServos(settings) else { return nil }
        let linux = settings.hardware.linux
        let ids = [linux.servoId.yaw, linux.servoId.roll, linux.servoId.pitch]
        let most = linux.servoProtocol.largestID
        guard ids.allSatisfy({ $0 == $0.rounded() && (-1...Double(most)).contains($0) }) else {
            return (
                "must be three whole numbers from 0 to \(most), or -1 for a joint without a servo",
                "For example [1, 2, 3]."
            )
        }
        let fitted = ids.filter { $0 >= 0 }
        if fitted.isEmpty {
            return ("names no servo", "Set the identifiers, for example [1, 2, 3].")
        }
        guard Set(fitted).count < fitted.count else { return nil }
        return (
            "contains the same identifier twice",
            "Give each servo its own identifier with `airframectl motor id`."
        )
    }

    private static let protocolOfType = ConfigurationRule(
        keys: ["hardware.linux.servo_protocol", "motors.type", "hardware.backend"],
        triggers: ["hardware.backend"]
    ) { settings in
        guard usesServos(settings), settings.hardware.linux.servoProtocol == .feetech,
            settings.motors.type == .torque
        else { return nil }
        return (
            "does not support torque control, but motors.type is \"torque\"",
            "Set motors.type = \"servo\", or use Dynamixel servos with current control."
        )
    }

    /// Angle zero of a position servo is `encoder_zero_deg`, so this setting cannot also be the
    /// angle zero of a separate encoder. The goals of servos with torque control do not need it.
    private static let jointEncoders = ConfigurationRule(
        keys: [
            "hardware.linux.encoders", "hardware.linux.motors", "motors.type", "hardware.backend",
        ]
    ) { settings in
        guard usesServos(settings), settings.motors.type == .servo,
            settings.hardware.linux.encoders == .as5600
        else { return nil }
        return (
            "is \"as5600\", but with servos on a serial bus hardware.linux.encoder_zero_deg is the reading of the servos' own encoders",
            "Set hardware.linux.encoders = \"drives\"."
        )
    }

    /// Position servos move only between the encoder angles 0° and 360°.
    private static let travel = ConfigurationRule(
        keys: [
            "hardware.linux.encoder_zero_deg", "joints.range_deg", "servo.direction",
            "hardware.linux.motors", "hardware.backend",
        ],
        triggers: ["hardware.backend"]
    ) { settings in
        guard usesServos(settings), settings.motors.type == .servo else { return nil }
        let (zero, range) = (settings.hardware.linux.encoderZeroDeg, settings.joints.rangeDeg)
        for axis in GimbalAxis.allCases where settings.hardware.linux.servoId[axis] >= 0 {
            let ends = [range.lower[axis], range.upper[axis]].map {
                zero[axis] + $0 * settings.servo.direction[axis]
            }
            guard ends.contains(where: { $0 < 0 || $0 > 359.9 }) else { continue }
            return (
                "moves one end of \(axis.name)'s joints.range_deg beyond the servo's travel of 0 to 360 degrees",
                "Attach the servo's horn so that the servo reads about 180 degrees when the joint is at zero, and set this key to [180, 180, 180]. Or reduce joints.range_deg."
            )
        }
        return nil
    }

    private static let absent = ConfigurationRule(
        keys: [
            "joints.range_deg", "hardware.linux.servo_id", "hardware.linux.motors",
            "hardware.backend",
        ],
        triggers: ["hardware.backend"]
    ) { settings in
        guard usesServos(settings) else { return nil }
        let range = settings.joints.rangeDeg
        for axis in GimbalAxis.allCases where settings.hardware.linux.servoId[axis] < 0 {
            if settings.motors.type == .torque {
                return (
                    "is not complete: motors.type = \"torque\" needs a servo on each joint",
                    "Set the identifier of \(axis.name)'s servo."
                )
            }
            guard range.lower[axis] < -1 || range.upper[axis] > 1 else { continue }
            return (
                "lets \(axis.name) turn, although this joint has no servo (hardware.linux.servo_id)",
                "Set this joint's range to -1 to 1 degrees."
            )
        }
        return nil
    }

    private static let load = ConfigurationRule(
        keys: [
            "hardware.linux.motor_baud", "servo.frame_hz", "loop.rate_hz", "hardware.linux.motors",
            "hardware.backend",
        ],
        triggers: ["hardware.backend"]
    ) { settings in
        guard settings.hardware.backend == .linux, let load = SerialLoad(settings),
            load.load > BusSchedule.share
        else { return nil }
        let fastest = Int(load.rate * BusSchedule.share / load.load)
        let key = settings.motors.type == .servo ? "servo.frame_hz" : "loop.rate_hz"
        return (
            "is too low: \(load.bytes) bytes in each of \(Int(load.rate)) exchanges per second would occupy \(Int((load.load * 100).rounded())) % of the port's time; at most 80 % is allowed",
            "Raise the baud rate of the devices and of the port, or set \(key) to at most \(fastest)."
        )
    }

    /// Lowest loop rate with a motor board, Hz: two periods are not longer than the board's timeout of
    /// 20 ms.
    private static let lowestBoardRate = 100

    private static let boardPeriods = ConfigurationRule(
        keys: ["loop.rate_hz", "hardware.linux.motors", "hardware.backend"]
    ) { settings in
        guard settings.hardware.backend == .linux, settings.hardware.linux.motors == .board,
            settings.loop.rateHz < lowestBoardRate
        else { return nil }
        return (
            "is too low: a motor board turns the motors off 20 ms after a command, which is shorter than two periods of the loop",
            "Set loop.rate_hz to at least \(lowestBoardRate)."
        )
    }

    private static let supply = ConfigurationRule(keys: ["supply.empty_v", "supply.low_v"]) {
        settings in
        let supply = settings.supply
        guard supply.lowV > 0, supply.emptyV >= supply.lowV else { return nil }
        return (
            "must be below supply.low_v = \(SettingValue.text(of: supply.lowV))",
            "For a lithium battery, set supply.empty_v to 3.2 V per cell, and supply.low_v to 3.5 V per cell."
        )
    }

    /// A limit without a measured voltage would protect nothing.
    private static func supplyLimit(
        _ key: String, _ path: any KeyPath<Settings, Double> & Sendable
    ) -> ConfigurationRule {
        ConfigurationRule(keys: [key, "supply.source", "hardware.linux.motors"]) { settings in
            let motors = settings.hardware.linux.motors
            guard settings[keyPath: path] > 0, settings.hardware.backend == .linux,
                settings.supply.source == .motors, motors == .pca9685 || motors == .pwm
            else { return nil }
            return (
                "has no effect, because motors = \"\(motors.rawValue)\" do not report their supply voltage",
                "Set supply.source = \"battery\", and the device that measures the voltage in [battery]."
            )
        }
    }

    private static let supplySource = ConfigurationRule(keys: ["supply.source", "battery.source"]) {
        settings in
        guard settings.supply.source == .battery,
            settings.battery.source == .none || settings.battery.source == .drive
        else { return nil }
        return (
            "needs a measured voltage, which battery.source = \"\(settings.battery.source.rawValue)\" does not provide",
            "Set battery.source = \"hwmon\" or \"power_supply\"; `airframectl doctor` lists the kernel's devices."
        )
    }

    /// A PCA9685 outputs fractions of the supply voltage, and a GM6020 with voltage commands
    /// possibly does; all other motor drivers control the current or compensate the supply voltage.
    /// Neither of these two reports its supply voltage.
    private static let nominal = ConfigurationRule(
        keys: [
            "supply.nominal_v", "supply.source", "hardware.linux.motors", "motors.type",
            "hardware.linux.can_protocol", "hardware.backend",
        ]
    ) { settings in
        let linux = settings.hardware.linux
        guard settings.supply.nominalV > 0, settings.hardware.backend == .linux else { return nil }
        let isPhases = linux.motors == .pca9685 && settings.motors.type != .servo
        guard isPhases || linux.motors == .can && linux.canProtocol == .gm6020Voltage else {
            return (
                "has an effect only on brushless motors on a PCA9685, and on drives with can_protocol = \"gm6020_voltage\"",
                "Set supply.nominal_v = 0: drives control the motors' current, and a motor board corrects the voltage itself."
            )
        }
        guard settings.supply.source != .battery else { return nil }
        return (
            "needs a measured voltage, which these motors do not report",
            "Set supply.source = \"battery\", and the device that measures the voltage in [battery]."
        )
    }

    private static let powerLine = ConfigurationRule(
        keys: [
            "hardware.linux.power_line_role", "hardware.linux.power_line", "hardware.linux.motors",
            "hardware.backend",
        ]
    ) { settings in
        let linux = settings.hardware.linux
        guard settings.hardware.backend == .linux, linux.powerLineRole == .supply else {
            return nil
        }
        guard linux.motors.haveEncoders else {
            return (
                "is \"supply\", but hardware.linux.motors is \"\(linux.motors.rawValue)\", whose power stages follow the line",
                "Set hardware.linux.power_line_role = \"enable\"."
            )
        }
        guard linux.powerLine < 0 else { return nil }
        return (
            "is \"supply\", but no GPIO line is set",
            "Set hardware.linux.power_line to the GPIO line of the supply's switch, such as 17."
        )
    }
}
