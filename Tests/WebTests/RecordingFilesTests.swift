import Dispatch
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web
@testable import WebServing

@Suite("Access to recordings", .timeLimit(.minutes(1))) struct RecordingFilesTests {
    /// The answers in their order.
    private final class Answers: Sendable {
        private let list = Mutex<[WebResponse]>([])
        var statuses: [Int] { list.withLock { $0.map(\.status) } }
        /// Body of the newest answer; empty before the first answer.
        var body: [UInt8] {
            guard case .bytes(let bytes)? = list.withLock({ $0.last })?.body else { return [] }
            return bytes
        }
        func add(_ response: WebResponse) { list.withLock { $0.append(response) } }
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
        let (shelf, answers) = (RecordingFiles(scratch: "", converter: queue), Answers())
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
        let (shelf, answers) = (RecordingFiles(scratch: "", converter: queue), Answers())
        for _ in 0..<3 {
            shelf.respond(to: request(["table": "tick"], isConnected: false), answers.add)
            queue.sync {}
        }
        #expect(answers.statuses == [])
    }

    @Test("the newest recording is the first in the list, also if its name contains an older date")
    func order() throws {
        try withTemporaryDirectory { directory in
            // The network has set the clock while the first file was written.
            let names = [
                "airframe-20250101T000000Z-recording.mcap",
                "airframe-20261122T021530Z-request.mcap",
            ]
            for (name, date) in zip(names, [1_795_400_000, 1_795_313_790]) {
                let path = directory.appending(name)
                try write("", to: path)
                let time = timespec(tv_sec: date, tv_nsec: 0)
                #expect(utimensat(AT_FDCWD, path.string, [time, time], 0) == 0)
            }
            let (shelf, answers) = (RecordingFiles(scratch: ""), Answers())
            shelf.note(directory: directory.string)
            shelf.respondWithList(answers.add)
            #expect(eventually(within: 5) { answers.statuses == [200] })
            let list = try JSONValue(parsing: answers.body).array ?? []
            #expect(list.compactMap { $0["name"]?.string } == names)
        }
    }

    @Test("a table that its client downloads is a file in the state directory, not in memory")
    func scratch() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            // A table of two seconds is larger than the sockets' buffers. The list contains a file
            // from its first byte; `files` counts the complete ones.
            try #require(
                try eventually(within: 10) { try rig.ask("record")["held_s"]?.number ?? 0 > 2 })
            _ = try rig.ask("record", ["action": "last", "seconds": 60])
            try #require(try eventually(within: 10) { try rig.ask("record")["files"] == 1 })
            let list = try WebClient(port: rig.port).request(
                "GET", "/recordings", headers: [cookie])
            let name = try #require(
                try JSONValue(parsing: list.body).array?.first?["name"]?.string)
            let slow = try WebClient(port: rig.port, receiveBuffer: 4096)
            try slow.send(
                "GET /recordings/\(name)?table=tick HTTP/1.1\r\nHost: localhost\r\n\(cookie)\r\n\r\n"
            )
            func isOpen() throws -> Bool {
                try rig.openFiles().contains { $0.hasPrefix("\(directory)/web/table.") }
            }
            #expect(try eventually(within: 10) { try isOpen() })
            #expect(try slow.answer().status == 200)
            #expect(try eventually(within: 5) { try !isOpen() })
        }
    }
}
