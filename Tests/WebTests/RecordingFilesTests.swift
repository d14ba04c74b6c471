import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Web
@testable import WebServing

@Suite("Access to recordings", .timeLimit(.minutes(1))) struct RecordingFilesTests {
    /// Status codes in the order of the answers.
    private final class Answers: Sendable {
        private let list = Mutex<[Int]>([])
        var statuses: [Int] { list.withLock { $0 } }
        func add(_ response: WebResponse) { list.withLock { $0.append(response.status) } }
    }

    private func request(_ query: [String: String], isConnected: Bool = true) -> WebRequest {
        WebRequest(
            method: "GET", path: "/recordings/absent.mcap", query: query, headers: [], body: [],
            address: "127.0.0.1", isSecure: false, isConnected: { isConnected })
    }

    @Test(
        "at most two conversions wait or run, a third is refused, and a download does not wait for them"
    )
    func limit() {
        let queue = DispatchQueue(label: "test")
        let (shelf, answers) = (RecordingFiles(converter: queue), Answers())
        queue.suspend()
        shelf.respond(to: request(["table": "tick"]), answers.add)
        shelf.respond(to: request(["plot": "600"]), answers.add)
        #expect(answers.statuses == [])
        shelf.respond(to: request(["plot": "600"]), answers.add)
        #expect(answers.statuses == [503])
        shelf.respond(to: request([:]), answers.add)
        #expect(eventually(within: 5) { answers.statuses == [503, 404] })
        queue.resume()
        queue.sync {}
        // The file does not exist, so the conversions have failed, and two other conversions can
        // start.
        #expect(answers.statuses == [503, 404, 422, 422])
        shelf.respond(to: request(["table": "tick"]), answers.add)
        queue.sync {}
        #expect(answers.statuses.last == 422)
    }

    @Test("the conversion for a disconnected client does not run")
    func left() {
        let queue = DispatchQueue(label: "test")
        let (shelf, answers) = (RecordingFiles(converter: queue), Answers())
        for _ in 0..<3 {
            shelf.respond(to: request(["table": "tick"], isConnected: false), answers.add)
            queue.sync {}
        }
        #expect(answers.statuses == [])
    }
}
