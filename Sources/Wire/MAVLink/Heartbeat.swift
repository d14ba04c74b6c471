/// Presence and state of a component.
public struct Heartbeat: MAVLinkMessage {
    /// HEARTBEAT, number 0.
    public static let format = MAVLinkFormat(
        0, "HEARTBEAT", crcExtra: 50, size: 9)

    /// Component-specific mode.
    public var customMode: UInt32 = 0
    /// MAV_TYPE: 26 gimbal, 6 ground station.
    public var type: UInt8 = 0
    /// MAV_AUTOPILOT: 8 means not an autopilot.
    public var autopilot: UInt8 = 0
    /// MAV_MODE_FLAG: 128 armed.
    public var baseMode: UInt8 = 0
    /// MAV_STATE: 1 boot, 2 calibrating, 3 standby, 4 active, 5 critical, 6 emergency.
    public var status: UInt8 = 0
    /// Version of MAVLink: 3.
    public var version: UInt8 = 0

    /// Every field zero.
    public init() {}

    /// In wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&customMode)
        fields.integer(&type)
        fields.integer(&autopilot)
        fields.integer(&baseMode)
        fields.integer(&status)
        fields.integer(&version)
    }
}
