import Client
import Glibc
import Synchronization
import SystemPackage
import Testing
import Threads
import Wire

@testable import Assistant

/// A server on two pipes, with a daemon that answers immediately, except for the method juggle.
private final class Conversation {
    /// Requests that the daemon has received; shared with the server's threads.
    final class Log: Sendable {
        let requests = Mutex<[String]>([])

        /// Waits at most 5 s for a request at the daemon; returns whether it arrived.
        func has(_ method: String) -> Bool {
            let end = DaemonClient.now() + 5
            while DaemonClient.now() < end {
                if requests.withLock({ $0.contains(method) }) { return true }
                usleep(1000)
            }
            return false
        }
    }

    /// A connection that answers the request juggle after 20 s, unless it is interrupted. The
    /// request reset_stop is executed after the first stop, at the latest after 5 s.
    private final class SlowDaemon: DaemonConnection {
        var interruption: WakeupPipe?
        let log: Log
        private let daemon = FakeDaemon(FakeDaemon.Memory())

        init(_ log: Log) { self.log = log }

        func ask(
            _ method: String, _ params: [String: JSONValue]
        ) throws(ClientError) -> JSONValue {
            if method == "reset_stop" {
                log.requests.withLock { $0.append("waiting reset") }
                _ = log.has("stop")
            }
            log.requests.withLock { $0.append(method) }
            guard method == "juggle", let interruption else {
                return try daemon.ask(method, params)
            }
            var entry = pollfd(
                fd: interruption.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 20_000) == 0 else {
                throw .refused(RequestError("cancelled", "Cancelled."))
            }
            return ["sentence": "Done."]
        }
    }

    let log = Log()
    private let toServer: FileDescriptor
    private let fromServer: FileDescriptor
    private let thread = CompanionThread()

    init() throws {
        let (input, toServer) = try FileDescriptor.pipe()
        let (fromServer, output) = try FileDescriptor.pipe()
        (self.toServer, self.fromServer) = (toServer, fromServer)
        thread.start("mcp-test") { [log] in
            let server = try? MCPServer(
                name: "tester", isReadOnly: false, mayReset: true, manual: nil, version: "1.0.0"
            ) { () throws(ClientError) in SlowDaemon(log) }
            if let server {
                try? StandardStreams(input: input.rawValue, output: output.rawValue).serve(server)
            }
            try? input.close()
            try? output.close()
        }
    }

    func call(_ tool: String, id: Int) throws {
        try send([
            "jsonrpc": "2.0", "id": .int(id), "method": "tools/call",
            "params": [
                "name": .string(tool),
                "_meta": [
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": [:],
                ],
            ],
        ])
    }

    func cancel(_ id: Int) throws {
        try send([
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": ["requestId": .int(id)],
        ])
    }

    /// Returns the next answer; fails if the server sends nothing for 5 s.
    func answer() throws -> JSONValue {
        var bytes: [UInt8] = []
        while let byte = try nextByte(), byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return try JSONValue(parsing: bytes)
    }

    /// Returns the next byte, or nil at the end of the server's output; fails after 5 s.
    private func nextByte() throws -> UInt8? {
        var entry = pollfd(fd: fromServer.rawValue, events: Int16(POLLIN), revents: 0)
        try #require(poll(&entry, 1, 5000) == 1, "no answer")
        var byte: UInt8 = 0
        return read(fromServer.rawValue, &byte, 1) == 1 ? byte : nil
    }

    /// Closes the server's input, which ends the server.
    func end() throws {
        try toServer.close()
        thread.stop()
        let rest = try nextByte()
        #expect(rest == nil, "a superfluous answer")
        try fromServer.close()
    }

    private func send(_ message: JSONValue) throws {
        _ = try toServer.writeAll(Array((message.text + "\n").utf8))
    }
}

@Suite("Standard input and output of an assistant's server") struct StandardStreamsTests {
    @Test("a stop reaches the daemon and is answered while another tool call waits for the daemon")
    func stop() throws {
        let conversation = try Conversation()
        try conversation.call("juggle", id: 1)
        #expect(conversation.log.has("juggle"))
        let begin = DaemonClient.now()
        try conversation.call("stop", id: 2)
        #expect(try conversation.answer()["id"] == 2)
        #expect(DaemonClient.now() - begin < 2)
        #expect(conversation.log.has("stop"))
        try conversation.cancel(1)
        try conversation.end()
    }

    @Test("a cancelled tool call ends while it waits for the daemon, and is not answered")
    func cancel() throws {
        let conversation = try Conversation()
        try conversation.call("juggle", id: 1)
        #expect(conversation.log.has("juggle"))
        try conversation.call("status", id: 2)
        try conversation.call("status", id: 3)
        // Request 2 is still in the queue.
        try conversation.cancel(2)
        try conversation.cancel(1)
        #expect(try conversation.answer()["id"] == 3)
        try conversation.call("status", id: 4)
        #expect(try conversation.answer()["id"] == 4, "the connection continues")
        try conversation.end()
    }

    @Test("a queued request to reset the stop does not reset a later stop")
    func reset() throws {
        let conversation = try Conversation()
        try conversation.call("juggle", id: 1)
        #expect(conversation.log.has("juggle"))
        try conversation.call("reset_stop", id: 2)
        try conversation.call("stop", id: 3)
        #expect(try conversation.answer()["id"] == 3)
        let refusal = try conversation.answer()
        #expect(refusal["id"] == 2 && refusal["error"]?["code"] == -32603)
        try conversation.cancel(1)
        try conversation.end()
        #expect(!conversation.log.requests.withLock { $0.contains("reset_stop") })
    }

    @Test("a stop stays in force if it is requested while an earlier reset of a stop is executed")
    func resetInProgress() throws {
        let conversation = try Conversation()
        try conversation.call("reset_stop", id: 1)
        #expect(conversation.log.has("waiting reset"))
        try conversation.call("stop", id: 2)
        let answers = [try conversation.answer(), try conversation.answer()]
        #expect(answers.contains { $0["id"] == 2 && $0["result"] != nil })
        #expect(answers.contains { $0["id"] == 1 && $0["error"]?["code"] == -32603 })
        try conversation.end()
        let requests = conversation.log.requests.withLock { $0 }
        #expect(requests.last { $0 == "stop" || $0 == "reset_stop" } == "stop")
    }

    @Test(
        "a client that sends 1000 stops before it reads an answer gets every answer",
        .timeLimit(.minutes(1)))
    func unread() throws {
        let conversation = try Conversation()
        for id in 1...1000 { try conversation.call("stop", id: id) }
        for id in 1...1000 { #expect(try conversation.answer()["id"] == .int(id)) }
        let stops = conversation.log.requests.withLock { $0.filter { $0 == "stop" }.count }
        #expect(stops == 1000)
        try conversation.end()
    }

    @Test("the queue has a limit: further requests are refused, but never a stop")
    func full() throws {
        let inbox = try Inbox(interruption: try WakeupPipe())
        for id in 0..<Inbox.capacity { #expect(inbox.add(.message([]), id: .int(id)) == []) }
        let refusal = try JSONValue(parsing: try #require(inbox.add(.message([]), id: 999).first))
        #expect(refusal["id"] == 999 && refusal["error"]?["code"] == -32603)
        inbox.cancel(998, [1])
        inbox.addStop()
        #expect(inbox.take() == .stopped, "a stop is never refused")
        #expect(inbox.take() == .message([1]), "a cancellation can end a rotation")
    }

    @Test("if a stop cannot be sent again after a reset, the answer asks for another stop")
    func failedStop() throws {
        let inbox = try Inbox(interruption: try WakeupPipe())
        #expect(inbox.add(.message([1]), id: 1, isReset: true) == [])
        #expect(inbox.take() == .message([1]))
        #expect(inbox.removeResets() == [])
        let answers = inbox.finish([]) { false }
        let answer = try JSONValue(parsing: try #require(answers.first))
        #expect(answer["id"] == 1)
        #expect(answer["error"]?["message"]?.string?.hasSuffix("Call stop again.") == true)
    }

    @Test("any number of stops adds at most one entry to the queue")
    func stops() throws {
        let inbox = try Inbox(interruption: try WakeupPipe())
        for _ in 0..<1000 { inbox.addStop() }
        #expect(inbox.take() == .stopped && inbox.take() == .none)
    }
}
