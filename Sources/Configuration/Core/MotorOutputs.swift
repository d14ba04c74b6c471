public import GimbalCore
import Port

extension Settings.Linux {
    /// Device file of the I2C bus with the motor driver chip.
    public var busOfMotors: String { motorBus == Self.same ? bus : motorBus }

    /// True if motors and sensor are on different buses. With separate buses, the motors still work
    /// if the sensor's bus hangs.
    public var haveMotorsOwnBus: Bool {
        motors == .pwm || motors.haveEncoders || busOfMotors != bus
    }

    /// True if encoders measure the joint angles. Torque motors require encoders.
    var hasEncoders: Bool { encoders != .none }

    /// Numbers of the outputs in use: one for each servo, or three half bridges for each brushless
    /// motor.
    public func outputs(of type: MotorType) -> [Int] {
        let first = [motorChannels.yaw, motorChannels.roll, motorChannels.pitch].map { Int($0) }
        return type == .servo ? first : first.flatMap { [$0, $0 + 1, $0 + 2] }
    }
}

/// Rules for motors on real chips.
enum MotorRules {
    static let all =
        [driver, channels, prescaler, pulses, reach, bus, direction, homeLines]
        + CANRules.all + SerialRules.all
        + [stepRange("slider", \.slider), stepRange("x", \.x), stepRange("y", \.y)]

    private static let driver = ConfigurationRule(
        keys: ["motors.type", "hardware.backend"], triggers: ["hardware.backend"]
    ) { settings in
        let linux = settings.hardware.linux
        guard settings.hardware.backend == .linux else { return nil }
        switch (linux.motors, settings.motors.type) {
        case (.none, _), (.pca9685, .servo), (.pwm, .servo), (.pca9685, .field),
            (.busServo, .servo):
            return nil
        case (.pca9685, .torque), (.can, .torque), (.busServo, .torque), (.board, .torque):
            guard !linux.hasEncoders else { return nil }
            return (
                "needs encoders on the joints, but hardware.linux.encoders is \"none\"",
                linux.motors.haveEncoders
                    ? "Set hardware.linux.encoders = \"drives\"."
                    : "Set hardware.linux.encoders, or set motors.type to \"field\" for brushless motors without encoders, or to \"servo\" for servos."
            )
        case (.pwm, _):
            return (
                "cannot be driven by hardware.linux.motors = \"pwm\", which drives only servos",
                "Set motors.type = \"servo\", or hardware.linux.motors = \"pca9685\"."
            )
        case (.can, _), (.board, _):
            return (
                "cannot be driven by hardware.linux.motors = \"\(linux.motors.rawValue)\", because the drives receive torques",
                "Set motors.type = \"torque\"."
            )
        case (.busServo, .field):
            return (
                "cannot be driven by hardware.linux.motors = \"bus_servo\", because a servo commutates its own motor",
                "Set motors.type = \"servo\", or \"torque\" for Dynamixel servos with current control."
            )
        }
    }

    private static let channels = ConfigurationRule(
        keys: ["hardware.linux.motor_channels", "motors.type", "hardware.backend"],
        triggers: ["hardware.backend"]
    ) { settings in
        let linux = settings.hardware.linux
        let type = linux.motors == .pwm ? .servo : settings.motors.type
        guard settings.hardware.backend == .linux, linux.motors != .none,
            !linux.motors.haveEncoders,
            type != .torque || linux.hasEncoders
        else { return nil }
        let numbers = [
            linux.motorChannels.yaw, linux.motorChannels.roll, linux.motorChannels.pitch,
        ]
        guard numbers.allSatisfy({ $0 == $0.rounded() }) else {
            return ("must be three different whole numbers", "For example [0, 1, 2].")
        }
        let outputs = linux.outputs(of: type)
        guard Set(outputs).count < outputs.count || outputs.contains(where: { $0 > 15 }) else {
            return nil
        }
        return type == .servo
            ? ("must be three different whole numbers", "For example [0, 1, 2].")
            : (
                "must give each brushless motor three neighbouring outputs from 0 to 15 that no other motor uses",
                "For example [0, 3, 6]."
            )
    }

    /// Rule that refuses a servo pulse rate if the PWM chip drives brushless motors. Brushless
    /// motors require a different PWM frequency.
    private static let prescaler = ConfigurationRule(keys: ["servo.frame_hz", "motors.type"]) {
        settings in
        guard settings.hardware.backend == .linux, settings.hardware.linux.motors == .pca9685,
            settings.motors.type != .servo
        else { return nil }
        return (
            "applies to servos, but motors.type selects brushless motors on the same PCA9685, which has one pulse frequency for all outputs",
            "Remove servo.frame_hz; brushless motors use motors.pwm_hz."
        )
    }

    /// Longest permitted pulse of a servo, as a fraction of the pulse period.
    private static let longestPulse = 0.9

    private static let pulses = ConfigurationRule(
        keys: [
            "servo.pulse_us", "servo.frame_hz", "motors.type", "hardware.linux.motors",
            "hardware.backend",
        ]
    ) { settings in
        let linux = settings.hardware.linux
        guard settings.hardware.backend == .linux, settings.motors.type == .servo,
            linux.motors == .pca9685 || linux.motors == .pwm
        else { return nil }
        let ends = settings.servo.pulseUs.upper
        let longest = max(ends.yaw, ends.roll, ends.pitch)
        guard longest > longestPulse * 1e6 / settings.servo.frameHz else { return nil }
        return (
            "contains a pulse that is too long for servo.frame_hz = \(SettingValue.text(of: settings.servo.frameHz))",
            "Set servo.frame_hz to at most \(Int(longestPulse * 1e6 / longest)): a pulse must not take more than 90 % of the time from one pulse to the next."
        )
    }

    /// Rule that refuses a range without an angle that the joint's servo reaches: the loop would
    /// have a range of one angle, at an end of the pulses.
    private static let reach = ConfigurationRule(
        keys: [
            "joints.range_deg", "servo.travel_deg", "servo.trim_us", "servo.pulse_us",
            "servo.direction",
        ],
        triggers: ["joints.range_deg", "servo.travel_deg", "servo.trim_us", "servo.pulse_us"]
    ) { settings in
        let range = settings.reachableJointsDeg
        guard let axis = GimbalAxis.allCases.first(where: { range.lower[$0] >= range.upper[$0] })
        else { return nil }
        let reach = settings.servo.reachDeg
        func degrees(_ angle: Double) -> String {
            SettingValue.text(of: (angle * 10).rounded() / 10)
        }
        return (
            "contains no angle that the pulses of the servo for \(axis.name) reach; they reach \(degrees(reach.lower[axis]))° to \(degrees(reach.upper[axis]))°",
            "Change joints.range_deg, or set servo.travel_deg, servo.pulse_us and servo.trim_us as the servo is built and mounted."
        )
    }

    private static let bus = ConfigurationRule(keys: ["hardware.linux.motor_bus"]) { settings in
        let bus = settings.hardware.linux.motorBus
        guard bus != Settings.Linux.same, !bus.hasPrefix("/") else { return nil }
        return ("must be \"same\" or the path of a device file", "For example \"/dev/i2c-3\".")
    }

    private static let direction = ConfigurationRule(keys: ["motors.direction"]) { settings in
        let direction = settings.motors.direction
        guard ![direction.yaw, direction.roll, direction.pitch].allSatisfy({ abs($0) == 1 }) else {
            return nil
        }
        return ("must be 1 or -1 for each joint", "For example [1, -1, 1].")
    }

    private static let homeLines = ConfigurationRule(
        keys: ["robot.home_line", "robot.first_line"]
    ) { settings in
        let robot = settings.robot
        guard robot.homeLine >= 0,
            (robot.firstLine..<robot.firstLine + 6).overlaps(robot.homeLine..<robot.homeLine + 3)
        else { return nil }
        return (
            "overlaps the six GPIO lines that begin at robot.first_line = \(robot.firstLine)",
            "Connect the three home switches to three other lines."
        )
    }

    private static func stepRange(
        _ axis: String, _ range: @escaping @Sendable (Settings.Robot) -> Settings.StepRange
    ) -> ConfigurationRule {
        ConfigurationRule(keys: ["robot.\(axis).minimum", "robot.\(axis).maximum"]) { settings in
            let range = range(settings.robot)
            guard range.minimum >= range.maximum else { return nil }
            return (
                "leaves no range of motion: the minimum is \(range.minimum), the maximum \(range.maximum)",
                "Set a minimum below the maximum; position 0 is the motor's home position."
            )
        }
    }
}
