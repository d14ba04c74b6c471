/// Message with the presence and state of a component.
public struct Heartbeat: MAVLinkMessage {
    /// Format of HEARTBEAT, message number 0.
    public static let format = MAVLinkFormat(
        0, "HEARTBEAT", crcExtra: 50, size: 9)

    /// Component-specific mode.
    public var customMode: UInt32 = 0
    /// Type of the component, MAV_TYPE: for example, 26 means gimbal, 6 ground station.
    public var type: UInt8 = 0
    /// Type of the autopilot, MAV_AUTOPILOT: 8 means that the component is not an autopilot.
    public var autopilot: UInt8 = 0
    /// Mode of the system, MAV_MODE_FLAG: 128 means armed.
    public var baseMode: UInt8 = 0
    /// State of the system, MAV_STATE: 1 boot, 2 calibrating, 3 standby, 4 active, 5 critical, 6
    /// emergency.
    public var status: UInt8 = 0
    /// Version of MAVLink, always 3.
    public var version: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&customMode)
        fields.integer(&type)
        fields.integer(&autopilot)
        fields.integer(&baseMode)
        fields.integer(&status)
        fields.integer(&version)
    }
}
