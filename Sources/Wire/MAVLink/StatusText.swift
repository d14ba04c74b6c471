/// Message with a text for users. A long text is sent in several chunks with the same ID.
public struct StatusText: MAVLinkMessage {
    /// Format of STATUSTEXT, message number 253.
    public static let format = MAVLinkFormat(
        253, "STATUSTEXT", crcExtra: 83, size: 51)

    /// Severity of the text, MAV_SEVERITY: 0 emergency, 3 error, 4 warning, 5 notice, 6
    /// information.
    public var severity: UInt8 = 0
    /// Text of the chunk.
    public var text = ""
    /// ID of the text; 0 for a text in one chunk.
    public var number: UInt16 = 0
    /// Index of the chunk in the text, from 0.
    public var chunk: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&severity)
        fields.text(&text, size: 50)
        fields.integer(&number)
        fields.integer(&chunk)
    }
}
