/// Message for the comparison of two components' clocks.
public struct TimeSync: MAVLinkMessage {
    /// Format of TIMESYNC, message number 111.
    public static let format = MAVLinkFormat(
        111, "TIMESYNC", crcExtra: 34, size: 16)

    /// Time on the responder's clock, ns; 0 in a request.
    public var tc1: Int64 = 0
    /// Time on the requester's clock, ns.
    public var ts1: Int64 = 0
    /// Target component; 0 means all components.
    public var target = MAVLinkAddress.none

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&tc1)
        fields.integer(&ts1)
        fields.address(&target)
    }
}
