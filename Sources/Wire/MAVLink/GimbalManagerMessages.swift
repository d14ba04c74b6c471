/// Message from a gimbal manager with its gimbal's capabilities.
public struct GimbalManagerInformation: MAVLinkMessage {
    /// Format of GIMBAL_MANAGER_INFORMATION, message number 280.
    public static let format = MAVLinkFormat(
        280, "GIMBAL_MANAGER_INFORMATION", crcExtra: 70, size: 33)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Capabilities: GIMBAL_MANAGER_CAP_FLAGS.
    public var capabilities: UInt32 = 0
    /// Smallest roll, rad.
    public var rollMin: Float = 0
    /// Largest roll, rad.
    public var rollMax: Float = 0
    /// Smallest pitch, rad.
    public var pitchMin: Float = 0
    /// Largest pitch, rad.
    public var pitchMax: Float = 0
    /// Smallest yaw, rad.
    public var yawMin: Float = 0
    /// Largest yaw, rad.
    public var yawMax: Float = 0
    /// ID of the gimbal device, 1...6; 0 means all gimbal devices.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.integer(&capabilities)
        fields.float(&rollMin)
        fields.float(&rollMax)
        fields.float(&pitchMin)
        fields.float(&pitchMax)
        fields.float(&yawMin)
        fields.float(&yawMax)
        fields.integer(&device)
    }
}

/// Message from a gimbal manager with the components in control of the gimbal.
public struct GimbalManagerStatus: MAVLinkMessage {
    /// Format of GIMBAL_MANAGER_STATUS, message number 281.
    public static let format = MAVLinkFormat(
        281, "GIMBAL_MANAGER_STATUS", crcExtra: 48, size: 13)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Requested state: GIMBAL_MANAGER_FLAGS, see `GimbalFlags`.
    public var flags: UInt32 = 0
    /// ID of the gimbal device, 1...6; 0 means all gimbal devices.
    public var device: UInt8 = 0
    /// The primary component in control.
    public var primary = MAVLinkAddress.none
    /// The secondary component in control.
    public var secondary = MAVLinkAddress.none

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.integer(&flags)
        fields.integer(&device)
        fields.address(&primary)
        fields.address(&secondary)
    }
}

/// Message that requests an attitude or rates from the gimbal manager.
public struct GimbalManagerSetAttitude: MAVLinkMessage {
    /// Format of GIMBAL_MANAGER_SET_ATTITUDE, message number 282.
    public static let format = MAVLinkFormat(
        282, "GIMBAL_MANAGER_SET_ATTITUDE", crcExtra: 123, size: 35)

    /// Requested state: GIMBAL_MANAGER_FLAGS, see `GimbalFlags`.
    public var flags: UInt32 = 0
    /// Requested attitude of the gimbal; NaN means rates only.
    public var q: [Float] = [1, 0, 0, 0]
    /// Requested rates of roll, pitch and yaw, rad/s; NaN means attitude only.
    public var rates = [Float](repeating: 0, count: 3)
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// ID of the gimbal device, 1...6; 0 means all gimbal devices.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&flags)
        fields.floats(&q)
        fields.floats(&rates)
        fields.address(&target)
        fields.integer(&device)
    }
}

/// Message that requests pitch and yaw, or rates, from the gimbal manager.
public struct GimbalManagerSetPitchYaw: MAVLinkMessage {
    /// Format of GIMBAL_MANAGER_SET_PITCHYAW, message number 287.
    public static let format = MAVLinkFormat(
        287, "GIMBAL_MANAGER_SET_PITCHYAW", crcExtra: 1, size: 23)

    /// Requested state: GIMBAL_MANAGER_FLAGS, see `GimbalFlags`.
    public var flags: UInt32 = 0
    /// Requested pitch, rad; NaN means no request.
    public var pitch: Float = 0
    /// Requested yaw, rad; NaN means no request.
    public var yaw: Float = 0
    /// Requested pitch rate, rad/s; NaN means no request.
    public var pitchRate: Float = 0
    /// Requested yaw rate, rad/s; NaN means no request.
    public var yawRate: Float = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// ID of the gimbal device, 1...6; 0 means all gimbal devices.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&flags)
        fields.float(&pitch)
        fields.float(&yaw)
        fields.float(&pitchRate)
        fields.float(&yawRate)
        fields.address(&target)
        fields.integer(&device)
    }
}

/// Message that requests pitch and yaw, or rates, from the gimbal manager, as stick positions.
public struct GimbalManagerSetManualControl: MAVLinkMessage {
    /// Format of GIMBAL_MANAGER_SET_MANUAL_CONTROL, message number 288.
    public static let format = MAVLinkFormat(
        288, "GIMBAL_MANAGER_SET_MANUAL_CONTROL", crcExtra: 20, size: 23)

    /// Requested state: GIMBAL_MANAGER_FLAGS, see `GimbalFlags`.
    public var flags: UInt32 = 0
    /// Pitch requested by a stick, as a fraction of the range, -1...1; NaN means no request.
    public var pitch: Float = 0
    /// Yaw requested by a stick, as a fraction of the range, -1...1; NaN means no request.
    public var yaw: Float = 0
    /// Pitch rate requested by a stick, as a fraction of the largest rate, -1...1; NaN means no
    /// request.
    public var pitchRate: Float = 0
    /// Yaw rate requested by a stick, as a fraction of the largest rate, -1...1; NaN means no
    /// request.
    public var yawRate: Float = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// ID of the gimbal device, 1...6; 0 means all gimbal devices.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&flags)
        fields.float(&pitch)
        fields.float(&yaw)
        fields.float(&pitchRate)
        fields.float(&yawRate)
        fields.address(&target)
        fields.integer(&device)
    }
}
