/// A command with a place on earth.
public struct CommandInt: MAVLinkMessage {
    /// COMMAND_INT, number 75.
    public static let format = MAVLinkFormat(
        75, "COMMAND_INT", crcExtra: 158, size: 35)

    /// First to fourth parameter.
    public var params = [Float](repeating: 0, count: 4)
    /// Fifth parameter, scaled.
    public var x: Int32 = 0
    /// Sixth parameter, scaled.
    public var y: Int32 = 0
    /// Seventh parameter.
    public var z: Float = 0
    /// MAV_CMD.
    public var command: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// MAV_FRAME.
    public var frame: UInt8 = 0
    /// Not used.
    public var current: UInt8 = 0
    /// Not used.
    public var autocontinue: UInt8 = 0

    /// Every field zero.
    public init() {}

    /// In wire order.
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

/// A command with seven parameters.
public struct CommandLong: MAVLinkMessage {
    /// COMMAND_LONG, number 76.
    public static let format = MAVLinkFormat(
        76, "COMMAND_LONG", crcExtra: 152, size: 33)

    /// First to seventh parameter.
    public var params = [Float](repeating: 0, count: 7)
    /// MAV_CMD.
    public var command: UInt16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// 0 at first; counts repetitions.
    public var confirmation: UInt8 = 0

    /// Every field zero.
    public init() {}

    /// In wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.floats(&params)
        fields.integer(&command)
        fields.address(&target)
        fields.integer(&confirmation)
    }
}

/// Result of a command.
public struct CommandAck: MAVLinkMessage {
    /// COMMAND_ACK, number 77.
    public static let format = MAVLinkFormat(
        77, "COMMAND_ACK", crcExtra: 143, size: 3)

    /// MAV_CMD.
    public var command: UInt16 = 0
    /// MAV_RESULT.
    public var result: UInt8 = 0
    /// Progress, %, while in progress.
    public var progress: UInt8 = 0
    /// Additional result, specific to the command.
    public var detail: Int32 = 0
    /// Sender of the command.
    public var target = MAVLinkAddress.none

    /// Every field zero.
    public init() {}

    /// In wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&command)
        fields.integer(&result)
        fields.integer(&progress)
        fields.integer(&detail)
        fields.address(&target)
    }
}

/// Interval of a kind of message.
public struct MessageInterval: MAVLinkMessage {
    /// MESSAGE_INTERVAL, number 244.
    public static let format = MAVLinkFormat(
        244, "MESSAGE_INTERVAL", crcExtra: 95, size: 6)

    /// Interval, µs; -1 means never, 0 unknown.
    public var interval: Int32 = 0
    /// Number of the kind of message.
    public var message: UInt16 = 0

    /// Every field zero.
    public init() {}

    /// In wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&interval)
        fields.integer(&message)
    }
}
