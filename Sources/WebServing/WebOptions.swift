/// Options of a web server.
public struct WebOptions: Sendable, Equatable {
    /// Address and port of the server, such as "127.0.0.1:8000" or "[::1]:8000". For port 0, the
    /// system chooses a port. "unix:/run/x.sock" is a UNIX socket for programs on the same
    /// computer; its file mode (0660) and its group determine the permitted users.
    public var listen: String
    /// Accepted host names in the header field `Host`, without port, in addition to `localhost` and
    /// all IP addresses.
    ///
    /// The check of the field `Host` prevents DNS rebinding. If another site's name resolves to
    /// this server, the browser sends this name as `Host`, and the server refuses the request.
    public var hosts: [String] = []
    /// Permitted origins in addition to the server's own pages, such as "https://example.org".
    public var origins: [String] = []
    /// PEM files of the certificate chain and of its private key; nil means that the server does
    /// not use TLS.
    public var tls: TLS?
    /// Limits for one client and for all clients.
    public var limits = Limits()
    /// Number of event-loop threads, 1 to 8.
    public var threads = 1

    /// Files of a server's certificate.
    public struct TLS: Sendable, Equatable {
        /// Path of the certificate chain, PEM.
        public var certificate: String
        /// Path of the private key, PEM.
        public var key: String

        /// Creates the description of the certificate's files.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Limits for one client and for all clients. If a client exceeds a limit, the server closes
    /// the connection and counts the refusal.
    public struct Limits: Sendable, Equatable {
        /// Largest number of open connections (HTTP and WebSocket together).
        public var connections = 64
        /// Largest number of open connections from one IP address.
        public var connectionsPerAddress = 16
        /// Largest mean rate of requests from one IP address, per second, except requests of trusted
        /// clients with other methods than GET and HEAD; a request for a WebSocket is a GET request.
        /// For all addresses together, the limit is four times this rate. UNIX sockets have no
        /// limit.
        public var requestsPerSecond = 100
        /// Largest burst of these requests from one IP address; for all addresses together, the
        /// limit is four times this number.
        public var requestBurst = 1000
        /// Largest total size of the header fields of a request, bytes.
        public var header = 16_384
        /// Largest body of a request, bytes.
        public var body = 65_536
        /// Largest message on a WebSocket, all fragments together, bytes.
        public var message = 65_536
        /// Largest mean rate of messages, pings and pongs on a WebSocket, per second; also the
        /// largest size of a burst. One pong after each ping of the server does not count.
        public var messagesPerSecond = 200
        /// Largest total size of messages that wait for a slow client, excluding the kernel's
        /// buffer, bytes.
        public var outgoing = 262_144
        /// Size of the kernel's send buffer, bytes. A small buffer limits the age of the values
        /// that a slow client receives.
        public var kernelBuffer = 65_536
        /// Timeout of a request, s: from the start of the connection, or from the previous answer,
        /// until the end of the request.
        public var handshake = 10.0
        /// Timeout between two complete messages or pongs on a WebSocket, and timeout of each part
        /// of an answer, s. The server sends a ping after half of the time `idle`.
        public var idle = 30.0

        /// Creates the limits with their default values.
        public init() {}
    }

    /// Creates options with their default values.
    ///
    /// - Parameter listen: Address and port, or UNIX socket.
    public init(listen: String) { self.listen = listen }

    /// Address at which a server listens.
    enum Endpoint: Equatable {
        /// Address without brackets, and port.
        case network(host: String, port: Int)
        /// Path of a UNIX socket.
        case file(path: String)
    }

    /// Reads `listen`.
    ///
    /// - Returns: The address; nil if the text is neither an address with a port nor a UNIX socket.
    static func endpoint(_ text: String) -> Endpoint? {
        if text.hasPrefix("unix:") {
            let path = text.dropFirst("unix:".count)
            return path.hasPrefix("/") ? .file(path: String(path)) : nil
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : .network(host: String(host), port: port)
    }
}

/// Reason why a web server could not start, as a sentence for the user.
public struct WebServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Text with the problem, followed by the remedy.
    public let description: String
}
