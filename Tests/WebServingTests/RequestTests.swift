import Glibc
import TestSupport
import Testing

@testable import WebServing

@Suite("Requests of HTTP clients", .timeLimit(.minutes(2)))
struct RequestTests {
    @Test("a connection serves consecutive and pipelined requests in order")
    func keepAlive() throws {
        try withServer { server, _ in
            let client = try WebClient(port: server.port)
            let page = try client.request("GET", "/")
            #expect(page.status == 200)
            #expect(page.text == "<p>page")
            #expect(page.headers["content-type"] == "text/html")
            #expect(page.headers["x-content-type-options"] == "nosniff")
            #expect(try client.request("GET", "/query?a=b%20c+d&a=e").text == "b c d")
            #expect(try client.request("HEAD", "/").headers["content-length"] == "7")
            #expect(try client.request("POST", "/code", body: "123456").text == "123456")
            #expect(try client.request("GET", "/missing").status == 404)
            let line = "GET /query?a=%@ HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let many = (0..<20).map { "a=\($0) " }
            try client.send(
                many.map { line.split(separator: "a=%@ ").joined(separator: $0) }.joined())
            for index in 0..<20 { #expect(try client.answer().text == "\(index)") }
            #expect(server.counters.requests == 25)
            #expect(server.counters.connections == 1)
            #expect(server.counters.refusals.isEmpty)
        }
    }

    @Test("a query of more than 16 values is malformed")
    func longQuery() throws {
        try withServer { server, _ throws in
            func status(_ count: Int) throws -> Int {
                let query = (0..<count).map { "a\($0)=b" }.joined(separator: "&")
                // A refusal closes the connection.
                return try WebClient(port: server.port).request("GET", "/query?\(query)").status
            }
            #expect(try status(16) == 200)
            #expect(try status(17) == 400)
            #expect(try status(2000) == 400)
        }
    }

    @Test(
        "a long answer is sent completely in parts, and an answer that breaks off ends the connection"
    )
    func parts() throws {
        try withServer { server, _ in
            let client = try WebClient(port: server.port)
            let large = try client.request("GET", "/large").body
            #expect(large == [UInt8](repeating: UInt8(ascii: "l"), count: 300_000))
            let parts = try client.request("GET", "/parts").body
            #expect(parts == (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) })
            #expect(throws: WebClient.Failure.closed) { try client.request("GET", "/broken") }
        }
    }

    @Test("an answer of 20,000 parts is sent completely")
    func manyParts() throws {
        try withServer { server, _ in
            let parts = try WebClient(port: server.port).request("GET", "/small-parts").body
            #expect(parts == [UInt8](repeating: 1, count: 1_000_000))
        }
    }

    @Test("an answer whose parts are read from a slow disk does not delay other answers")
    func slowParts() throws {
        try withServer { server, _ in
            let slow = try WebClient(port: server.port)
            try slow.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            usleep(200_000)
            let start = monotonicNow()
            #expect(try WebClient(port: server.port).request("GET", "/").status == 200)
            #expect(monotonicNow() - start < 0.5)
            #expect(try slow.answer().body == [1, 1, 1])
        }
    }

    @Test(
        "a request for another host name is refused",
        arguments: [
            ("127.0.0.1:80", 200), ("localhost", 200), ("LOCALHOST.:1", 200), ("[::1]:8000", 200),
            ("192.168.1.7:8000", 200), ("gimbal.local", 200), ("evil.example", 421),
            ("localhost.evil.example", 421), ("1.2.3.4.evil.example", 421), ("256.1.1.1", 421),
            ("127.0.0.1@evil.example", 421), ("", 421), ("localhost:0", 421),
            ("evil.example#127.0.0.1", 421),
        ])
    func hosts(host: String, status: Int) throws {
        try withServer({ $0.hosts = ["gimbal.local"] }) { server, _ in
            let client = try WebClient(port: server.port)
            #expect(try client.request("GET", "/", headers: ["Host: \(host)"]).status == status)
            #expect(server.counters.refusals[.host] ?? 0 == (status == 421 ? 1 : 0))
        }
    }

    @Test("a request without a Host header, or with two, is refused")
    func hostCount() throws {
        try withServer { server, _ in
            let none = try WebClient(port: server.port)
            try none.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try none.answer().status == 421)
            let two = try WebClient(port: server.port)
            let hosts = ["Host: 127.0.0.1", "Host: localhost"]
            #expect(try two.request("GET", "/", headers: hosts).status == 421)
            #expect(server.counters.refusals[.host] == 2)
        }
    }

    @Test(
        "a page of another site can neither post nor open a WebSocket",
        arguments: [
            ("http://127.0.0.1", 200), ("http://127.0.0.1:80", 200), ("https://own.example", 200),
            ("http://evil.example", 403), ("https://127.0.0.1", 403), ("http://127.0.0.1:81", 403),
            ("null", 403), ("http://127.0.0.1.evil.example", 403), ("", 403),
        ])
    func origins(origin: String, status: Int) throws {
        try withServer({ $0.origins = ["https://own.example"] }) { server, _ in
            let header = "Origin: \(origin)"
            let post = try WebClient(port: server.port)
            #expect(
                try post.request("POST", "/code", headers: [header], body: "1").status == status)
            let socket = try WebClient(port: server.port)
            let expected = status == 200 ? 101 : status
            #expect(try socket.upgrade("/echo", headers: [header]).status == expected)
            #expect(server.counters.refusals[.origin] ?? 0 == (status == 200 ? 0 : 2))
        }
    }

    @Test("a body larger than the limit is refused, with Content-Length or chunked")
    func body() throws {
        try withServer({ $0.limits.body = 1000 }) { server, _ in
            let announced = try WebClient(port: server.port)
            try announced.send(
                "POST /code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n")
            #expect(try announced.answer().status == 413)
            #expect(try announced.isClosed())
            let chunked = try WebClient(port: server.port)
            let chunk = "3e8\r\n" + String(repeating: "x", count: 1000) + "\r\n"
            try chunked.send(
                "POST /code HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + chunk + chunk)
            #expect(try chunked.answer().status == 413)
            #expect(server.counters.refusals == [.body: 2])
        }
    }

    @Test("bytes that are not HTTP, and a header that is too large, are refused")
    func malformed() throws {
        try withServer { server, _ in
            let inputs = [
                "\u{16}\u{3}\u{1}hello\r\n\r\n", "GET\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: localhost\r\n"
                    + String(repeating: "A: b\r\n", count: 200) + "\r\n",
            ]
            for input in inputs {
                let client = try WebClient(port: server.port)
                try client.send(input)
                #expect(try client.answer().status == 400)
                #expect(try client.isClosed())
            }
            #expect(server.counters.refusals == [.malformed: 4])
            for path in ["/%zz", "/%", "/%00", "/%ff", "http://localhost/"] {
                let client = try WebClient(port: server.port)
                #expect(try client.request("GET", path).status == 400)
            }
            #expect(server.counters.refusals == [.malformed: 9])
        }
    }

    @Test("a request that arrives too slowly and a connection without a request are closed")
    func slowRequest() throws {
        try withServer({ $0.limits.handshake = 0.5 }) { server, _ in
            let silent = try WebClient(port: server.port)
            let slow = try WebClient(port: server.port)
            let kept = try WebClient(port: server.port)
            #expect(try kept.request("GET", "/").status == 200)
            try slow.send("GET / HTTP/1.1\r\nX: ")
            var isOpen = true
            for _ in 0..<40 where isOpen {
                do { try slow.send("x") } catch { isOpen = false }
                usleep(50_000)
            }
            #expect(!isOpen)
            #expect(try silent.isClosed())
            #expect(try kept.isClosed())
            #expect(server.connections == 0)
            // Closing an idle connection after a request does not count as a refusal.
            #expect(server.counters.refusals == [.handshake: 2])
        }
    }

    @Test("the connection ends if the client does not read the answer")
    func slowReader() throws {
        try withServer({
            $0.limits.idle = 0.4
            $0.limits.kernelBuffer = 4096
        }) { server, _ in
            let stalled = try WebClient(port: server.port, receiveBuffer: 4096)
            try stalled.send("GET /parts HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in 0..<40 where server.counters.refusals != [.slow: 1] { usleep(50_000) }
            #expect(server.counters.refusals == [.slow: 1])
            // The server counts the refusal before it closes the connection.
            #expect(eventually(within: 5) { server.connections == 0 })
        }
    }

    @Test("a client that sends requests and does not read the answers gets no further answers")
    func unreadAnswers() throws {
        try withServer({ $0.limits.requestBurst = 20_000 }) { server, _ in
            let client = try WebClient(port: server.port, timeout: 2, receiveBuffer: 4096)
            // The answer to an empty body has an empty body.
            let request = "POST /code HTTP/1.1\r\nHost: localhost\r\n\r\n"
            // The server reads no further requests, so the kernel can refuse to take all of them.
            try? client.send(String(repeating: request, count: 10_000))
            var answered = -1
            while answered != server.counters.requests {
                answered = server.counters.requests
                usleep(500_000)
            }
            #expect(answered < 3000)
            // The server continues when the client reads the answers.
            for _ in 0..<answered + 100 { #expect(try client.answer().status == 200) }
        }
    }

    @Test("the application can compute an answer for longer than the client's limit")
    func slowApplication() throws {
        try withServer({ $0.limits.idle = 0.4 }) { server, _ in
            let client = try WebClient(port: server.port)
            #expect(try client.request("GET", "/late").text == "late")
            #expect(try client.request("GET", "/").status == 200)
        }
    }

    @Test("the connection ends if the client closes it before the answer")
    func leaving() throws {
        try withServer { server, application in
            do {
                let client = try WebClient(port: server.port)
                try client.send("GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n")
                for _ in 0..<200 where application.unanswered == 0 { usleep(10_000) }
                #expect(application.unanswered == 1 && server.connections == 1)
                #expect(try !client.hasMessage())
            }
            for _ in 0..<200 where server.connections > 0 { usleep(10_000) }
            #expect(server.connections == 0)
        }
    }

    @Test(
        "a connection beyond the limit is closed at once, and new connections are served after others close"
    )
    func connections() throws {
        try withServer({
            $0.limits.connections = 3
            $0.limits.connectionsPerAddress = 2
        }) { server, _ in
            do {
                let first = try WebClient(port: server.port)
                let second = try WebClient(port: server.port)
                #expect(try first.request("GET", "/").status == 200)
                #expect(try second.request("GET", "/").status == 200)
                #expect(try WebClient(port: server.port).isClosed())
                #expect(server.counters.refusals == [.connectionsPerAddress: 1])
            }
            for _ in 0..<100 where server.connections > 0 { usleep(10_000) }
            #expect(try WebClient(port: server.port).request("GET", "/").status == 200)
        }
    }

    @Test("10,000 connections in sequence leave no open connection and use no additional memory")
    func sequence() throws {
        try withServer({ $0.limits.requestBurst = 10_000 }) { server, _ in
            func run(_ count: Int) throws {
                for index in 0..<count {
                    let client = try WebClient(port: server.port)
                    switch index % 5 {
                    case 0: #expect(try client.request("GET", "/").status == 200)
                    case 1: #expect(try client.upgrade("/echo").status == 101)
                    case 2: #expect(try client.upgrade("/missing").status == 404)
                    case 3: try client.send("GET / HT")
                    default: break
                    }
                    for _ in 0..<1000 where server.connections > 8 { usleep(100) }
                }
                for _ in 0..<1000 where server.connections > 0 { usleep(1000) }
            }
            try run(2000)
            let before = ProcessSize.resident()
            try run(8000)
            // The server can accept a connection after the client has closed it.
            for _ in 0..<1000 where server.counters.connections < 10_000 { usleep(1000) }
            for _ in 0..<1000 where server.connections > 0 { usleep(1000) }
            #expect(server.connections == 0)
            #expect(server.counters.connections == 10_000)
            if !Sanitizer.isActive {
                #expect(ProcessSize.resident() - before < 8_000_000)
            }
        }
    }

    @Test("an address in use and an invalid address are errors, and the error states a remedy")
    func addresses() throws {
        try withServer { server, application in
            let error = #expect(throws: WebServerError.self) {
                _ = try WebServer(WebOptions(listen: "127.0.0.1:\(server.port)"), application)
            }
            let sentence =
                "Cannot listen on 127.0.0.1:\(server.port): Address already in use. "
                + "Choose another address or port, or end the program that uses it."
            #expect(error?.description == sentence)
            let missing = "unix:/nonexistent/x.sock"
            let file = #expect(throws: WebServerError.self) {
                _ = try WebServer(WebOptions(listen: missing), application)
            }
            let start = "Cannot listen on \(missing): No such file or directory. Does its directory"
            #expect(file?.description.hasPrefix(start) == true, "\(String(describing: file))")
            for listen in ["8000", "localhost:", "127.0.0.1:70000", ":8000"] {
                #expect(throws: WebServerError.self) {
                    _ = try WebServer(WebOptions(listen: listen), application)
                }
            }
        }
    }
}
