import Glibc
import Links
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Connections to the diagnostics socket")
struct DiagnosticsConnectionTests {
    @Test("a request in single bytes, surrounded by CRLF and blank lines, is one request")
    func fragments() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            for byte in Array("\r\n\n  \n{\"id\":1,\"method\":\"ping\"}\r\n".utf8) {
                try client.send([byte])
            }
            #expect(try client.json()["id"] == 1)
            #expect(try client.ask(#"{"id":2,"method":"ping"}"#)["id"] == 2)
        }
    }

    @Test("many requests in one write are answered in order")
    func pipelined() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let lines = (0..<500).map { "{\"id\":\($0),\"method\":\"ping\"}\n" }
            try client.send(lines.joined())
            for id in 0..<500 { #expect(try client.json()["id"]?.int == id) }
        }
    }

    @Test("a line of 1 MB gets one error, and the connection stays open")
    func longLine() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            try client.send([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20))
            try client.send("\n{\"id\":5,\"method\":\"ping\"}\n")
            let error = try client.json()
            #expect(error["error"]?["code"] == "line_too_long")
            #expect(error["id"] == .null)
            #expect(try client.json()["id"] == 5)
        }
    }

    @Test("a line of the maximum length is answered")
    func longestLine() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let request = #"{"id":1,"method":"ping"}"#
            let padding = String(repeating: " ", count: 64 * 1024 - request.utf8.count)
            #expect(try client.ask(request + padding)["id"] == 1)
            #expect(try client.ask(request + padding + " ")["error"]?["code"] == "line_too_long")
        }
    }

    @Test(
        "invalid text and excessive nesting get one error",
        arguments: [
            ([0xFF, 0xFE, 0x00], "expected a value, found byte 0xff at byte 0"),
            (
                Array("{\"id\":\"a".utf8) + [0xC3, 0x28] + Array("\"}".utf8),
                "UTF-8 in a string at byte 8"
            ),
            ([UInt8](repeating: UInt8(ascii: "["), count: 60_000), "nested deeper than 32"),
            (Array(String(repeating: "{\"a\":", count: 10_000).utf8), "nested deeper than 32"),
        ] as [([UInt8], String)])
    func garbage(bytes: [UInt8], words: String) async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            try client.send(bytes + [UInt8(ascii: "\n")])
            let error = try client.json()["error"]
            #expect(error?["code"] == "invalid_json")
            #expect(error?["message"]?.string?.contains(words) == true, "\(error?.text ?? "-")")
            #expect(try client.ask(#"{"id":2,"method":"ping"}"#)["id"] == 2)
        }
    }

    @Test("a stop is carried out before earlier waiting requests, and answered in its turn")
    func stopOvertakes() async throws {
        try await withServer { path, backend in
            backend.record.withLock { $0.isDiskSlow = true }
            let client = try PlainClient(path)
            try client.send(
                """
                {"id":1,"method":"save"}
                {"id":2,"method":"reset_stop"}
                {"id":3,"method":"st\\u006fp"}
                {"id":4,"method":"ping"}

                """)
            try #require(eventually(within: 10) { backend.calls.count >= 2 })
            #expect(backend.calls == ["emergencyStop", "save"])
            // Other clients are served meanwhile.
            let other = try PlainClient(path)
            #expect(try other.ask(#"{"id":1,"method":"stop"}"#)["result"] != nil)
            backend.finishDisk()
            for id in 1...4 { #expect(try client.json()["id"]?.int == id) }
            // The stop is repeated after the reset, so that the reset is not the last request.
            #expect(
                backend.calls == [
                    "emergencyStop", "save", "emergencyStop", "resetEmergencyStop", "emergencyStop",
                ])
        }
    }

    @Test("a slow query, and requests that wait for the query, do not delay a stop")
    func stopOvertakesQuestions() async throws {
        try await withServer { path, backend in
            backend.record.withLock { $0.isDoctorSlow = true }
            let client = try PlainClient(path)
            try client.send("{\"id\":1,\"method\":\"doctor\"}\n{\"id\":2,\"method\":\"stop\"}\n")
            // Behind it waits a list of names as long as a line can be.
            let names = [String](repeating: "\"loop\"", count: 9000).joined(separator: ",")
            let reader = try PlainClient(path)
            try reader.send(#"{"id":1,"method":"get","params":{"keys":[\#(names)]}}"# + "\n")
            let other = try PlainClient(path)
            try #require(eventually(within: 10) { !backend.calls.isEmpty })
            #expect(backend.calls == ["emergencyStop"])
            #expect(try other.ask(#"{"id":1,"method":"stop"}"#)["result"] != nil)
            #expect(try other.ask(#"{"id":2,"method":"ping"}"#)["id"] == 2)
            backend.record.withLock { $0.isDoctorSlow = false }
            #expect(try client.json()["id"] == 1)
            #expect(try client.json()["id"] == 2)
            #expect(try reader.json()["result"]?.array?.count == 1)
            #expect(backend.calls == ["emergencyStop", "emergencyStop", "emergencyStop"])
        }
    }

    @Test(
        "a long command is carried out in its turn, even for a client that has disconnected"
    )
    func longOrders() async throws {
        try await withServer { path, backend in
            let padding = String(repeating: " ", count: 60_000)
            let client = try PlainClient(path)
            try client.send(
                "{\"id\":1,\"method\":\"take\"}\n{\"id\":2,\(padding)\"method\":\"save\"}\n"
                    + "{\"id\":3,\(padding)\"method\":\"release\"}\n")
            client.close()
            try #require(eventually(within: 10) { !backend.closed.isEmpty })
            #expect(backend.calls == ["take", "save", "release"])
        }
    }

    @Test("queries of a client that has disconnected are not answered")
    func leavesWithQuestions() async throws {
        try await withServer { path, backend in
            backend.record.withLock { $0.isDoctorSlow = true }
            let slow = try PlainClient(path)
            try slow.send("{\"id\":1,\"method\":\"doctor\"}\n")
            // From here on, the queries of other clients wait until the slow query is answered.
            try #require(eventually(within: 10) { backend.doctors == 1 })
            for _ in 0..<20 {
                let client = try PlainClient(path)
                try client.send("{\"id\":1,\"method\":\"status\"}\n")
                usleep(2000)
                client.close()
            }
            let other = try PlainClient(path)
            #expect(try other.ask(#"{"id":1,"method":"ping"}"#)["id"] == 1)
            backend.record.withLock { $0.isDoctorSlow = false }
            #expect(try slow.json()["id"] == 1)
            #expect(try other.ask(#"{"id":2,"method":"status"}"#)["id"] == 2)
            #expect(eventually(within: 10) { backend.closed.count == 20 })
            #expect(backend.statuses == 1)
        }
    }

    @Test(
        "if a client disconnects during a slow save, its waiting requests are carried out before cleanup"
    )
    func hangsUpWhileWaiting() async throws {
        try await withServer { path, backend in
            backend.record.withLock { $0.isDiskSlow = true }
            let client = try PlainClient(path)
            try client.send(
                #"{"id":1,"method":"save"}"# + "\n" + #"{"id":2,"method":"take"}"# + "\n")
            try #require(eventually(within: 10) { !backend.calls.isEmpty })
            client.close()
            usleep(20_000)
            #expect(backend.calls == ["save"])
            backend.finishDisk()
            try #require(eventually(within: 10) { !backend.closed.isEmpty })
            #expect(backend.calls == ["save", "take"])
        }
    }

    @Test("a client that has closed only its sending side still gets the reply to its save")
    func halfClosedWhileWaiting() async throws {
        try await withServer { path, backend in
            backend.record.withLock { $0.isDiskSlow = true }
            let client = try PlainClient(path)
            try client.send(#"{"id":1,"method":"save"}"# + "\n")
            client.endInput()
            try #require(eventually(within: 10) { !backend.calls.isEmpty })
            usleep(20_000)
            backend.finishDisk()
            #expect(try client.json()["id"] == 1)
            #expect(try client.line() == nil)
        }
    }

    @Test(
        "an incomplete request before a disconnection is not carried out, and does not affect others"
    )
    func halfSent() async throws {
        try await withServer { path, backend in
            let other = try PlainClient(path)
            let client = try PlainClient(path)
            #expect(try client.ask(#"{"id":1,"method":"ping"}"#)["id"] == 1)
            try client.send(#"{"id":2,"method":"stop""#)
            client.close()
            // The other connection is older. If the server counts only one client, it has closed
            // the first one.
            #expect(
                try eventually(within: 10) {
                    let status = try other.ask(#"{"id":3,"method":"status"}"#)["result"]
                    return status?["clients"]?["connected"] == 1
                })
            #expect(backend.calls == [])
            #expect(backend.closed == [2])
        }
    }

    @Test(
        "a client that half-closes gets its replies, an error for its incomplete line, and the end")
    func halfClosed() async throws {
        try await withServer { path, backend in
            let client = try PlainClient(path)
            try client.send("{\"id\":1,\"method\":\"ping\"}\n{\"id\":2,\"method\":\"stop\"}")
            client.endInput()
            #expect(try client.json()["id"] == 1)
            #expect(try client.json()["error"]?["code"] == "incomplete_line")
            #expect(try client.line() == nil)
            #expect(backend.calls == [])
        }
    }

    @Test("requests of a client that disconnects without reading are carried out")
    func fireAndForget() async throws {
        try await withServer { path, backend in
            let other = try PlainClient(path)
            #expect(try other.ask(#"{"id":1,"method":"ping"}"#)["id"] == 1)
            let client = try PlainClient(path)
            try client.send("{\"id\":1,\"method\":\"stop\"}\n{\"id\":2,\"method\":\"save\"}\n")
            client.close()
            #expect(
                try eventually(within: 10) {
                    _ = try other.ask(#"{"id":3,"method":"ping"}"#)
                    return !backend.closed.isEmpty
                })
            #expect(backend.calls == ["emergencyStop", "save"])
        }
    }

    @Test(
        "fifty clients are served; a new client replaces the one that was idle for longest, with an error"
    )
    func manyClients() async throws {
        try await withServer(change: { $0.maximumClients = 50 }) { path, backend in
            let clients = try (0..<50).map { _ in try PlainClient(path) }
            for (id, client) in clients.enumerated() {
                try client.send("{\"id\":\(id),\"method\":\"status\"}\n")
            }
            for (id, client) in clients.enumerated() {
                #expect(try client.json()["id"]?.int == id)
            }
            // Requests sent together can be answered in any order. From here on the first client
            // has been idle for longest.
            for client in clients.dropFirst() {
                _ = try client.ask(#"{"id":1,"method":"ping"}"#)
            }
            let extra = try PlainClient(path)
            #expect(try extra.ask(#"{"id":1,"method":"stop"}"#)["id"] == 1)
            #expect(backend.calls == ["emergencyStop"])
            #expect(try clients[0].json()["error"]?["code"] == "too_many")
            #expect(try clients[0].line() == nil)
            #expect(try clients[1].ask(#"{"id":1,"method":"ping"}"#)["id"] == 1)
        }
    }

    @Test("random bytes never end the server or disturb another client")
    func randomBytes() async throws {
        try await withServer { path, _ in
            let other = try PlainClient(path)
            var random = SplitMix(state: 20_260_101)
            let alphabet = Array("{}[]\",:0123456789eE+-.truefalsn\\u \n\r".utf8) + [0, 0xFF, 0xC3]
            for round in 0..<40 {
                let client = try PlainClient(path)
                let bytes = (0..<2000).map { _ in
                    alphabet[Int(random.next() % UInt64(alphabet.count))]
                }
                try client.send(bytes + Array("\n{\"id\":\"end\",\"method\":\"ping\"}\n".utf8))
                while try client.json()["id"] != "end" {}
                #expect(try other.ask("{\"id\":\(round),\"method\":\"ping\"}")["id"]?.int == round)
            }
        }
    }
}

/// Small seeded generator with the same bytes in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
