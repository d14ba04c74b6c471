internal import Configuration
public import GimbalCore

extension HardwareWiring {
    /// Servos, or a motor board, on a serial line.
    public struct SerialDrives: Sendable, Equatable {
        /// Kind of the devices on the serial line.
        public enum Devices: Sendable, Equatable {
            /// Feetech servos that hold angles.
            case feetech
            /// Dynamixel servos that hold angles.
            case dynamixelPosition
            /// Dynamixel servos that receive currents, with the torque constant, N·m/A, and the
            /// unit of the current register, A.
            case dynamixelCurrent(torquePerAmp: Double, step: Double)
            /// A board with three brushless motors.
            case board
        }

        /// Device file of the serial port.
        public var port: String
        /// Baud rate of the port, bits per second.
        public var baud: Int
        /// Kind of the devices on the serial line.
        public var devices: Devices
        /// Identifier of each servo; -1 for a joint without a servo.
        public var ids = AxisVector(yaw: 1, roll: 2, pitch: 3)
        /// Direction of each motor; 1, or -1 if the motor's angle decreases while the joint's angle
        /// increases.
        public var direction = AxisVector(repeating: 1)
        /// Reading of each encoder at joint angle zero, rad.
        public var zero = AxisVector.zero
        /// Number of exchanges (a request with its replies) per second.
        public var rate = 250.0
        /// True if the joints' angles come from the motors.
        public var measuresJoints = true

        /// Creates the wiring of devices at a port.
        public init(port: String, baud: Int, devices: Devices) {
            self.port = port
            self.baud = baud
            self.devices = devices
        }

        /// Codec for the protocol of the devices.
        var codec: any SerialCodec {
            let ids = DriveIDs(servos: self.ids)
            return switch devices {
            case .feetech: FeetechCodec(ids: ids)
            case .dynamixelPosition: DynamixelCodec(ids: ids, goal: .position)
            case .dynamixelCurrent(let torquePerAmp, let step):
                DynamixelCodec(
                    ids: ids, goal: .current(ampsPerTorque: 1 / torquePerAmp, step: step))
            case .board: BoardCodec()
            }
        }

        /// Creates the motors, with the serial line to which they are connected.
        func motors(_ reports: DriveReports) -> SerialMotors {
            SerialMotors(
                line: SerialLine(
                    open: SerialLine.device(path: port, baud: baud) {
                        reports.note(latencyError: $0)
                    }), codec: codec,
                installation: SerialMotors.Installation(
                    baud: baud, zero: zero, direction: direction, period: 1 / rate),
                reports: reports)
        }

        /// Creates the reader of the joints' angles and of the motors' conditions, for the sensors'
        /// thread.
        ///
        /// - Parameters:
        ///   - period: Period of the loop, s.
        ///   - reports: Reports of the motors' state.
        /// - Returns: The reader.
        func feedback(period: Double, _ reports: DriveReports) -> SerialFeedback {
            let codec = codec
            return SerialFeedback(
                reports: reports, axes: codec.axes,
                silence: DriveSilence(period: period, interval: 1 / rate, isSerial: true),
                measuresJoints: measuresJoints, holdsAngles: codec.holdsAngles)
        }
    }
}
