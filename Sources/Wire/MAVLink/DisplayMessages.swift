/// Message with the attitude as Z-Y-X angles.
public struct AttitudeReport: MAVLinkMessage {
    /// Format of ATTITUDE, message number 30.
    public static let format = MAVLinkFormat(
        30, "ATTITUDE", crcExtra: 39, size: 28)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Roll, right positive, rad.
    public var roll: Float = 0
    /// Pitch, up positive, rad.
    public var pitch: Float = 0
    /// Yaw, right positive, rad.
    public var yaw: Float = 0
    /// Roll rate, body frame, rad/s.
    public var rollSpeed: Float = 0
    /// Pitch rate, body frame, rad/s.
    public var pitchSpeed: Float = 0
    /// Yaw rate, body frame, rad/s.
    public var yawSpeed: Float = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.float(&roll)
        fields.float(&pitch)
        fields.float(&yaw)
        fields.float(&rollSpeed)
        fields.float(&pitchSpeed)
        fields.float(&yawSpeed)
    }
}

/// Message with values for a head-up display.
public struct VFRHUD: MAVLinkMessage {
    /// Format of VFR_HUD, message number 74.
    public static let format = MAVLinkFormat(
        74, "VFR_HUD", crcExtra: 20, size: 20)

    /// Airspeed, m/s.
    public var airspeed: Float = 0
    /// Ground speed, m/s.
    public var groundspeed: Float = 0
    /// Altitude above sea level, m.
    public var altitude: Float = 0
    /// Climb rate, m/s.
    public var climb: Float = 0
    /// Heading, 0...360, degrees.
    public var heading: Int16 = 0
    /// Throttle, 0...100, %.
    public var throttle: UInt16 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.float(&airspeed)
        fields.float(&groundspeed)
        fields.float(&altitude)
        fields.float(&climb)
        fields.integer(&heading)
        fields.integer(&throttle)
    }
}
