/// Protocol of the servos on the serial bus.
public enum ServoProtocol: String, Sendable, CaseIterable {
    /// Protocol of Feetech's servo series STS, SMS and HLS.
    case feetech
    /// Dynamixel protocol 2.0, X series.
    case dynamixel2

    /// Largest valid servo ID.
    public var largestID: Int { self == .feetech ? 253 : 252 }

    /// Baud rates that the servos support, bits per second.
    public var bauds: [Int] {
        switch self {
        case .feetech: [38400, 57600, 76800, 115_200, 128_000, 250_000, 500_000, 1_000_000]
        case .dynamixel2:
            [9600, 57600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000]
        }
    }
}

/// Source of the supply voltage of the motors.
public enum SupplySource: String, Sendable, CaseIterable {
    /// The voltage that the drives, the servos or the motor board report.
    case motors
    /// The battery of `[battery]`, which also supplies the motors.
    case battery
}

extension Settings {
    /// Settings of `[supply]`, the supply of the motors.
    public struct Supply: Sendable, Equatable {
        /// Voltage threshold for a low supply, V; 0 = no limit.
        public var lowV = 0.0
        /// Voltage threshold for an empty supply, V; 0 = no limit.
        public var emptyV = 0.0
        /// Source of the measured voltage.
        public var source = SupplySource.motors
        /// Voltage at which voltage-driven motors have their configured torque, V; 0 = the
        /// torque is not corrected.
        public var nominalV = 0.0
    }
}
