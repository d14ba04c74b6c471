/// State of a link other than the diagnostics socket and Bluetooth.
public struct LinkStatus: Hashable, Sendable, Codable {
    /// Name of the link: `mavlink`, `rider`, `controls` or `bridge`.
    public var name: String
    /// Addresses of the link's peers.
    public var peers: [String] = []
    /// Counters of the link since the start, by name.
    public var counts: [String: Int] = [:]

    /// Creates a link without peers and with empty counters.
    public init(name: String) { self.name = name }
}
