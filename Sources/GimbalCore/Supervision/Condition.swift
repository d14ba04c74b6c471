/// Everything that can stand between a command and motion, by name. Shown in `status`, on the socket and in the log.
///
/// The order of the bits is that of severity, mildest first.
public struct Conditions: OptionSet, Hashable, Sendable, BitwiseCopyable {
    /// The set as bits.
    public var rawValue: UInt32

    /// The set with these bits.
    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The mode is `inactive`: nobody asked for motion.
    @inlinable public static var inactiveMode: Conditions { Conditions(rawValue: 1 << 0) }
    /// A rate command outlived its dead-man; the set-point stands still.
    @inlinable public static var commandExpired: Conditions { Conditions(rawValue: 1 << 1) }
    /// A motor asks for more than its torque limit.
    @inlinable public static var motorSaturated: Conditions { Conditions(rawValue: 1 << 2) }
    /// A joint is at the end of its range.
    @inlinable public static var jointLimit: Conditions { Conditions(rawValue: 1 << 3) }
    /// The loop missed its period.
    @inlinable public static var loopOverrun: Conditions { Conditions(rawValue: 1 << 4) }
    /// The attitude estimate has not settled yet.
    @inlinable public static var estimateNotConverged: Conditions { Conditions(rawValue: 1 << 5) }
    /// No IMU sample has arrived since the start.
    @inlinable public static var imuMissing: Conditions { Conditions(rawValue: 1 << 6) }
    /// The last IMU sample is too old.
    @inlinable public static var imuStale: Conditions { Conditions(rawValue: 1 << 7) }
    /// Consecutive IMU samples are identical to the bit: the sensor is frozen.
    @inlinable public static var imuFrozen: Conditions { Conditions(rawValue: 1 << 8) }
    /// NaN, infinity, or a value outside the sensor's range.
    @inlinable public static var imuImplausible: Conditions { Conditions(rawValue: 1 << 9) }
    /// The samples' clock ran backwards or jumped.
    @inlinable public static var imuTimeFault: Conditions { Conditions(rawValue: 1 << 10) }
    /// The bus reports errors.
    @inlinable public static var busError: Conditions { Conditions(rawValue: 1 << 11) }
    /// Emergency stop, latched until it is reset.
    @inlinable public static var emergencyStop: Conditions { Conditions(rawValue: 1 << 12) }
    /// The process is ending.
    @inlinable public static var shutdown: Conditions { Conditions(rawValue: 1 << 13) }
}
