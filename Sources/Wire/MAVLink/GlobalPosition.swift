/// Message with the position of a vehicle.
public struct GlobalPosition: MAVLinkMessage {
    /// Format of GLOBAL_POSITION_INT, message number 33.
    public static let format = MAVLinkFormat(
        33, "GLOBAL_POSITION_INT", crcExtra: 104, size: 28)

    /// Time since the start of the autopilot, ms.
    public var bootMs: UInt32 = 0
    /// Latitude, 1e-7 degrees, north positive.
    public var latitude: Int32 = 0
    /// Longitude, 1e-7 degrees, east positive.
    public var longitude: Int32 = 0
    /// Altitude above sea level, mm.
    public var altitude: Int32 = 0
    /// Altitude above home, mm.
    public var altitudeAboveHome: Int32 = 0
    /// Speed to the north, cm/s.
    public var northSpeed: Int16 = 0
    /// Speed to the east, cm/s.
    public var eastSpeed: Int16 = 0
    /// Speed downwards, cm/s.
    public var downSpeed: Int16 = 0
    /// Heading of the vehicle, 0.01 degrees clockwise from north; 65535 means unknown.
    public var heading: UInt16 = 0

    /// Creates a message whose fields are zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.integer(&latitude)
        fields.integer(&longitude)
        fields.integer(&altitude)
        fields.integer(&altitudeAboveHome)
        fields.integer(&northSpeed)
        fields.integer(&eastSpeed)
        fields.integer(&downSpeed)
        fields.integer(&heading)
    }
}
