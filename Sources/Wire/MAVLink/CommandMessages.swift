/// Message with a command that has a position on the earth.
public struct CommandInt: MAVLinkMessage {
    /// Format of COMMAND_INT, message number 75.
    public static let format = MAVLinkFormat(
        75, "COMMAND_INT", crcExtra: 158, size: 35)

    /// First to fourth parameter of the command.
    public var params = [Float](repeating: 0, count: 4)
    /// Fifth parameter of the command, for example the latitude, 1e-7 degrees.
    public var x: Int32 = 0
    /// Sixth parameter of the command, for example the longitude, 1e-7 degrees.
    public var y: Int32 = 0
    /// Seventh parameter of the command.
    public var z: Float = 0
    /// Number of the command, a value of MAV_CMD.
    public var command: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// Frame of the coordinates, a value of MAV_FRAME.
    public var frame: UInt8 = 0
    /// Field that airframe does not use.
    public var current: UInt8 = 0
    /// Field that airframe does not use.
    public var autocontinue: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.floats(&params)
        fields.integer(&x)
        fields.integer(&y)
        fields.float(&z)
        fields.integer(&command)
        fields.address(&target)
        fields.integer(&frame)
        fields.integer(&current)
        fields.integer(&autocontinue)
    }
}

/// Message with a command that has seven parameters.
public struct CommandLong: MAVLinkMessage {
    /// Format of COMMAND_LONG, message number 76.
    public static let format = MAVLinkFormat(
        76, "COMMAND_LONG", crcExtra: 152, size: 33)

    /// First to seventh parameter of the command.
    public var params = [Float](repeating: 0, count: 7)
    /// Number of the command, a value of MAV_CMD.
    public var command: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// Number of the command's retransmissions; 0 in the first transmission.
    public var confirmation: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.floats(&params)
        fields.integer(&command)
        fields.address(&target)
        fields.integer(&confirmation)
    }
}

/// Message with the result of a command.
public struct CommandAck: MAVLinkMessage {
    /// Format of COMMAND_ACK, message number 77.
    public static let format = MAVLinkFormat(
        77, "COMMAND_ACK", crcExtra: 143, size: 3)

    /// Number of the command, a value of MAV_CMD.
    public var command: UInt16 = 0
    /// Result of the command, a value of MAV_RESULT.
    public var result: UInt8 = 0
    /// Progress of the command, %, for the result MAV_RESULT_IN_PROGRESS.
    public var progress: UInt8 = 0
    /// Additional result; its meaning depends on the command.
    public var detail: Int32 = 0
    /// Receiver of the result: the sender of the command.
    public var target = MAVLinkAddress.none

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&command)
        fields.integer(&result)
        fields.integer(&progress)
        fields.integer(&detail)
        fields.address(&target)
    }
}

/// Message with the transmission interval of one message type.
public struct MessageInterval: MAVLinkMessage {
    /// Format of MESSAGE_INTERVAL, message number 244.
    public static let format = MAVLinkFormat(
        244, "MESSAGE_INTERVAL", crcExtra: 95, size: 6)

    /// Interval of the messages, µs; -1 means never, and 0 means unknown.
    public var interval: Int32 = 0
    /// Message number.
    public var message: UInt16 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&interval)
        fields.integer(&message)
    }
}
