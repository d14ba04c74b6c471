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
}

extension Settings {
    /// Settings of `[drive]`, the two wheels.
    public struct Drive: Sendable, Equatable {
        /// The wheels' board.
        public var board = DriveBoardKind.none
        /// Device file of the board's I2C bus.
        public var bus = "/dev/i2c-1"
        /// Speed limit, as a fraction of full speed.
        public var limit = 1.0
        /// Largest acceleration as a fraction of full speed, 1/s; 2 means from rest to full speed
        /// in 0.5 s.
        public var acceleration = 2.0
        /// Largest deceleration as a fraction of full speed, 1/s; 5 means from full speed to rest
        /// in 0.2 s.
        public var deceleration = 5.0
        /// Time after which a request to drive expires, s.
        public var deadManS = 1.0
    }
}
