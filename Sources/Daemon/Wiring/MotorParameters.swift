import Configuration
import GimbalCore
import Hardware
import Robot
import Wire

extension Settings {
    /// Motors of the joints, and their wiring.
    var motorWiring: HardwareWiring.Motors {
        let linux = hardware.linux
        switch linux.motors {
        case .none: return .none
        case .pca9685:
            return .pca9685(
                bus: linux.busOfMotors, address: UInt16(linux.motorAddress),
                channels: linux.outputs(of: motors.type), oscillator: linux.oscillatorMhz * 1e6,
                load: motors.type == .servo
                    ? .servos(servoPulses, frameRate: servo.frameHz)
                    : .phases(
                        phaseMotors, frameRate: motors.pwmHz, hasEncoders: motors.type == .torque))
        case .pwm:
            return .pwm(
                chip: linux.pwmChip, channels: linux.outputs(of: .servo), pulses: servoPulses,
                frameRate: servo.frameHz)
        case .can: return .can(drives)
        case .busServo, .board: return .serial(serialDrives)
        }
    }

    /// Drives on the CAN bus.
    private var drives: HardwareWiring.CANDrives {
        let linux = hardware.linux
        var drives = HardwareWiring.CANDrives(
            interface: linux.canInterface, protocolName: linux.canProtocol, ids: linux.canId,
            host: linux.canHostId)
        drives.limits = MITLimits(
            angle: linux.mitAngleRad, rate: linux.mitRateRps, torque: linux.mitTorqueNm)
        drives.variant = linux.mitVariant
        drives.watchdog = linux.setsDriveWatchdogs ? linux.canWatchdogMs / 1e3 : nil
        drives.endpoints = linux.odriveEndpoints
        drives.direction = motors.direction
        drives.zero = linux.encoderZeroDeg * (.pi / 180)
        drives.measuresJoints = linux.encoders == .drives
        return drives
    }

    /// Servos or the motor board on the serial port.
    private var serialDrives: HardwareWiring.SerialDrives {
        let linux = hardware.linux
        let devices: HardwareWiring.SerialDrives.Devices =
            switch (linux.motors, linux.servoProtocol, motors.type) {
            case (.board, _, _): .board
            case (_, .feetech, _): .feetech
            case (_, .dynamixel2, .torque):
                .dynamixelCurrent(
                    torquePerAmp: linux.servoNmPerA, step: linux.servoCurrentStepMa / 1000)
            case (_, .dynamixel2, _): .dynamixelPosition
            }
        var drives = HardwareWiring.SerialDrives(
            port: linux.motorPort, baud: linux.motorBaud, devices: devices)
        drives.ids = linux.servoId
        drives.direction = motors.type == .servo ? servo.direction : motors.direction
        drives.zero = linux.encoderZeroDeg * (.pi / 180)
        drives.rate = SerialLoad(self)?.rate ?? Double(loop.rateHz)
        drives.measuresJoints = linux.encoders == .drives
        return drives
    }

    /// GPIO line that switches the motors' power; nil if there is no such line.
    var powerSwitch: HardwareWiring.PowerSwitch? {
        let linux = hardware.linux
        guard linux.powerLine >= 0 else { return nil }
        return HardwareWiring.PowerSwitch(
            chip: linux.gpioChip, line: linux.powerLine, isActiveLow: linux.powerActiveLow,
            isSupply: switchesMotorSupply)
    }

    /// Description of the part that switches the motors off if a bus hangs; nil without real
    /// motors.
    var cutOff: String? {
        let linux = hardware.linux
        guard hardware.backend == .linux, linux.motors != .none else { return nil }
        if let power = powerSwitch {
            return "line \(power.line) of \(power.chip)"
                + (power.isSupply ? ", the switch of the motors' supply" : "")
        }
        switch linux.motors {
        case .pwm: return "the board drives the PWM outputs directly, so no bus can hang"
        case .can: return linux.driveWatchdogs ?? MotorStatus.noCutOff
        case .board: return "the board, 20 ms after the last command"
        case .busServo where linux.servoProtocol == .dynamixel2:
            return "the servos' bus watchdogs, which airframed sets to 60 ms"
        case .none, .pca9685, .busServo: return MotorStatus.noCutOff
        }
    }

    /// The wheels; nil if there are none. In lockstep there are none, because the gimbal is
    /// simulated.
    var wheels: DriveMotors? {
        guard hardware.backend != .lockstep else { return nil }
        var parameters = DriveModel.Parameters()
        parameters.limit = drive.limit
        parameters.acceleration = drive.acceleration
        parameters.deceleration = drive.deceleration
        switch drive.board {
        case .none: return nil
        case .simulated: return DriveMotors(simulated: parameters)
        case .rider:
            return DriveMotors(bus: drive.bus, format: .publicDriver, parameters: parameters)
        case .vendor: return DriveMotors(bus: drive.bus, format: .vendor, parameters: parameters)
        case .xgo: return DriveMotors(xgo: drive.port, pose: robotPose, parameters: parameters)
        }
    }

    /// Pose that an XGO robot's own controller holds.
    var robotPose: XGOPose {
        var pose = XGOPose()
        pose.isLevel = drive.balance.level
        pose.height = drive.balance.heightPercent / 100
        pose.rollDeg = drive.balance.rollDeg
        return pose
    }

    /// The robot's motors; nil without stepper motors.
    var steppers: StepperMotors? {
        let parameters = [robot.slider, robot.x, robot.y].map { range in
            var axis = StepAxis.Parameters()
            axis.maxSpeed = robot.maxSpeed
            axis.acceleration = robot.acceleration
            axis.minimum = range.minimum
            axis.maximum = range.maximum
            axis.homingSpeed = -robot.homingSpeed
            // The search for the home switch covers the distance from the far end of the axis to
            // the switch, plus a margin.
            axis.homingRange = (range.maximum - range.minimum) * 11 / 10 + 100
            return axis
        }
        switch robot.motors {
        case .none: return nil
        case .simulated: return StepperMotors(simulated: parameters)
        case .gpio:
            let lines = Array(robot.firstLine..<robot.firstLine + 6)
            let homes =
                robot.homeLine < 0 ? nil : Array(robot.homeLine..<robot.homeLine + 3)
            return StepperMotors(
                StepperMotors.Wiring(
                    chip: robot.gpioChip, steps: Array(lines[..<3]), directions: Array(lines[3...]),
                    homes: homes, parameters: parameters))
        }
    }

    private var servoPulses: ServoPulses {
        ServoPulses(yaw: pulse(.yaw), roll: pulse(.roll), pitch: pulse(.pitch))
    }

    private func pulse(_ axis: GimbalAxis) -> ServoPulse {
        ServoPulse(
            shortest: servo.pulseUs.lower[axis] * 1e-6, longest: servo.pulseUs.upper[axis] * 1e-6,
            travel: Angle.degrees(servo.travelDeg[axis]).radians,
            direction: servo.direction[axis], trim: servo.trimUs[axis] * 1e-6)
    }

    private var phaseMotors: PhaseMotors {
        PhaseMotors(yaw: phases(.yaw), roll: phases(.roll), pitch: phases(.pitch))
    }

    private func phases(_ axis: GimbalAxis) -> PhaseMotor {
        PhaseMotor(
            polePairs: Double(motors.polePairs), direction: motors.direction[axis],
            zero: Angle.degrees(motors.electricalZeroDeg[axis]).radians,
            peakTorque: motors.torqueLimitNm[axis])
    }
}
