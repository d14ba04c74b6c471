/// Request of an HTTP client, without the parts that the server handles.
public struct WebRequest: Sendable {
    /// Method in capitals, as "GET".
    public let method: String
    /// Path, percent-decoded, beginning with "/"; it can contain "..".
    public let path: String
    /// Query after "?", percent-decoded; the first value of each name.
    public let query: [String: String]
    /// Header fields in their order, names in lower case.
    public let headers: [(name: String, value: String)]
    /// Body, complete.
    public let body: [UInt8]
    /// IP address of the client, without port.
    public let address: String
    /// Whether the connection is encrypted.
    public let isSecure: Bool

    /// First value of the header field with this name in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Answer to a request.
public struct WebResponse: Sendable {
    /// Source of an answer's body.
    public enum Body: Sendable {
        /// All bytes.
        case bytes([UInt8])
        /// As many bytes as `length` states, in parts. `next` gets the number of bytes already
        /// returned, and returns the next part (64 kB are a good size), or an empty array to break off. It
        /// is called on the event-loop thread while the client keeps pace, so it must not wait.
        case parts(length: Int, next: @Sendable (Int) -> [UInt8])

        var length: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .parts(let length, _): length
            }
        }
    }

    /// HTTP status, as 200.
    public var status: Int
    /// Header fields without Content-Length and Connection.
    public var headers: [(name: String, value: String)]
    /// Body.
    public var body: Body

    /// Creates an answer.
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
    /// Whether the message is text; its bytes are valid UTF-8 then.
    public let isText: Bool
    /// Contents.
    public let bytes: [UInt8]

    /// Message of text.
    public static func text(_ text: String) -> WebMessage {
        WebMessage(isText: true, bytes: Array(text.utf8))
    }

    /// Message of text, given as valid UTF-8.
    public static func text(utf8 bytes: [UInt8]) -> WebMessage {
        WebMessage(isText: true, bytes: bytes)
    }

    /// Message of bytes.
    public static func binary(_ bytes: [UInt8]) -> WebMessage {
        WebMessage(isText: false, bytes: bytes)
    }

    /// Contents as text; wrong UTF-8 of a binary message is replaced by U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Decision on a request for a WebSocket.
public enum WebSocketDecision: Sendable {
    /// The session begins.
    ///
    /// - Parameters:
    ///   - endpoint: Receiver of its events.
    ///   - headers: Header fields of the answer, as a chosen sec-websocket-protocol.
    case accept(any WebSocketEndpoint, headers: [(name: String, value: String)] = [])
    /// The request gets this answer instead.
    case refuse(WebResponse)
}

/// Receiver of a session's events. All functions are called on the session's event-loop thread, so
/// they must not wait.
public protocol WebSocketEndpoint: Sendable {
    /// The session can be used.
    func opened(_ session: WebSession)
    /// A message has come.
    func received(_ message: WebMessage, from session: WebSession)
    /// A pong has come; `seconds` is the time from the server's ping to it.
    func ponged(_ session: WebSession, after seconds: Double)
    /// The session has ended; the last event. `code` is that of the first close frame, 1000 to 4999;
    /// 1005 if it had none, 1006 if the connection ended without a frame. `reason` is its text.
    func closed(_ session: WebSession, code: Int, reason: String)
}

extension WebSocketEndpoint {
    /// Does nothing.
    public func ponged(_ session: WebSession, after seconds: Double) {}
}

/// The application behind a server.
public protocol WebApplication: Sendable {
    /// Answers a request that is not a WebSocket's. Called on an event-loop thread, so it must not wait.
    ///
    /// - Parameters:
    ///   - request: Host and Origin are checked.
    ///   - answer: Sends the answer, once, from any thread; within `Limits.idle` s.
    func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void)
    /// Decides on a WebSocket. Called on an event-loop thread, so it must not wait.
    ///
    /// - Parameter request: Host and Origin are checked.
    /// - Returns: The decision.
    func decide(on request: WebRequest) -> WebSocketDecision
}
