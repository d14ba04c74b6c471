/// Requested or current state of a gimbal: GIMBAL_DEVICE_FLAGS. GIMBAL_MANAGER_FLAGS have the same
/// bits for this state.
public struct GimbalFlags: OptionSet, Sendable, Hashable {
    /// The flags as transmitted, one bit each.
    public let rawValue: UInt32

    /// Creates flags from a received value.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The gimbal moves to its rest pose. This flag overrides all other flags.
    public static let retract = GimbalFlags(rawValue: 1)
    /// The camera is level and points ahead. This flag overrides all other flags except `retract`.
    public static let neutral = GimbalFlags(rawValue: 2)
    /// Roll is held relative to the horizon.
    public static let rollLock = GimbalFlags(rawValue: 4)
    /// Pitch is held relative to the horizon.
    public static let pitchLock = GimbalFlags(rawValue: 8)
    /// Yaw is held relative to the earth. Without this flag, yaw follows the vehicle.
    public static let yawLock = GimbalFlags(rawValue: 16)
    /// The yaw in this message is relative to the vehicle's heading.
    public static let yawInVehicleFrame = GimbalFlags(rawValue: 32)
    /// The yaw in this message is relative to north.
    public static let yawInEarthFrame = GimbalFlags(rawValue: 64)
    /// The gimbal accepts a yaw relative to north. This flag is only in reports, not in requests.
    public static let acceptsYawInEarthFrame = GimbalFlags(rawValue: 128)
}

/// Capabilities of a gimbal: GIMBAL_DEVICE_CAP_FLAGS. GIMBAL_MANAGER_CAP_FLAGS have the same bits
/// for these capabilities.
public struct GimbalCapabilities: OptionSet, Sendable, Hashable {
    /// The flags as transmitted, one bit each.
    public let rawValue: UInt32

    /// Creates capabilities from a received value.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A rest pose is supported.
    public static let retract = GimbalCapabilities(rawValue: 1)
    /// A neutral pose (camera level, pointing ahead) is supported.
    public static let neutral = GimbalCapabilities(rawValue: 2)
    /// Roll can be controlled.
    public static let rollAxis = GimbalCapabilities(rawValue: 4)
    /// Roll can follow the vehicle.
    public static let rollFollow = GimbalCapabilities(rawValue: 8)
    /// Roll can be held relative to the horizon.
    public static let rollLock = GimbalCapabilities(rawValue: 16)
    /// Pitch can be controlled.
    public static let pitchAxis = GimbalCapabilities(rawValue: 32)
    /// Pitch can follow the vehicle.
    public static let pitchFollow = GimbalCapabilities(rawValue: 64)
    /// Pitch can be held relative to the horizon.
    public static let pitchLock = GimbalCapabilities(rawValue: 128)
    /// Yaw can be controlled.
    public static let yawAxis = GimbalCapabilities(rawValue: 256)
    /// Yaw can follow the vehicle.
    public static let yawFollow = GimbalCapabilities(rawValue: 512)
    /// Yaw can be held relative to the earth.
    public static let yawLock = GimbalCapabilities(rawValue: 1024)
    /// The yaw range is unlimited.
    public static let infiniteYaw = GimbalCapabilities(rawValue: 2048)
    /// Requests can contain a yaw relative to north.
    public static let yawInEarthFrame = GimbalCapabilities(rawValue: 4096)
    /// The manager can point at a place on the earth.
    public static let pointsAtPlaces = GimbalCapabilities(rawValue: 131_072)
}

/// Errors of a gimbal: GIMBAL_DEVICE_ERROR_FLAGS.
public struct GimbalFailures: OptionSet, Sendable, Hashable {
    /// The flags as transmitted, one bit each.
    public let rawValue: UInt32

    /// Creates errors from a received value.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Roll is at its limit.
    public static let rollLimit = GimbalFailures(rawValue: 1)
    /// Pitch is at its limit.
    public static let pitchLimit = GimbalFailures(rawValue: 2)
    /// Yaw is at its limit.
    public static let yawLimit = GimbalFailures(rawValue: 4)
    /// An encoder has failed.
    public static let encoder = GimbalFailures(rawValue: 8)
    /// The power supply has failed.
    public static let power = GimbalFailures(rawValue: 16)
    /// A motor has failed.
    public static let motor = GimbalFailures(rawValue: 32)
    /// The gimbal's program has failed.
    public static let software = GimbalFailures(rawValue: 64)
    /// A bus or a sensor has failed.
    public static let communication = GimbalFailures(rawValue: 128)
    /// A calibration is in progress.
    public static let calibrating = GimbalFailures(rawValue: 256)
    /// No manager controls the gimbal.
    public static let noManager = GimbalFailures(rawValue: 512)
}
