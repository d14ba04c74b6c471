/// Message with identity and capabilities of a gimbal.
public struct GimbalDeviceInformation: MAVLinkMessage {
    /// Format of GIMBAL_DEVICE_INFORMATION, message number 283.
    public static let format = MAVLinkFormat(
        283, "GIMBAL_DEVICE_INFORMATION", crcExtra: 74, size: 144)

    /// Unique ID of the hardware; 0 means unknown.
    public var uid: UInt64 = 0
    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Version of the firmware, one byte for each part; the major version is in the lowest byte.
    public var firmware: UInt32 = 0
    /// Version of the gimbal's hardware.
    public var hardware: UInt32 = 0
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
    /// Capabilities: GIMBAL_DEVICE_CAP_FLAGS.
    public var capabilities: UInt16 = 0
    /// Vendor-specific capabilities.
    public var customCapabilities: UInt16 = 0
    /// Name of the gimbal's vendor.
    public var vendor = ""
    /// Name of the gimbal's model.
    public var model = ""
    /// User-defined name of the gimbal.
    public var customName = ""
    /// ID of the gimbal device; 0 if the gimbal has its own MAVLink component.
    public var device: UInt8 = 0
    /// Capabilities of the gimbal, as a 32-bit field.
    public var moreCapabilities: UInt32 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&uid)
        fields.integer(&bootMs)
        fields.integer(&firmware)
        fields.integer(&hardware)
        fields.float(&rollMin)
        fields.float(&rollMax)
        fields.float(&pitchMin)
        fields.float(&pitchMax)
        fields.float(&yawMin)
        fields.float(&yawMax)
        fields.integer(&capabilities)
        fields.integer(&customCapabilities)
        fields.text(&vendor, size: 32)
        fields.text(&model, size: 32)
        fields.text(&customName, size: 32)
        fields.integer(&device)
        fields.integer(&moreCapabilities)
    }
}

/// Message from a gimbal manager to its gimbal device with a set-point: an attitude or rates.
public struct GimbalDeviceSetAttitude: MAVLinkMessage {
    /// Format of GIMBAL_DEVICE_SET_ATTITUDE, message number 284.
    public static let format = MAVLinkFormat(
        284, "GIMBAL_DEVICE_SET_ATTITUDE", crcExtra: 99, size: 32)

    /// Requested attitude of the gimbal; NaN means rates only.
    public var q: [Float] = [1, 0, 0, 0]
    /// Requested rates of roll, pitch and yaw, rad/s; NaN means attitude only.
    public var rates = [Float](repeating: 0, count: 3)
    /// Requested state: GIMBAL_DEVICE_FLAGS, see `GimbalFlags`.
    public var flags: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.floats(&q)
        fields.floats(&rates)
        fields.integer(&flags)
        fields.address(&target)
    }
}

/// Message with the attitude of a gimbal.
public struct GimbalDeviceAttitudeStatus: MAVLinkMessage {
    /// Format of GIMBAL_DEVICE_ATTITUDE_STATUS, message number 285.
    public static let format = MAVLinkFormat(
        285, "GIMBAL_DEVICE_ATTITUDE_STATUS", crcExtra: 137, size: 40)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Attitude of the gimbal, in the frame given by the flags.
    public var q: [Float] = [1, 0, 0, 0]
    /// Measured angular velocity about x, y and z in the frame of `q`, rad/s; NaN means unknown.
    public var rates = [Float](repeating: 0, count: 3)
    /// Errors of the gimbal: GIMBAL_DEVICE_ERROR_FLAGS.
    public var failures: UInt32 = 0
    /// Current state: GIMBAL_DEVICE_FLAGS.
    public var flags: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// Heading of the vehicle, rad: the gimbal's yaw relative to north, minus the gimbal's yaw in
    /// the vehicle frame; NaN means unknown.
    public var deltaYaw: Float = 0
    /// Rate of `deltaYaw`, rad/s; NaN means unknown.
    public var deltaYawRate: Float = 0
    /// ID of the gimbal device; 0 if the gimbal has its own MAVLink component.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.floats(&q)
        fields.floats(&rates)
        fields.integer(&failures)
        fields.integer(&flags)
        fields.address(&target)
        fields.float(&deltaYaw)
        fields.float(&deltaYawRate)
        fields.integer(&device)
    }
}

/// Message with the motion of the vehicle that carries the gimbal.
public struct AutopilotStateForGimbalDevice: MAVLinkMessage {
    /// Format of AUTOPILOT_STATE_FOR_GIMBAL_DEVICE, message number 286.
    public static let format = MAVLinkFormat(
        286, "AUTOPILOT_STATE_FOR_GIMBAL_DEVICE", crcExtra: 210, size: 53)

    /// Time since the autopilot's start, µs.
    public var bootUs: UInt64 = 0
    /// Attitude of the vehicle: rotation from its body frame to the north-east-down frame.
    public var q: [Float] = [1, 0, 0, 0]
    /// Age of the vehicle's attitude, µs.
    public var attitudeDelayUs: UInt32 = 0
    /// Velocity of the vehicle towards north, east and down, m/s.
    public var velocity = [Float](repeating: 0, count: 3)
    /// Age of the vehicle's velocity, µs.
    public var velocityDelayUs: UInt32 = 0
    /// Commanded rate of the vehicle about the vertical, rad/s; NaN means unknown.
    public var feedForwardYawRate: Float = 0
    /// State of the autopilot's estimator, ESTIMATOR_STATUS_FLAGS.
    public var estimator: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// Flight or landing state of the vehicle, a value of MAV_LANDED_STATE.
    public var landed: UInt8 = 0
    /// Measured rate of the vehicle about the vertical, rad/s; NaN means unknown, and 0 means that
    /// the sender does not use this extension.
    public var yawRate: Float = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootUs)
        fields.floats(&q)
        fields.integer(&attitudeDelayUs)
        fields.floats(&velocity)
        fields.integer(&velocityDelayUs)
        fields.float(&feedForwardYawRate)
        fields.integer(&estimator)
        fields.address(&target)
        fields.integer(&landed)
        fields.float(&yawRate)
    }
}
