/// The sensors' readings at one instant, in SI units. Hardware delivers samples in the sensor's
/// frame; `SensorCorrection` converts the samples to the camera's body frame. Without a
/// calibration, the sensor's frame equals the camera's body frame.
public struct IMUSample: Sendable, BitwiseCopyable {
    /// The optional parts of a sample, in addition to gyroscope and accelerometer.
    public struct Contents: Hashable, Sendable, BitwiseCopyable {
        /// The set as bits.
        public var rawValue: UInt32

        /// Creates a set from its bits.
        @inlinable @_noLocks
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The empty set: no optional part.
        @inlinable
        public static var none: Contents { @_noLocks get { Contents(rawValue: 0) } }

        /// Marks the optional parts in `other` as present in the sample.
        @inlinable @_noLocks
        public mutating func insert(_ other: Contents) { rawValue |= other.rawValue }

        /// Marks the optional parts in `other` as absent from the sample.
        @inlinable @_noLocks
        public mutating func remove(_ other: Contents) { rawValue &= ~other.rawValue }

        /// True if all parts of `other` are in the set.
        @inlinable @_noLocks
        public func contains(_ other: Contents) -> Bool {
            rawValue & other.rawValue == other.rawValue
        }

        /// The sample contains joint angles (`joints`).
        @inlinable
        public static var joints: Contents { @_noLocks get { Contents(rawValue: 1) } }
        /// The sample contains joint rates (`jointRates`).
        @inlinable
        public static var jointRates: Contents { @_noLocks get { Contents(rawValue: 2) } }
        /// The sample contains the handle's rate (`baseGyro`).
        @inlinable
        public static var baseGyro: Contents { @_noLocks get { Contents(rawValue: 4) } }
        /// The sample contains the magnetic field (`magneticField`).
        @inlinable
        public static var magneticField: Contents { @_noLocks get { Contents(rawValue: 8) } }
        /// The sample contains the sensor's temperature (`temperature`).
        @inlinable
        public static var temperature: Contents { @_noLocks get { Contents(rawValue: 16) } }
    }

    /// Time of the sample on the loop's clock.
    public var time: Instant
    /// Angular rate of the camera, body frame (FRD), rad/s.
    public var gyro: Vector3
    /// Specific force on the camera, body frame (FRD), m/s²: [0, 0, -9.81] at rest and level.
    public var accel: Vector3
    /// Joint angles, rad, all zero when the camera is aligned with the handle; valid with
    /// `.joints`.
    public var joints: AxisVector = .zero
    /// Joint rates, rad/s; valid with `.jointRates`.
    public var jointRates: AxisVector = .zero
    /// Angular rate of the handle, handle frame (FRD), rad/s; valid with `.baseGyro`.
    public var baseGyro: Vector3 = .zero
    /// Magnetic field, body frame (FRD), µT; valid with `.magneticField`.
    public var magneticField: Vector3 = .zero
    /// Temperature of the sensor chip, °C; valid with `.temperature`.
    public var temperature = 0.0
    /// The optional parts that the sample contains.
    public var contents: Contents = .none

    /// Creates a sample of gyroscope and accelerometer only.
    @inlinable @_noLocks
    public init(time: Instant, gyro: Vector3, accel: Vector3) {
        self.time = time
        self.gyro = gyro
        self.accel = accel
    }

    /// True if the sample contains a temperature in the plausible range, -60...150 °C.
    var hasPossibleTemperature: Bool {
        @_noLocks get {
            contents.contains(.temperature) && temperature > -60 && temperature < 150
        }
    }
}
