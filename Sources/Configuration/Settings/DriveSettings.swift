/// Motor boards for two wheels that this build supports.
public enum DriveBoardKind: String, Sendable, CaseIterable {
    /// No wheels.
    case none
    /// Simulated wheels without a board.
    case simulated
    /// Address 0x16, register 0x00, as in the rider's public driver.
    case rider
    /// Address 0x16, register 0x01, as in the vendor's driver.
    case vendor
}

extension Settings {
    /// `[drive]`
    public struct Drive: Sendable, Equatable {
        /// The wheels' board.
        public var board = DriveBoardKind.none
        /// Device file of its bus.
        public var bus = "/dev/i2c-1"
        /// Speed limit as a share of full speed.
        public var limit = 1.0
        /// Acceleration in full speeds per second.
        public var acceleration = 2.0
        /// Deceleration in full speeds per second.
        public var deceleration = 5.0
        /// Age at which a request to drive expires, s.
        public var deadManS = 1.0
    }
}
