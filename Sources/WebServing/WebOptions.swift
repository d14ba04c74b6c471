/// Options of a web server.
public struct WebOptions: Sendable, Equatable {
    /// Address and port, as "127.0.0.1:8000" or "[::1]:8000"; port 0 lets the system choose.
    public var listen: String
    /// Names in the header Host that the server answers to, without port, in addition to `localhost`
    /// and every IP address.
    ///
    /// A page of another site whose name its owner points at this server (DNS rebinding) sends that
    /// site's name, and is refused.
    public var hosts: [String] = []
    /// Origins, as "https://example.org", whose pages can use the server in addition to its own.
    public var origins: [String] = []
    /// Certificate chain, and its private key, in PEM files; nil serves without TLS.
    public var tls: TLS?
    /// Limits for one client and for all.
    public var limits = Limits()
    /// Number of event-loop threads, 1 to 8.
    public var threads = 1

    /// Files of a server's certificate.
    public struct TLS: Sendable, Equatable {
        /// Path of the certificate chain, PEM.
        public var certificate: String
        /// Path of the private key, PEM.
        public var key: String

        /// The certificate chain and key in these files.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Limits for one client and for all. Each excess closes the connection and is counted.
    public struct Limits: Sendable, Equatable {
        /// Connections at once, of HTTP and WebSocket together.
        public var connections = 64
        /// Connections at once from one IP address.
        public var connectionsPerAddress = 16
        /// All header fields of a request together, bytes.
        public var header = 16_384
        /// Body of a request, bytes.
        public var body = 65_536
        /// Message on a WebSocket, all fragments together, bytes.
        public var message = 65_536
        /// Messages on a WebSocket and pings per second; as many can come at once.
        public var messagesPerSecond = 200
        /// Messages that wait for a slow client, bytes together. The kernel's buffer comes on top.
        public var outgoing = 262_144
        /// The kernel's buffer for outgoing data, bytes. It bounds the age of values at a slow client.
        public var kernelBuffer = 65_536
        /// Time from the connection, or from the last answer, to a complete request, s.
        public var handshake = 10.0
        /// Time to the next complete message or pong on a WebSocket, and for each part of an answer, s.
        /// The server sends a ping after half of it.
        public var idle = 30.0

        /// The limits with their default values.
        public init() {}
    }

    /// Options with their default values.
    ///
    /// - Parameter listen: Address and port.
    public init(listen: String) { self.listen = listen }

    /// Address and port of `listen`.
    ///
    /// - Returns: The address without brackets, and the port; nil if the text is neither.
    static func endpoint(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }
}

/// Failure to start a web server, as a sentence for people.
public struct WebServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The problem, then the remedy.
    public let description: String
}
