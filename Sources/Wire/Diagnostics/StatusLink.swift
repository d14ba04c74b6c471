/// A link of the daemon that is neither the socket nor the radio.
public struct LinkStatus: Hashable, Sendable, Codable {
    /// "mavlink", "rider", "bridge".
    public var name: String
    /// Addresses of the peers.
    public var peers: [String] = []
    /// Counters since the start, by name.
    public var counts: [String: Int] = [:]

    /// A link that has counted nothing.
    public init(name: String) { self.name = name }
}
