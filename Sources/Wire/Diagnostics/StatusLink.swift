/// A link of the daemon that is neither the socket nor the radio.
public struct LinkStatus: Hashable, Sendable, Codable {
    /// "mavlink", "rider", "bridge".
    public var name: String
    /// Who is there, as addresses.
    public var peers: [String] = []
    /// What has been counted since the start, by name.
    public var counts: [String: Int] = [:]

    /// A link that has counted nothing.
    public init(name: String) { self.name = name }
}
