/// A sentence for people; longer ones come in chunks with one number.
public struct StatusText: MAVLinkMessage {
    /// STATUSTEXT, number 253.
    public static let format = MAVLinkFormat(
        253, "STATUSTEXT", crcExtra: 83, size: 51)

    /// MAV_SEVERITY: 0 emergency, 3 error, 4 warning, 5 notice, 6 information.
    public var severity: UInt8 = 0
    /// A chunk.
    public var text = ""
    /// Of the sentence; 0: it is whole.
    public var number: UInt16 = 0
    /// Of this sentence, from 0.
    public var chunk: UInt8 = 0

    /// Every field zero.
    public init() {}

    /// In wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&severity)
        fields.text(&text, size: 50)
        fields.integer(&number)
        fields.integer(&chunk)
    }
}
