public import GimbalCore
public import Port

/// The gimbal's response to an AirOS app's request for the mode `inactive`.
public enum AirOSInactive: String, Sendable, CaseIterable {
    /// The motors' outputs are switched off.
    case off
    /// The camera is level, and its heading follows the handle.
    case neutral

    /// Mode after an AirOS app's request for the mode `inactive`.
    public var mode: Mode {
        switch self {
        case .off: .inactive
        case .neutral: .neutral
        }
    }
}

/// Signs of the axes for an app: 1, or -1 if the app's positive direction is opposite to the
/// gimbal's.
public struct AxisSigns: Sendable, Equatable {
    /// Sign of pitch.
    public var pitch: Int
    /// Sign of roll.
    public var roll: Int
    /// Sign of yaw.
    public var yaw: Int

    /// Creates signs.
    public init(pitch: Int = 1, roll: Int = 1, yaw: Int = 1) {
        self.pitch = pitch
        self.roll = roll
        self.yaw = yaw
    }

    /// Sign of each axis as a factor, 1 or -1.
    public var factors: AxisVector {
        AxisVector(yaw: Double(yaw), roll: Double(roll), pitch: Double(pitch))
    }
}

/// Function of RedBearLab's serial service.
public enum RBLRole: String, Sendable, CaseIterable {
    /// The gimbal does not offer the service.
    case off
    /// A client's first byte selects the function.
    case auto
    /// The service sends MAVLink 1 to a flight display.
    case mavlink
    /// The service receives commands for a robot.
    case robot
    /// The service is a bridge to a serial port, as in the BLE Mini.
    case serial
    /// The service is a loopback: it returns every byte to the client.
    case loopback
}

extension Settings {
    /// Settings of `[airos]`, the service for AirOS apps.
    public struct AirOS: Sendable, Equatable {
        /// The gimbal's response to an app's request for the mode `inactive`.
        public var inactive = AirOSInactive.off
        /// Rate of the notifications of each subscribed value, Hz.
        public var notifyHz = 10.0
        /// Sign of each axis, 1 or -1; an app's angles and rates are multiplied by this sign.
        public var sign = AxisSigns()
        /// Timeout of an app's unsaved change, s; then the change reverts. 0 = never.
        public var rollbackS = 0
        /// PID numbers that the app shows (table `[airos.pid]`).
        public var pid = PIDTriple.defaults
    }

    /// Settings of `[rbl]`, RedBearLab's serial service.
    public struct RBL: Sendable, Equatable {
        /// Function of the service.
        public var role = RBLRole.auto
        /// The advertised name.
        public var name = "AirOS Gimbal"
        /// Baud rate of the serial port.
        public var baud = RBLBaud.baud57600
        /// Device file of the serial port for the role `serial`.
        public var device = "/dev/ttyUSB0"
        /// True if the gimbal inserts its own MAVLink frames into the data between the phone and
        /// the serial port `device`.
        public var tap = false
        /// Rate of the attitude messages for a flight display, Hz.
        public var attitudeHz = 20.0
    }
}
