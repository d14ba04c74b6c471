/// Message for the comparison of two clocks.
public struct TimeSync: MAVLinkMessage {
    /// Format of TIMESYNC, message number 111.
    public static let format = MAVLinkFormat(
        111, "TIMESYNC", crcExtra: 34, size: 16)

    /// Time of the responder, ns; 0 in a request.
    public var tc1: Int64 = 0
    /// Time of the requester, ns.
    public var ts1: Int64 = 0
    /// The addressed component; 0 means all.
    public var target = MAVLinkAddress.none

    /// Creates a message whose fields are zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&tc1)
        fields.integer(&ts1)
        fields.address(&target)
    }
}
