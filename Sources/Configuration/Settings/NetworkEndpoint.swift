/// A numeric network address and a port, parsed from a string such as `127.0.0.1:14550` or
/// `[::1]:14550`.
public struct NetworkEndpoint: Sendable, Equatable {
    /// Address without brackets.
    public let host: String
    /// Port, 1...65535.
    public let port: UInt16

    /// Parses an endpoint; nil for invalid text. The initialiser does not check whether the address
    /// exists.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
        } else {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) else { return nil }
        }
        self.host = String(host)
        self.port = port
    }
}
