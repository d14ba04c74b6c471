import GimbalCore
import Glibc
import Links
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Slow clients of the diagnostics socket")
struct SlowClientTests {
    @Test("a client that sends many requests and reads late gets every reply")
    func readsLate() async throws {
        let backend = FakeBackend()
        backend.record.withLock { $0.padding = 4000 }
        try await withServer(backend) { path, _ in
            let client = try PlainClient(path)
            let other = try PlainClient(path)
            let requests = Array(
                (0..<300).map { "{\"id\":\($0),\"method\":\"status\"}\n" }.joined().utf8)
            try client.send(requests)
            // The server has stopped reading from the first client at its backlog limit, and serves
            // the other one.
            #expect(try other.ask(#"{"id":"x","method":"ping"}"#)["id"] == "x")
            for id in 0..<300 { #expect(try client.json()["id"]?.int == id) }
        }
    }

    @Test("replies longer than the backlog limit do not close the connection of a late reader")
    func longReplies() async throws {
        let backend = FakeBackend()
        // One reply is longer than the limit, and longer than the kernel's buffer.
        backend.record.withLock { $0.padding = 150_000 }
        try await withServer(backend) { path, _ in
            let client = try PlainClient(path)
            try client.send((0..<6).map { "{\"id\":\($0),\"method\":\"status\"}\n" }.joined())
            usleep(300_000)
            for id in 0..<6 { #expect(try client.json()["id"]?.int == id) }
        }
    }

    @Test("the stop of a client that reads late is executed at once, and answered in turn")
    func stopOfLateReader() async throws {
        let backend = FakeBackend()
        backend.record.withLock { $0.padding = 150_000 }
        try await withServer(backend) { path, backend in
            let client = try PlainClient(path)
            try client.send((0..<2).map { "{\"id\":\($0),\"method\":\"status\"}\n" }.joined())
            usleep(300_000)
            try client.send(#"{"id":2,"method":"stop"}"# + "\n")
            #expect(
                eventually(within: 10) {
                    backend.calls.contains { $0.hasPrefix("emergencyStop") }
                })
            for id in 0...2 { #expect(try client.json()["id"]?.int == id) }
        }
    }

    @Test("a client that never reads its replies is closed, and others are served meanwhile")
    func neverReads() async throws {
        let backend = FakeBackend()
        backend.record.withLock { $0.padding = 4000 }
        let change: (inout DiagnosticsConfiguration) -> Void = { $0.stallSeconds = 0 }
        try await withServer(backend, change: change) { path, backend in
            let client = try PlainClient(path)
            let other = try PlainClient(path)
            try client.send(
                (0..<300).map { "{\"id\":\($0),\"method\":\"status\"}\n" }.joined())
            #expect(
                try eventually(within: 30) {
                    try other.ask(#"{"id":1,"method":"status"}"#)["result"]?["clients"]?["stalled"]
                        == 1
                })
            _ = try other.ask(#"{"id":2,"method":"ping"}"#)
            #expect(backend.closed == [1])
        }
    }

    @Test(
        "a client that sends many requests and disconnects does not delay others, and its stop is done"
    )
    func hangsUp() async throws {
        try await withServer { path, backend in
            let question = "{\"id\":1,\"method\":\"status\"}\n"
            let order = "{\"id\":2,\"method\":\"stop\"}\n"
            do {
                let client = try PlainClient(path)
                try client.send(String(repeating: question, count: 2000) + order)
            }
            let other = try PlainClient(path)
            var answered = 0
            while !backend.calls.contains(where: { $0.hasPrefix("emergencyStop") }), answered < 4000
            {
                _ = try other.ask(#"{"id":3,"method":"ping"}"#)
                answered += 1
            }
            #expect(answered < 2000, "the other clients wait for at most a few iterations")
            #expect(backend.statuses < 2000)
        }
    }

    @Test("stream messages to a client that does not read are dropped and counted, then resume")
    func slowSubscriber() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let other = try PlainClient(path)
            for _ in 0..<8 {
                _ = try client.ask(
                    #"{"id":1,"method":"subscribe","params":{"names":["*"],"rate":200}}"#,
                    skippingStreams: true)
            }
            #expect(
                try eventually(within: 30) {
                    let reply = try other.ask(#"{"id":1,"method":"status"}"#)
                    return reply["result"]?["clients"]?["dropped_messages"]?.int ?? 0 > 0
                })
            // The client reads again: first old messages, then one with the number of dropped
            // messages.
            let end = monotonicNow() + 30
            while try client.json()["dropped"]?.int ?? 0 == 0 {
                try #require(monotonicNow() < end, "no message has the number of dropped messages")
            }
        }
    }
}

@Suite("Subscriptions")
struct SubscriptionTests {
    @Test("messages contain the subscription, the loop's time and the values by name")
    func messages() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let reply = try client.ask(
                #"{"id":1,"method":"subscribe","params":{"names":["attitude.*"],"rate":200}}"#)
            #expect(reply["result"]?["subscription"] == 1)
            #expect(reply["result"]?["names"] == ["attitude.pitch_deg", "attitude.roll_deg"])
            var last = 0.0
            for _ in 0..<3 {
                let message = try client.json()
                #expect(message["subscription"] == 1)
                let t = try #require(message["t"]?.number)
                #expect(t > last)
                last = t
                #expect(message["values"]?["attitude.pitch_deg"]?.number == t)
                #expect(message["values"]?["attitude.roll_deg"] == .null)
            }
        }
    }

    @Test("after unsubscribe the subscription's messages end")
    func unsubscribe() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            _ = try client.ask(
                #"{"id":1,"method":"subscribe","params":{"names":"loop.ticks","rate":200}}"#)
            #expect(try client.json()["subscription"] == 1)
            let end = try client.ask(
                #"{"id":2,"method":"unsubscribe","params":{"subscription":1}}"#,
                skippingStreams: true)
            #expect(end["result"]?["subscription"] == 1)
            #expect(try client.ask(#"{"id":3,"method":"ping"}"#)["id"] == 3)
            let again = try client.ask(
                #"{"id":4,"method":"unsubscribe","params":{"subscription":1}}"#)
            #expect(again["error"]?["code"] == "unknown_key")
        }
    }

    @Test("a connection has a limited number of subscriptions")
    func limit() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let request = #"{"id":1,"method":"subscribe","params":{"names":["*"],"rate":1}}"#
            for _ in 0..<8 {
                #expect(try client.ask(request, skippingStreams: true)["error"] == nil)
            }
            let refused = try client.ask(request, skippingStreams: true)
            #expect(refused["error"]?["code"] == "too_many")
        }
    }
}

extension PlainClient {
    /// Sends one request and reads its reply. Messages of streams can precede the reply.
    func ask(_ request: String, skippingStreams: Bool) throws -> JSONValue {
        try send(request + "\n")
        while true {
            let message = try json()
            if !skippingStreams || message["subscription"] == nil { return message }
        }
    }
}
