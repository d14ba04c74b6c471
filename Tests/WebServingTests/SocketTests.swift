import Dispatch
import Glibc
import TestSupport
import Testing

@testable import WebServing

@Suite("WebSocket sessions", .timeLimit(.minutes(2)))
struct SocketTests {
    private func open(_ server: WebServer, receiveBuffer: Int32? = nil) throws -> WebClient {
        let client = try WebClient(port: server.port, receiveBuffer: receiveBuffer)
        #expect(try client.upgrade("/echo").status == 101)
        return client
    }

    @Test("the answer to an upgrade has the accept value of RFC 6455 and the chosen subprotocol")
    func accept() throws {
        try withServer { server, _ in
            let client = try WebClient(port: server.port)
            let answer = try client.upgrade("/echo", headers: ["Sec-WebSocket-Protocol: airframe"])
            #expect(answer.status == 101)
            // The example of RFC 6455, section 1.3.
            #expect(answer.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(answer.headers["sec-websocket-protocol"] == "airframe")
        }
    }

    @Test(
        "a WebSocket that the application refuses, or that has another version, gets an HTTP answer"
    )
    func refusals() throws {
        try withServer { server, _ in
            let missing = try WebClient(port: server.port)
            let answer = try missing.upgrade("/missing")
            #expect(answer.status == 404)
            #expect(answer.text == "There is no such socket.")
            let old = try WebClient(port: server.port)
            let version = try old.request(
                "GET", "/echo",
                headers: [
                    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 8",
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                ])
            #expect(version.status == 426)
            #expect(version.headers["sec-websocket-version"] == "13")
            #expect(server.counters.refusals == [.upgrade: 2])
        }
    }

    @Test("messages of every length are returned, whole or in fragments with a ping between them")
    func echo() throws {
        try withServer { server, _ in
            let client = try open(server)
            for length in [0, 1, 125, 126, 127, 65535, 65536] {
                let text = String(repeating: "é", count: length / 2) + (length % 2 == 1 ? "x" : "")
                try client.send(message: text)
                #expect(try client.frame() == .init(opcode: 1, payload: Array(text.utf8)))
            }
            try client.send(WebClient.frame(2, [0xff, 0]))
            #expect(try client.frame() == .init(opcode: 2, payload: [0xff, 0]))
            // The two bytes of one letter in two fragments.
            try client.send(
                WebClient.frame(1, [0xc3], isLast: false) + WebClient.frame(9, [7])
                    + WebClient.frame(0, [0xa9], isLast: false) + WebClient.frame(0, []))
            #expect(try client.frame() == .init(opcode: 10, payload: [7]))
            #expect(try client.frame() == .init(opcode: 1, payload: Array("é".utf8)))
            #expect(server.counters.received == 9)
        }
    }

    @Test("frames that arrive byte by byte are read")
    func bytewise() throws {
        try withServer { server, _ in
            let client = try open(server)
            for byte in WebClient.frame(1, Array("slow".utf8)) { try client.send([byte]) }
            #expect(try client.message() == "slow")
        }
    }

    @Test(
        "a frame that violates the protocol closes the session with a code, and is counted",
        arguments: [
            (WebClient.frame(1, [65], isMasked: false), 1002, WebRefusal.protocolError),
            ([0xc1, 0x80, 0, 0, 0, 0], 1002, .protocolError),
            (WebClient.frame(3, []), 1002, .protocolError),
            (WebClient.frame(11, []), 1002, .protocolError),
            (WebClient.frame(0, [65]), 1002, .protocolError),
            (
                WebClient.frame(1, [65], isLast: false) + WebClient.frame(1, []), 1002,
                .protocolError
            ),
            (WebClient.frame(9, [], isLast: false), 1002, .protocolError),
            (WebClient.frame(9, [UInt8](repeating: 0, count: 126)), 1002, .protocolError),
            (WebClient.frame(8, [3]), 1002, .protocolError),
            (WebClient.frame(8, [3, 0xed]), 1002, .protocolError),
            (WebClient.frame(8, [0, 0]), 1002, .protocolError),
            (WebClient.frame(8, [3, 0xe8, 0xff]), 1007, .encoding),
            (WebClient.frame(1, [0xff]), 1007, .encoding),
            (WebClient.frame(1, [0xed, 0xa0, 0x80]), 1007, .encoding),
            (WebClient.frame(1, [0xc3], isLast: false) + WebClient.frame(0, [65]), 1007, .encoding),
        ] as [([UInt8], Int, WebRefusal)])
    func violations(bytes: [UInt8], code: Int, cause: WebRefusal) throws {
        try withServer { server, application in
            let client = try open(server)
            try client.send(bytes)
            let frame = try client.frame()
            #expect(frame.opcode == 8)
            #expect(frame.code == code)
            try client.send(WebClient.frame(8, Array(frame.payload.prefix(2))))
            #expect(try client.isClosed())
            #expect(server.counters.refusals == [cause: 1])
            for _ in 0..<100 where application.ends.isEmpty { usleep(10_000) }
            #expect(application.ends.first?.hasPrefix("\(code) ") == true)
        }
    }

    @Test("a message larger than the limit closes the session, in one frame or in fragments")
    func size() throws {
        try withServer({ $0.limits.message = 1000 }) { server, _ in
            let announced = try open(server)
            try announced.send([0x82, 0x80 | 126, 0x03, 0xe9, 1, 2, 3, 4])
            #expect(try announced.frame().code == 1009)
            #expect(try announced.isClosed())
            let fragments = try open(server)
            let half = [UInt8](repeating: 0, count: 501)
            try fragments.send(
                WebClient.frame(2, half, isLast: false) + WebClient.frame(0, half, isLast: false))
            #expect(try fragments.frame().code == 1009)
            let exact = try open(server)
            try exact.send(WebClient.frame(2, [UInt8](repeating: 9, count: 1000)))
            #expect(try exact.frame().payload.count == 1000)
            #expect(server.counters.refusals == [.message: 2])
        }
    }

    @Test("no message of another thread follows a close frame")
    func closeIsLast() throws {
        try withServer { server, application in
            for _ in 0..<50 {
                let client = try open(server)
                let session = try #require(application.firstSession())
                DispatchQueue.global().async {
                    while session.send(.text("value"), replacing: "key") {}
                }
                session.close(code: 4001, reason: "end")
                var frame = try client.frame()
                while frame.opcode == 1 { frame = try client.frame() }
                #expect(frame.code == 4001)
                // Without the client's answer, the connection stays open for 2 s.
                try client.send(WebClient.frame(8, Array(frame.payload.prefix(2))))
                #expect(throws: WebClient.Failure.closed) { try client.frame() }
                for _ in 0..<1000 where !application.sessions.isEmpty { usleep(2000) }
            }
        }
    }

    @Test("more messages, pings or pongs per second than the limit close the session")
    func rate() throws {
        try withServer({ $0.limits.messagesPerSecond = 20 }) { server, _ in
            for opcode: UInt8 in [1, 9, 10] {
                let client = try open(server)
                for _ in 0..<60 { try? client.send(WebClient.frame(opcode, [65])) }
                var last = try client.frame()
                var answers = 0
                while last.opcode != 8 {
                    answers += 1
                    last = try client.frame()
                }
                #expect(last.code == 1008)
                // A ping is answered only if no newer ping has arrived; a pong is not answered.
                #expect(answers <= 25 && (answers >= 1 || opcode == 10))
            }
            #expect(server.counters.refusals == [.rate: 3])
        }
    }

    @Test("the answer to a ping of the server does not count for the limit")
    func answeredPing() throws {
        try withServer({
            $0.limits.messagesPerSecond = 1
            // The server sends a ping after 2 s, and waits for 2 s for the answer.
            $0.limits.idle = 4
        }) { server, _ in
            let client = try open(server)
            #expect(try client.frame().opcode == 9)
            try client.send(WebClient.frame(1, [65]) + WebClient.frame(10, [2]))
            #expect(try client.message() == "A")
            #expect(try client.frame().opcode == 9)
        }
    }

    @Test("a close frame is answered with its code, and the application gets code and reason")
    func close() throws {
        try withServer { server, application in
            let client = try open(server)
            try client.send(WebClient.frame(8, [0x0f, 0xa1] + Array("bye".utf8)))
            #expect(try client.frame() == .init(opcode: 8, payload: [0x0f, 0xa1]))
            #expect(try client.isClosed())
            let empty = try open(server)
            try empty.send(WebClient.frame(8, []))
            #expect(try empty.frame() == .init(opcode: 8, payload: []))
            do { _ = try open(server) }
            for _ in 0..<200 where application.ends.count < 3 { usleep(10_000) }
            #expect(Set(application.ends) == ["4001 bye", "1005 ", "1006 "])
        }
    }

    @Test(
        "when the application closes a session, earlier messages still arrive, later messages of the client are ignored, and the client's answer closes the connection"
    )
    func closing() throws {
        try withServer { server, application in
            let client = try open(server)
            let session = try #require(application.firstSession())
            session.send(.text("last"))
            session.close(code: 4000, reason: "paired again")
            #expect(!session.send(.text("too late")))
            #expect(try client.message() == "last")
            let frame = try client.frame()
            #expect(frame.code == 4000)
            #expect(frame.text.hasSuffix("paired again"))
            try client.send(WebClient.frame(1, Array("too late".utf8)))
            let answered = ContinuousClock.now
            try client.send(WebClient.frame(8, [0x0f, 0xa0]))
            #expect(try client.isClosed())
            #expect(application.received == 0)
            #expect(.now - answered < .seconds(1), "without the answer, the limit is 2 s")
        }
    }

    @Test("a silent client gets pings, and the session is closed if the client does not answer")
    func silence() throws {
        // In a pause of the computer, no client can answer; the test then begins again.
        var hasPaused = true
        for _ in 0..<5 where hasPaused { hasPaused = try silenceUnlessPaused() }
        #expect(!hasPaused)
    }

    /// Returns true if a pause of the computer has delayed the answers to the pings.
    private func silenceUnlessPaused() throws -> Bool {
        var hasPaused = false
        try withServer({ $0.limits.idle = 0.6 }) { server, _ in
            let silent = try open(server)
            var answered = monotonicNow()
            let alive = try open(server)
            for _ in 0..<4 {
                let ping = try alive.frame()
                // A ping follows after 0.3 s; the session ends 0.6 s after the last answer.
                hasPaused = ping.opcode == 8 && monotonicNow() - answered > 0.5
                if hasPaused { return }
                #expect(ping.opcode == 9)
                answered = monotonicNow()
                try alive.send(WebClient.frame(10, ping.payload))
            }
            var frame = try silent.frame()
            while frame.opcode == 9 { frame = try silent.frame() }
            #expect(frame.code == 1008)
            // Without its pongs, the other client would also be idle.
            #expect(server.counters.refusals == [.idle: 1])
        }
        return hasPaused
    }

    @Test("a message that never ends does not keep a session open")
    func trickle() throws {
        try withServer({ $0.limits.idle = 0.6 }) { server, _ in
            let client = try open(server)
            try client.send(WebClient.frame(1, [65], isLast: false))
            for _ in 0..<30 {
                // After a pause of the computer, the server has already closed the connection.
                try? client.send(WebClient.frame(0, [65], isLast: false))
                usleep(50_000)
            }
            var frame = try client.frame()
            while frame.opcode == 9 { frame = try client.frame() }
            #expect(frame.code == 1008)
            #expect(server.counters.refusals == [.idle: 1])
        }
    }

    @Test("a slow client gets the newest values, and older values are replaced")
    func newest() throws {
        try withServer({ $0.limits.kernelBuffer = 4096 }) { server, application in
            let client = try open(server, receiveBuffer: 4096)
            let session = try #require(application.firstSession())
            let filler = String(repeating: " ", count: 5000)
            for value in 0..<2000 {
                #expect(session.send(.text("a\(value)\(filler)"), replacing: "a"))
                #expect(session.send(.text("b\(value)\(filler)"), replacing: "b"))
                if value % 100 == 0 { usleep(1000) }
            }
            session.close()
            var seen: [Int] = []
            var last: [Character: Int] = [:]
            while case let frame = try client.frame(), frame.opcode == 1 {
                let text = frame.text.prefix { $0 != " " }
                let value = try #require(Int(text.dropFirst()))
                if let name = text.first {
                    #expect(last[name, default: -1] < value)
                    last[name] = value
                }
                seen.append(value)
            }
            #expect(last == ["a": 1999, "b": 1999])
            #expect(seen.count < 500)
            #expect(session.replaced == 4000 - seen.count)
            #expect(server.counters.replaced == session.replaced)
        }
    }

    @Test("a client that does not read its messages is closed when the queue is full")
    func backlog() throws {
        try withServer({
            $0.limits.kernelBuffer = 4096
            $0.limits.outgoing = 50_000
        }) { server, application in
            let client = try open(server, receiveBuffer: 4096)
            let session = try #require(application.firstSession())
            let text = WebMessage.text(String(repeating: "x", count: 1000))
            var sent = 0
            while sent < 1000, session.send(text) {
                sent += 1
                usleep(100)
            }
            #expect(sent < 300)
            #expect(server.counters.refusals == [.slow: 1])
            for _ in 0..<100 where application.ends.isEmpty { usleep(10_000) }
            #expect(application.ends == ["1008 the client reads too slowly"])
            #expect(try client.isClosed())
        }
    }

    @Test("stopping the server closes sessions with a code, idle connections, and the port")
    func stop() throws {
        let application = EchoApplication()
        let server = try WebServer(WebOptions(listen: "127.0.0.1:0"), application)
        let socket = try open(server)
        let kept = try WebClient(port: server.port)
        #expect(try kept.request("GET", "/").status == 200)
        let port = server.port
        let begin = ContinuousClock.now
        server.stop(grace: 0.5)
        #expect(ContinuousClock.now - begin < .seconds(3))
        #expect(try socket.frame().code == 1001)
        #expect(try kept.isClosed())
        #expect(application.ends == ["1001 the server stops"])
        #expect(throws: WebClient.Failure.closed) { try WebClient(port: port) }
    }
}
