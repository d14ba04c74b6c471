import NIOCore
import NIOEmbedded
import Synchronization
import WebServing

/// The web server as a target of the fuzzers. It is a separate module, so that its fuzzer is linked
/// without the daemon's modules.
public enum WebTarget {
    /// A connection to the web server in memory. If the first byte is 0, the connection begins with
    /// HTTP, otherwise with an open WebSocket. The server receives the rest in two pieces; the
    /// second byte is the length of the first piece.
    public static func run(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return }
        let input = bytes[2...]
        let split = input.startIndex + min(Int(bytes[1]), input.count)
        var options = WebOptions(listen: "")
        options.limits.message = 1000
        options.limits.body = 1000
        options.limits.header = 2000
        let application = Checked()
        let service = WebService(options, application)
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try service.configure(channel, address: "127.0.0.1")
            if bytes[0] != 0 { try channel.writeInbound(ByteBuffer(string: upgrade)) }
            try channel.writeInbound(ByteBuffer(bytes: input[..<split]))
            channel.embeddedEventLoop.run()
            try channel.writeInbound(ByteBuffer(bytes: input[split...]))
            channel.embeddedEventLoop.run()
        } catch {
            // The server refuses the input and ends the connection.
        }
        var sent = 0
        while let part = try? channel.readOutbound(as: ByteBuffer.self) {
            sent += part.readableBytes
        }
        precondition(sent < 100_000 + 200 * bytes.count, "a small input causes a large answer")
    }

    private static let upgrade =
        "GET /s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    /// Application that checks the requests and messages from the server.
    private final class Checked: WebApplication, WebSocketEndpoint {
        let isOpen = Mutex(false)

        func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void) {
            precondition(request.path.hasPrefix("/") && !request.path.contains("\0"), "path")
            precondition(request.body.count <= 1000, "body")
            let host = request.header("host") ?? ""
            precondition(
                !host.contains("evil") && (request.method == "GET" || !Self.isForeign(request)),
                "another site")
            answer(WebResponse(200, text: request.query["a"] ?? ""))
        }

        func decide(on request: WebRequest) -> WebSocketDecision {
            precondition(request.method == "GET" && !Self.isForeign(request), "another site")
            return request.path == "/s" ? .accept(self) : .refuse(WebResponse(404, text: ""))
        }

        private static func isForeign(_ request: WebRequest) -> Bool {
            request.header("origin")?.contains("evil") ?? false
        }

        func opened(_ session: WebSession) { isOpen.withLock { $0 = true } }

        func received(_ message: WebMessage, from session: WebSession) {
            precondition(isOpen.withLock { $0 }, "a message arrived outside a session")
            precondition(message.bytes.count <= 1000, "too large")
            precondition(
                !message.isText || String(validating: message.bytes, as: UTF8.self) != nil, "UTF-8")
            session.send(message)
        }

        func closed(_ session: WebSession, code: Int, reason: String) {
            isOpen.withLock { isOpen in
                precondition(isOpen, "closed twice")
                isOpen = false
            }
        }
    }
}
