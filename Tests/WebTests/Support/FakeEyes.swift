import Dispatch
import Synchronization
import TestSupport
import WebServing

/// Simulated airframe-eyes: a server of pictures on a UNIX socket. The test chooses the answers.
final class FakeEyes: WebApplication {
    /// An answer to a request.
    enum Answer: Sendable {
        /// A new picture of this size, bytes, after 20 ms.
        case picture(Int)
        /// A refusal with this message.
        case refusal(String)
        /// Bytes that are not a picture.
        case nonsense
        /// No answer.
        case silence
    }

    private let state: Mutex<(answer: Answer, number: Int)>
    private let server = Mutex<WebServer?>(nil)
    let path: String

    init(path: String, _ answer: Answer = .picture(20_000)) throws {
        self.path = path
        state = Mutex((answer, 0))
        var options = WebOptions(listen: "unix:" + path)
        options.limits.idle = 60
        let opened = try WebServer(options, self)
        server.withLock { $0 = opened }
    }

    /// Number of requests so far.
    var requests: Int { state.withLock { $0.number } }

    func answer(with answer: Answer) { state.withLock { $0.answer = answer } }

    func stop() {
        let opened = server.withLock { server in
            defer { server = nil }
            return server
        }
        opened?.stop(grace: 0.2)
    }

    func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void) {
        let (kind, number) = state.withLock { state in
            state.number += 1
            return (state.answer, state.number)
        }
        switch kind {
        case .picture(let size):
            // Each picture contains its number, so that a client can distinguish pictures.
            var bytes: [UInt8] = [0xFF, 0xD8, UInt8(number >> 8 & 255), UInt8(number & 255)]
            bytes += [UInt8](repeating: 0, count: max(0, size - bytes.count))
            let response = WebResponse(
                200, headers: [("x-number", String(number))], body: .bytes(bytes))
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) {
                answer(response)
            }
        case .refusal(let sentence): answer(WebResponse(503, text: sentence + "\n"))
        case .nonsense: answer(WebResponse(200, text: "<html>"))
        case .silence: break
        }
    }

    func decide(on request: WebRequest) -> WebSocketDecision {
        .refuse(WebResponse(404, text: ""))
    }
}
