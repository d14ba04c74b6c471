/// Message that requests one parameter.
public struct ParamRequestRead: MAVLinkMessage {
    /// Format of PARAM_REQUEST_READ, message number 20.
    public static let format = MAVLinkFormat(
        20, "PARAM_REQUEST_READ", crcExtra: 214, size: 20)

    /// Index of the parameter; -1 means selection by `name`.
    public var index: Int16 = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// Name of the parameter.
    public var name = ""

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&index)
        fields.address(&target)
        fields.text(&name, size: 16)
    }
}

/// Message that requests all parameters.
public struct ParamRequestList: MAVLinkMessage {
    /// Format of PARAM_REQUEST_LIST, message number 21.
    public static let format = MAVLinkFormat(
        21, "PARAM_REQUEST_LIST", crcExtra: 159, size: 2)

    /// The addressed component.
    public var target = MAVLinkAddress.none

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.address(&target)
    }
}

/// Message with one parameter.
public struct ParamValue: MAVLinkMessage {
    /// Format of PARAM_VALUE, message number 22.
    public static let format = MAVLinkFormat(
        22, "PARAM_VALUE", crcExtra: 220, size: 25)

    /// Value of the parameter as float32.
    public var value: Float = 0
    /// Total number of parameters.
    public var count: UInt16 = 0
    /// Index of the parameter in the list of all parameters.
    public var index: UInt16 = 0
    /// Name of the parameter.
    public var name = ""
    /// Type of the parameter's value, MAV_PARAM_TYPE; 9 means float32.
    public var type: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.float(&value)
        fields.integer(&count)
        fields.integer(&index)
        fields.text(&name, size: 16)
        fields.integer(&type)
    }
}

/// Message that changes one parameter.
public struct ParamSet: MAVLinkMessage {
    /// Format of PARAM_SET, message number 23.
    public static let format = MAVLinkFormat(
        23, "PARAM_SET", crcExtra: 168, size: 23)

    /// Value of the parameter as float32.
    public var value: Float = 0
    /// The addressed component.
    public var target = MAVLinkAddress.none
    /// Name of the parameter.
    public var name = ""
    /// Type of the parameter's value, a value of MAV_PARAM_TYPE.
    public var type: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.float(&value)
        fields.address(&target)
        fields.text(&name, size: 16)
        fields.integer(&type)
    }
}
