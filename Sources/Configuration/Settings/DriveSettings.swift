/// Kind of motor board for the two wheels.
public enum DriveBoardKind: String, Sendable, CaseIterable {
    /// The machine has no wheels.
    case none
    /// Simulated wheels without a board.
    case simulated
    /// A board at I2C address 0x16, register 0x00, as in the public driver of the rider robot.
    case rider
    /// A board at I2C address 0x16, register 0x01, as in the vendor's driver.
    case vendor
    /// The board of a Luwu XGO robot (rider or dog), on a serial port.
    case xgo
}

extension Settings {
    /// Settings of `[drive.balance]`, the pose of a robot that balances with its own controller.
    public struct Balance: Sendable, Equatable {
        /// True if the robot's controller keeps the body level on uneven ground.
        public var level = false
        /// Height of the body, from 0 (lowest) to 100 (highest); 50 is the robot's own default.
        public var heightPercent = 50.0
        /// Roll of the body, degrees, with the robot's sign convention; without effect while
        /// `level` is true.
        public var rollDeg = 0.0
    }

    /// Settings of `[drive]`, the two wheels.
    public struct Drive: Sendable, Equatable {
        /// The wheels' board.
        public var board = DriveBoardKind.none
        /// Device file of the board's I2C bus.
        public var bus = "/dev/i2c-1"
        /// Device file of an XGO robot's serial port.
        public var port = "/dev/ttyAMA0"
        /// Pose that an XGO robot's own controller holds.
        public var balance = Balance()
        /// Speed limit, as a fraction of full speed.
        public var limit = 1.0
        /// Largest acceleration, in fractions of full speed per second. For example, 2 means 0.5 s
        /// from rest to full speed.
        public var acceleration = 2.0
        /// Largest deceleration, in fractions of full speed per second. For example, 5 means 0.2 s
        /// from full speed to rest.
        public var deceleration = 5.0
        /// Timeout of a request to drive, s.
        public var deadManS = 1.0
    }
}
