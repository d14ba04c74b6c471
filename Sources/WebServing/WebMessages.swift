/// Request of an HTTP client, for the application.
public struct WebRequest: Sendable {
    /// HTTP method in capitals, such as "GET".
    public let method: String
    /// Decoded path of the request. The path begins with "/", and can contain "..".
    public let path: String
    /// Decoded query of the request (the part after "?"): the first value of each name.
    public let query: [String: String]
    /// Header fields in the order of the request; names are in lower case.
    public let headers: [(name: String, value: String)]
    /// Complete body of the request.
    public let body: [UInt8]
    /// IP address of the client, without port.
    public let address: String
    /// True if the connection is encrypted.
    public let isSecure: Bool
    /// Returns true while the client's connection is open. This function can be called on any
    /// thread. Queued work ends early if the client has disconnected.
    public let isConnected: @Sendable () -> Bool

    /// First value of the header field with this name in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Answer to an HTTP request.
public struct WebResponse: Sendable {
    /// Source of an answer's body.
    public enum Body: Sendable {
        /// Body in memory.
        case bytes([UInt8])
        /// Body of `length` bytes, in parts. The argument of `next` is the number of bytes in the
        /// previous parts. `next` returns the next part (about 64 kB), or an empty array to end the
        /// connection. When the client can receive more, the server calls `next` on a thread that is
        /// not an event-loop thread. Therefore `next` can wait for the disk.
        case parts(length: Int, next: @Sendable (Int) -> [UInt8])

        var length: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .parts(let length, _): length
            }
        }
    }

    /// HTTP status code, such as 200.
    public var status: Int
    /// Header fields without `Content-Length` and `Connection`.
    public var headers: [(name: String, value: String)]
    /// Body of the answer.
    public var body: Body

    /// Creates an answer with the given parts.
    public init(_ status: Int, headers: [(name: String, value: String)] = [], body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates an answer of plain text.
    public init(_ status: Int, text: String) {
        self.init(
            status, headers: [("content-type", "text/plain; charset=utf-8")],
            body: .bytes(Array(text.utf8)))
    }
}

/// Message on a WebSocket.
public struct WebMessage: Sendable, Equatable {
    /// True if the message is text; if so, its bytes are valid UTF-8.
    public let isText: Bool
    /// Contents of the message: UTF-8 text or binary data.
    public let bytes: [UInt8]

    /// Creates a text message.
    public static func text(_ text: String) -> WebMessage {
        WebMessage(isText: true, bytes: Array(text.utf8))
    }

    /// Creates a text message from valid UTF-8.
    public static func text(utf8 bytes: [UInt8]) -> WebMessage {
        WebMessage(isText: true, bytes: bytes)
    }

    /// Creates a binary message.
    public static func binary(_ bytes: [UInt8]) -> WebMessage {
        WebMessage(isText: false, bytes: bytes)
    }

    /// Contents of the message as text; invalid UTF-8 in a binary message is replaced by U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// The application's decision about a request for a WebSocket.
public enum WebSocketDecision: Sendable {
    /// The application accepts the WebSocket, and the session begins.
    ///
    /// - Parameters:
    ///   - endpoint: Receiver of the session's events.
    ///   - headers: Header fields of the answer, such as the chosen `sec-websocket-protocol`.
    ///   - isKept: True if a new connection must not replace this connection. The application
    ///     decides before the request is complete. If the client must authenticate first, or the
    ///     application limits the number of sessions, the value is false, and the application
    ///     calls `WebSession.keep()` later.
    case accept(
        any WebSocketEndpoint, headers: [(name: String, value: String)] = [], isKept: Bool = true)
    /// The application refuses the WebSocket, and sends this answer instead.
    case refuse(WebResponse)
}

/// Receiver of a session's events. All methods are called on the session's event-loop thread, so
/// they must not block.
public protocol WebSocketEndpoint: Sendable {
    /// The session has begun, and can send messages.
    func opened(_ session: WebSession)
    /// A message from the client has arrived.
    func received(_ message: WebMessage, from session: WebSession)
    /// The session has ended; no event of the session follows. `code` and `reason` are from the
    /// first close frame. `code` is 1000...4999, 1005 if the frame contained no code, or 1006 if
    /// the connection ended without a close frame.
    func closed(_ session: WebSession, code: Int, reason: String)
}

/// Application that answers the requests of a web server.
public protocol WebApplication: Sendable {
    /// Answers an HTTP request that is not for a WebSocket. The server calls this method on an
    /// event-loop thread, so it must not block.
    ///
    /// - Parameters:
    ///   - request: The request. The server has already checked `Host` and `Origin`.
    ///   - answer: Function that sends the answer. Call this function once, on any thread. The
    ///     connection stays open until then, unless the client closes it.
    func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void)
    /// Accepts or refuses a request for a WebSocket. The server calls this method on an event-loop
    /// thread, so it must not block.
    ///
    /// - Parameter request: The request. The server has already checked `Host` and `Origin`.
    /// - Returns: The decision.
    func decide(on request: WebRequest) -> WebSocketDecision
    /// Decides whether a request comes from a trusted client, such as a client with a valid token.
    /// If all connections are open, connections of trusted clients stay open, and new connections
    /// from their addresses replace others. Their POST requests have no rate limit. The server calls
    /// this method on an event-loop thread, so it must not block.
    func trusts(_ request: WebRequest) -> Bool
}

extension WebApplication {
    /// Trusts no client.
    public func trusts(_ request: WebRequest) -> Bool { false }
}
