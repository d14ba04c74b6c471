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

/// Message with the position that a vehicle's GPS receiver measures.
public struct GPSPosition: MAVLinkMessage {
    /// Format of GPS_RAW_INT, message number 24; its extensions are not read.
    public static let format = MAVLinkFormat(24, "GPS_RAW_INT", crcExtra: 24, size: 30)

    /// Time of the measurement, µs.
    public var time: UInt64 = 0
    /// Latitude, 1e-7 degrees, north positive.
    public var latitude: Int32 = 0
    /// Longitude, 1e-7 degrees, east positive.
    public var longitude: Int32 = 0
    /// Altitude above sea level, mm.
    public var altitude: Int32 = 0
    /// Horizontal dilution of precision, hundredths; 65535 means unknown.
    public var horizontalDilution: UInt16 = 0
    /// Vertical dilution of precision, hundredths; 65535 means unknown.
    public var verticalDilution: UInt16 = 0
    /// Ground speed, cm/s; 65535 means unknown.
    public var speed: UInt16 = 0
    /// Course over ground, 0.01 degrees; 65535 means unknown.
    public var course: UInt16 = 0
    /// Fix type, GPS_FIX_TYPE: a position with an altitude has the value 3 or larger.
    public var fix: UInt8 = 0
    /// Number of visible satellites; 255 means unknown.
    public var satellites: UInt8 = 0

    /// Creates a message whose fields are zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&time)
        fields.integer(&latitude)
        fields.integer(&longitude)
        fields.integer(&altitude)
        fields.integer(&horizontalDilution)
        fields.integer(&verticalDilution)
        fields.integer(&speed)
        fields.integer(&course)
        fields.integer(&fix)
        fields.integer(&satellites)
    }
}
