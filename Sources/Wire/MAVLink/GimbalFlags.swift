/// Requested and present state of a gimbal: GIMBAL_DEVICE_FLAGS, whose numbers GIMBAL_MANAGER_FLAGS
/// shares.
public struct GimbalFlags: OptionSet, Sendable, Hashable {
    /// The flags as they travel.
    public let rawValue: UInt32

    /// Flags that came.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The pose of rest; beats everything else.
    public static let retract = GimbalFlags(rawValue: 1)
    /// Level and ahead; beats what follows.
    public static let neutral = GimbalFlags(rawValue: 2)
    /// Roll holds to the horizon.
    public static let rollLock = GimbalFlags(rawValue: 4)
    /// Pitch holds to the horizon.
    public static let pitchLock = GimbalFlags(rawValue: 8)
    /// Yaw holds its heading; without it, yaw follows the vehicle.
    public static let yawLock = GimbalFlags(rawValue: 16)
    /// The yaw that is given counts from where the vehicle points.
    public static let yawInVehicleFrame = GimbalFlags(rawValue: 32)
    /// The yaw that is given counts from north.
    public static let yawInEarthFrame = GimbalFlags(rawValue: 64)
    /// Report only: yaw from north is understood.
    public static let acceptsYawInEarthFrame = GimbalFlags(rawValue: 128)
}

/// Capabilities of a gimbal: GIMBAL_DEVICE_CAP_FLAGS, whose numbers GIMBAL_MANAGER_CAP_FLAGS
/// shares.
public struct GimbalCapabilities: OptionSet, Sendable, Hashable {
    /// The flags as they travel.
    public let rawValue: UInt32

    /// These capabilities.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A pose of rest.
    public static let retract = GimbalCapabilities(rawValue: 1)
    /// Level and ahead.
    public static let neutral = GimbalCapabilities(rawValue: 2)
    /// Roll turns, follows, holds.
    public static let rollAxis = GimbalCapabilities(rawValue: 4)
    /// Roll may follow the vehicle.
    public static let rollFollow = GimbalCapabilities(rawValue: 8)
    /// Roll may hold to the horizon.
    public static let rollLock = GimbalCapabilities(rawValue: 16)
    /// Pitch turns.
    public static let pitchAxis = GimbalCapabilities(rawValue: 32)
    /// Pitch may follow the vehicle.
    public static let pitchFollow = GimbalCapabilities(rawValue: 64)
    /// Pitch may hold to the horizon.
    public static let pitchLock = GimbalCapabilities(rawValue: 128)
    /// Yaw turns.
    public static let yawAxis = GimbalCapabilities(rawValue: 256)
    /// Yaw may follow the vehicle.
    public static let yawFollow = GimbalCapabilities(rawValue: 512)
    /// Yaw may hold its heading.
    public static let yawLock = GimbalCapabilities(rawValue: 1024)
    /// Yaw turns without end.
    public static let infiniteYaw = GimbalCapabilities(rawValue: 2048)
    /// Yaw may be given from north.
    public static let yawInEarthFrame = GimbalCapabilities(rawValue: 4096)
}

/// Errors of a gimbal: GIMBAL_DEVICE_ERROR_FLAGS.
public struct GimbalFailures: OptionSet, Sendable, Hashable {
    /// The flags as they travel.
    public let rawValue: UInt32

    /// These failures.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Roll is at its limit.
    public static let rollLimit = GimbalFailures(rawValue: 1)
    /// Pitch is at its limit.
    public static let pitchLimit = GimbalFailures(rawValue: 2)
    /// Yaw is at its limit.
    public static let yawLimit = GimbalFailures(rawValue: 4)
    /// An encoder.
    public static let encoder = GimbalFailures(rawValue: 8)
    /// The supply.
    public static let power = GimbalFailures(rawValue: 16)
    /// A motor.
    public static let motor = GimbalFailures(rawValue: 32)
    /// The program itself.
    public static let software = GimbalFailures(rawValue: 64)
    /// A bus or a sensor.
    public static let communication = GimbalFailures(rawValue: 128)
    /// A calibration is going on.
    public static let calibrating = GimbalFailures(rawValue: 256)
    /// No manager steers it.
    public static let noManager = GimbalFailures(rawValue: 512)
}
