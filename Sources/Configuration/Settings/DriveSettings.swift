/// Motor boards for two wheels that this build has.
public enum DriveBoardKind: String, Sendable, CaseIterable {
    /// No wheels.
    case none
    /// No board: the wheels turn on paper.
    case simulated
    /// At 0x16, register 0x00, as the rider's public driver has it.
    case rider
    /// At 0x16, register 0x01, as the board's vendor has it.
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
        /// Age at which a request to drive dies, s.
        public var deadManS = 1.0
    }
}
