public import Realtime

extension HardwareWiring {
    /// Motors on a PCA9685.
    public enum PCA9685Load: Sendable, Equatable {
        /// Three servos, which receive the given number of pulses per second.
        case servos(ServoPulses, frameRate: Double)
        /// Three brushless motors. With encoders the driver sets the field for a commanded torque;
        /// without encoders the driver sets the commanded direction and strength of the field.
        case phases(PhaseMotors, frameRate: Double, hasEncoders: Bool)
    }

    /// Motors of the joints, with the chip that drives them.
    public enum Motors: Sendable, Equatable {
        /// No motors are connected.
        case none
        /// A PCA9685 at the given address of an I2C bus, the outputs in use, and the oscillator's
        /// frequency, Hz.
        case pca9685(
            bus: String, address: UInt16, channels: [Int], oscillator: Double, load: PCA9685Load)
        /// Servos on channels of the board's PWM chip, which receive the given number of pulses per
        /// second.
        case pwm(chip: String, channels: [Int], pulses: ServoPulses, frameRate: Double)
        /// Brushless motors whose drives are on a CAN bus.
        case can(CANDrives)
        /// Servos or a motor board on a serial line.
        case serial(SerialDrives)
    }

    /// The GPIO line that switches the motors' power.
    public struct PowerSwitch: Sendable, Equatable {
        /// Device file of the GPIO chip, such as `/dev/gpiochip0`.
        public var chip: String
        /// Number of the line on the GPIO chip.
        public var line: Int
        /// True if a low level switches the motors' power on.
        public var isActiveLow: Bool
        /// True if the line switches the supply of drives that report their state; false if the line
        /// is on only while the motors are on.
        public var isSupply: Bool

        /// Creates a switch on the given GPIO line.
        public init(chip: String, line: Int, isActiveLow: Bool, isSupply: Bool = false) {
            self.chip = chip
            self.line = line
            self.isActiveLow = isActiveLow
            self.isSupply = isSupply
        }
    }

    /// Outputs with separate threads: motors that are not on the sensor's bus, and the line that
    /// switches the motors' power.
    ///
    /// - Parameter drives: Reports of drives on a CAN bus or a serial line; pass the same object to
    ///   `makeBus`.
    /// - Returns: The outputs, for their threads.
    public func makeOutputs(drives: DriveReports = DriveReports()) -> OutputBuses {
        var outputs = OutputBuses()
        switch motors {
        case .none: break
        case .pca9685(let path, _, _, _, _) where path == bus: break
        case .pca9685(let path, _, _, _, _):
            outputs.motors = makePort(on: I2CBus(path: path), supply: drives.supply)
                .map(MotorBus.init)
        case .pwm(let chip, let channels, let pulses, let frameRate):
            outputs.motors = MotorBus(
                PWMServos(chip: chip, channels: channels, pulses: pulses, frameRate: frameRate))
        case .can(let can): outputs.motors = MotorBus(can.motors(drives))
        case .serial(let serial): outputs.motors = MotorBus(serial.motors(drives))
        }
        outputs.power = power.map {
            PowerLine(
                chip: $0.chip, line: $0.line, isActiveLow: $0.isActiveLow, isSupply: $0.isSupply)
        }
        return outputs
    }

    /// The motors that share a bus with the sensor; nil if there are none.
    func motorsBesideSensor(on bus: I2CBus, supply: SupplyReport) -> (any MotorPort)? {
        guard case .pca9685(let path, _, _, _, _) = motors, path == self.bus else { return nil }
        return makePort(on: bus, supply: supply)
    }

    private func makePort(on bus: I2CBus, supply: SupplyReport) -> (any MotorPort)? {
        guard case .pca9685(_, let address, let channels, let oscillator, let load) = motors else {
            return nil
        }
        func outputs(_ frameRate: Double) -> PCA9685Outputs {
            PCA9685Outputs(
                bus: bus, address: address, channels: channels,
                chip: PCA9685(frameRate: frameRate, oscillator: oscillator))
        }
        switch load {
        case .servos(let pulses, let frameRate):
            return PCA9685Servos(outputs: outputs(frameRate), pulses: pulses)
        case .phases(let motors, let frameRate, let hasEncoders):
            return PCA9685Phases(
                outputs: outputs(frameRate), motors: motors, hasEncoders: hasEncoders,
                supply: supply)
        }
    }
}
