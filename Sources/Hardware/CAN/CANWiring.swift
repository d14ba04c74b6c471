public import Configuration
public import GimbalCore

extension HardwareWiring {
    /// Wiring and protocol of the three drives on a CAN bus.
    public struct CANDrives: Sendable, Equatable {
        /// Name of the interface, such as `can0`.
        public var interface: String
        /// Protocol of the drives.
        public var protocolName: DriveProtocol
        /// CAN ID of each drive.
        public var ids: AxisVector
        /// CAN ID of this computer, to which the drives send their replies.
        public var host: Int
        /// Vendor of drives with the Mini Cheetah's protocol.
        public var variant = MITVariant.damiao
        /// Value ranges of the fields in frames of the Mini Cheetah's protocol.
        public var limits = MITLimits(angle: 12.5, rate: 30, torque: 10)
        /// Watchdog timeout that airframed sets in the drives, s: time without a command after which
        /// a drive stops. nil leaves the drives' own timeouts unchanged.
        public var watchdog: Double? = 0.025
        /// Endpoints of the ODrives' watchdogs; nil if airframed does not set these watchdogs.
        public var endpoints: ODriveEndpoints?
        /// Direction of each drive: 1, or -1 if its angle decreases when the joint's angle
        /// increases.
        public var direction = AxisVector(repeating: 1)
        /// Reading of each drive's encoder at joint angle zero, rad.
        public var zero = AxisVector.zero
        /// True if the drives measure the joints' angles.
        public var measuresJoints = true

        /// Watchdog timeout of moteus drives without another timeout, s.
        private static let moteusWatchdog = 0.025

        /// Creates the wiring of drives with the given CAN IDs, protocol and interface.
        public init(interface: String, protocolName: DriveProtocol, ids: AxisVector, host: Int) {
            self.interface = interface
            self.protocolName = protocolName
            self.ids = ids
            self.host = host
        }

        /// CAN IDs of the drives.
        var driveIDs: DriveIDs {
            DriveIDs(
                yaw: UInt32(max(ids.yaw, 0)), roll: UInt32(max(ids.roll, 0)),
                pitch: UInt32(max(ids.pitch, 0)))
        }

        /// Codec of the drives' protocol.
        var codec: any DriveCodec {
            let ids = driveIDs
            return switch protocolName {
            case .odrive: ODriveCodec(ids: ids, endpoints: endpoints, watchdog: watchdog)
            case .gm6020: GM6020Codec(ids: ids, mode: .current)
            case .gm6020Voltage: GM6020Codec(ids: ids, mode: .voltage)
            case .mit:
                MITCodec(
                    ids: ids, host: UInt32(host), limits: limits, variant: variant,
                    watchdog: watchdog)
            case .cybergear:
                CyberGearCodec(ids: ids, host: UInt32(host), watchdog: watchdog)
            case .moteus:
                MoteusCodec(
                    ids: ids, host: UInt32(host), watchdog: watchdog ?? Self.moteusWatchdog)
            }
        }

        /// Creates the motors, with a socket that only sends.
        func motors(_ reports: DriveReports) -> CANMotors {
            let codec = codec
            return CANMotors(
                socket: CANSocket(
                    interface: interface, reception: .none, usesFD: type(of: codec).usesFD),
                codec: codec, direction: direction, reports: reports)
        }

        /// Creates the receiver of the drives' frames. The receiver has a separate socket, so that
        /// two threads never use one socket.
        func feedback(period: Double, _ reports: DriveReports) -> DriveFeedback {
            let codec = codec
            return DriveFeedback(
                socket: CANSocket(
                    interface: interface, reception: .matching(codec.filters),
                    usesFD: type(of: codec).usesFD),
                codec: codec,
                installation: DriveFeedback.Installation(
                    zero: zero, direction: direction, period: period,
                    measuresJoints: measuresJoints),
                reports: reports)
        }
    }
}
