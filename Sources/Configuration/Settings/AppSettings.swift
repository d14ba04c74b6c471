public import GimbalCore
public import Port

/// Response to the mode inactive of AirOS.
public enum AirOSInactive: String, Sendable, CaseIterable {
    /// Outputs off.
    case off
    /// Level, with the handle's heading.
    case neutral

    /// The mode for an AirOS client's request for inactive.
    public var mode: Mode {
        switch self {
        case .off: .inactive
        case .neutral: .neutral
        }
    }
}

/// Signs of the axes for an app: 1, or -1 for the opposite direction.
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

    /// The signs as factors.
    public var factors: AxisVector {
        AxisVector(yaw: Double(yaw), roll: Double(roll), pitch: Double(pitch))
    }
}

/// Function of RedBearLab's serial service.
public enum RBLRole: String, Sendable, CaseIterable {
    /// The service is not offered.
    case off
    /// The first byte from a client selects the function.
    case auto
    /// MAVLink 1 for a flight display.
    case mavlink
    /// A robot's remote control.
    case robot
    /// A serial port, as of BLE Mini.
    case serial
    /// Loopback: every byte returns to its client.
    case loopback
}

extension Settings {
    /// `[airos]`
    public struct AirOS: Sendable, Equatable {
        /// Response to inactive.
        public var inactive = AirOSInactive.off
        /// Notifications of each subscribed value, Hz.
        public var notifyHz = 10.0
        /// Signs of the axes for the app.
        public var sign = AxisSigns()
        /// Time after which an app's change reverts unless it saves, s; 0 = never.
        public var rollbackS = 0
        /// `[airos.pid]`: the gains that the app shows.
        public var pid = PIDTriple.defaults
    }

    /// `[rbl]`
    public struct RBL: Sendable, Equatable {
        /// Function of the service.
        public var role = RBLRole.auto
        /// The advertised name.
        public var name = "AirOS Gimbal"
        /// Speed of the serial port.
        public var baud = RBLBaud.baud57600
        /// The serial port behind role serial.
        public var device = "/dev/ttyUSB0"
        /// Whether the gimbal's MAVLink shares the link with that port.
        public var tap = false
        /// Rate of the attitude for a flight display, Hz.
        public var attitudeHz = 20.0
    }
}
