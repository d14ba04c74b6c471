import Dispatch
import Glibc
import Synchronization
import WebServing

/// Test application with a few pages and a WebSocket that returns each message.
final class EchoApplication: WebApplication, WebSocketEndpoint {
    private struct State {
        var sessions: [WebSession] = []
        var ends: [String] = []
        var unanswered = 0
        var received = 0
    }

    private let state = Mutex(State())
    var ends: [String] { state.withLock { $0.ends } }
    /// Number of requests without an answer.
    var unanswered: Int { state.withLock { $0.unanswered } }
    /// Number of messages of clients.
    var received: Int { state.withLock { $0.received } }
    var sessions: [WebSession] { state.withLock { $0.sessions } }

    /// Waits for the oldest session. The client receives the answer to its upgrade before the
    /// session opens.
    func firstSession() -> WebSession? {
        for _ in 0..<200 where sessions.isEmpty { usleep(10_000) }
        return sessions.first
    }

    func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void) {
        switch (request.method, request.path) {
        case ("GET", "/"), ("HEAD", "/"):
            answer(
                WebResponse(
                    200, headers: [("content-type", "text/html")],
                    body: .bytes(Array("<p>page".utf8))))
        case ("GET", "/query"):
            answer(WebResponse(200, text: request.query["a"] ?? "none"))
        case ("GET", "/large"):
            let bytes = [UInt8](repeating: UInt8(ascii: "l"), count: 300_000)
            answer(WebResponse(200, body: .bytes(bytes)))
        case ("GET", "/parts"):
            answer(
                WebResponse(
                    200,
                    body: .parts(length: 1_000_000) { done in
                        (done..<min(done + 50_000, 1_000_000)).map { UInt8(truncatingIfNeeded: $0) }
                    }))
        case ("GET", "/small-parts"):
            answer(
                WebResponse(
                    200,
                    body: .parts(length: 1_000_000) { _ in [UInt8](repeating: 1, count: 50) }))
        case ("GET", "/slow"):
            answer(
                WebResponse(
                    200,
                    body: .parts(length: 3) { _ in
                        usleep(1_000_000)
                        return [1]
                    }))
        case ("GET", "/broken"):
            answer(WebResponse(200, body: .parts(length: 10) { $0 == 0 ? [1] : [] }))
        case ("GET", "/late"):
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) {
                answer(WebResponse(200, text: "late"))
            }
        case ("GET", "/never"): state.withLock { $0.unanswered += 1 }
        case ("POST", "/code"):
            answer(WebResponse(200, text: String(decoding: request.body, as: UTF8.self)))
        default: answer(WebResponse(404, text: "There is no such page."))
        }
    }

    func trusts(_ request: WebRequest) -> Bool { request.header("x-trusted") != nil }

    func decide(on request: WebRequest) -> WebSocketDecision {
        switch request.path {
        case "/echo":
            .accept(
                self,
                headers: request.header("sec-websocket-protocol").map {
                    [("sec-websocket-protocol", $0)]
                } ?? [])
        default: .refuse(WebResponse(404, text: "There is no such socket."))
        }
    }

    func opened(_ session: WebSession) { state.withLock { $0.sessions.append(session) } }

    func received(_ message: WebMessage, from session: WebSession) {
        state.withLock { $0.received += 1 }
        session.send(message)
    }

    func closed(_ session: WebSession, code: Int, reason: String) {
        state.withLock { state in
            state.ends.append("\(code) \(reason)")
            state.sessions.removeAll { $0.id == session.id }
        }
    }
}

/// Runs `body` with a server on a free port of the loopback interface.
func withServer(
    _ change: (inout WebOptions) -> Void = { _ in },
    _ body: (WebServer, EchoApplication) throws -> Void
) throws {
    var options = WebOptions(listen: "127.0.0.1:0")
    change(&options)
    let application = EchoApplication()
    let server = try WebServer(options, application)
    defer { server.stop() }
    try body(server, application)
}
