import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("airframe-web and hostile clients", .serialized, .timeLimit(.minutes(1)))
struct HostileTests {
    private func withRig(_ settings: [String] = [], _ body: (Rig) throws -> Void) throws {
        try withTemporaryDirectory { try body(try Rig(in: $0, settings)) }
    }

    @Test(
        "requests from other sites, for other hosts and for wrong paths are refused, and the page has a strict content policy"
    )
    func sites() throws {
        try withRig { rig in
            let cookie = try rig.cookie()
            func status(_ method: String, _ path: String, _ headers: [String]) throws -> Int {
                try WebClient(port: rig.port).request(method, path, headers: headers).status
            }
            let evil = "Origin: http://evil.example"
            #expect(try status("POST", "/stop", [cookie, evil]) == 403)
            #expect(try status("POST", "/pair", [evil]) == 403)
            #expect(try status("GET", "/", ["Host: evil.example"]) == 421)
            #expect(try status("GET", "/../../etc/passwd", []) == 404)
            #expect(try status("GET", "/%2e%2e/index.html", []) == 404)
            #expect(try status("GET", "/recordings/..%2f..%2fairframed.toml", [cookie]) == 404)
            #expect(try status("DELETE", "/", []) == 405)
            let socket = try WebClient(port: rig.port).upgrade("/socket", headers: [cookie, evil])
            #expect(socket.status == 403)
            #expect(try rig.status()["stopped_by"] == nil)
            let page = try WebClient(port: rig.port).request("GET", "/")
            let policy = page.headers["content-security-policy"] ?? ""
            #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
            #expect(page.headers["x-frame-options"] == "DENY")
            #expect(!page.text.contains("style=") && !page.text.contains("<style"))
        }
    }

    @Test("scripts and other sites cannot read the cookie with the token")
    func cookie() throws {
        try withRig { rig in
            let answer = try WebClient(port: rig.port).request(
                "POST", "/pair", body: "{\"code\":\"\(try rig.code())\",\"name\":\"x\"}")
            let cookie = try #require(answer.headers["set-cookie"])
            for part in ["HttpOnly", "SameSite=Strict", "Max-Age=2592000"] {
                #expect(cookie.contains(part), "\(cookie)")
            }
        }
    }

    @Test("a revoked or invented token cannot write, and revoking a token closes its open page")
    func replayed() throws {
        try withRig { rig in
            let cookie = try rig.cookie()
            let page = try WebClient(port: rig.port)
            #expect(try page.upgrade("/socket", headers: [cookie]).status == 101)
            #expect(try canWrite(page))
            let removed = try rig.control("revoke", ["id": "all"])
            #expect(removed.array?.count == 1)
            #expect(try page.closeCode() == 4001)
            let invented = "Cookie: airframe_token=" + String(repeating: "0", count: 64)
            for cookie in [cookie, invented, "Cookie: airframe_token=", "Cookie: ;;=;"] {
                let client = try WebClient(port: rig.port)
                #expect(try client.upgrade("/socket", headers: [cookie]).status == 101)
                #expect(try !canWrite(client), "\(cookie)")
                #expect(
                    try WebClient(port: rig.port).request("POST", "/stop", headers: [cookie]).status
                        == 401)
            }
        }
    }

    private func canWrite(_ client: WebClient) throws -> Bool {
        try client.send(message: "{\"id\":1,\"method\":\"client\"}")
        return try JSONValue(parsing: Array(client.message().utf8))["result"]?["can_write"] == true
    }

    @Test(
        "a page cannot rename its connection or obtain write permission",
        arguments: [#"{"name":"root"}"#, #"{"read_only":false}"#])
    func rights(_ params: String) throws {
        try withRig { rig in
            let client = try WebClient(port: rig.port)
            #expect(try client.upgrade("/socket").status == 101)
            try client.send(message: "{\"id\":1,\"method\":\"client\",\"params\":\(params)}")
            _ = try client.message()
            try client.send(message: "{\"id\":2,\"method\":\"client\"}")
            let identity = try JSONValue(parsing: Array(client.message().utf8))["result"]
            #expect(identity?["can_write"] == false)
            #expect(identity?["name"]?.string?.hasSuffix("(web, not paired, 127.0.0.1)") == true)
        }
    }

    @Test("two requests in one message are treated as one invalid line, so no request is hidden")
    func lineBreaks() throws {
        try withRig { rig in
            let client = try WebClient(port: rig.port)
            #expect(try client.upgrade("/socket").status == 101)
            try client.send(
                message: "{\"id\":1,\"method\":\"ping\"}\n{\"id\":2,\"method\":\"ping\"}")
            let answer = try JSONValue(parsing: Array(client.message().utf8))
            #expect(answer["error"]?["code"] == "invalid_json")
            try client.send(message: "{\"id\":3,\r\n\"method\":\"ping\"}")
            #expect(try JSONValue(parsing: Array(client.message().utf8))["id"] == 3)
        }
    }

    @Test(
        "malformed frames, binary messages and too long messages close the connection, and are counted"
    )
    func frames() throws {
        try withRig { rig in
            let attacks: [[UInt8]] = [
                WebClient.frame(1, [0x7B], isMasked: false), WebClient.frame(3, []),
                WebClient.frame(2, [1, 2, 3]), WebClient.frame(1, [0xC3, 0x28]),
                WebClient.frame(9, [UInt8](repeating: 0, count: 200)),
                WebClient.frame(1, [UInt8](repeating: 0x20, count: 100_000)),
                [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            ]
            // The clients remain open until the end of the test, so only the server can end their
            // sessions.
            var clients: [WebClient] = []
            for attack in attacks {
                let client = try WebClient(port: rig.port)
                clients.append(client)
                #expect(try client.upgrade("/socket").status == 101)
                try? client.send(attack)
                #expect(try client.closeCode() ?? 0 > 1000, "\(attack.prefix(4))")
            }
            #expect(
                eventually(within: 3) {
                    (try? rig.web("refused"))?.number ?? 0 >= Double(attacks.count - 1)
                })
            #expect(eventually(within: 10) { (try? rig.web("tabs"))?.number == 0 })
            withExtendedLifetime(clients) {}
        }
    }

    @Test("guesses of a pairing code are slowed down and refused")
    func guesses() throws {
        try withRig { rig in
            let code = try rig.code()
            let statuses = try (0..<40).map { number in
                try WebClient(port: rig.port).request(
                    "POST", "/pair", body: "{\"code\":\"0000-00\(10 + number)\"}"
                ).status
            }
            #expect(statuses.allSatisfy { $0 == 403 || $0 == 429 })
            #expect(statuses.filter { $0 == 429 }.count >= 35)
            for body in ["", "{", "[]", "{\"code\":1}", "{\"code\":\"\(code)\",\"code\":\"x\"}"] {
                #expect(
                    try WebClient(port: rig.port).request("POST", "/pair", body: body).status == 400
                )
            }
        }
    }

    @Test("loading and reloading the page with all its files stays within the request rate limit")
    func reload() throws {
        try withRig(["web.max_tabs=1"]) { rig in
            let cookie = try rig.cookie()
            let client = try WebClient(port: rig.port)
            let files = try FileManager.default.subpathsOfDirectory(atPath: Rig.page.string)
                .filter { $0.contains(".") }
            #expect(files.count > 20)
            for path in files + files {
                #expect(try client.request("GET", "/" + path).status == 200, "\(path)")
            }
            #expect(try client.request("POST", "/stop", headers: [cookie]).status == 204)
            #expect(try rig.web("refused").number == 0)
        }
    }

    @Test(
        "a page that does not read its messages uses bounded memory, and does not delay other pages"
    )
    func slow() throws {
        try withRig { rig in
            let lazy = try WebClient(port: rig.port, receiveBuffer: 4096)
            #expect(try lazy.upgrade("/socket").status == 101)
            try lazy.send(
                message: #"{"id":1,"method":"subscribe","params":{"names":["*"],"rate":200}}"#)
            let quick = try WebClient(port: rig.port)
            #expect(try quick.upgrade("/socket").status == 101)
            let before = try rig.megabytes()
            let longest = try repeatingAfterPause(until: { $0 < 0.5 }) {
                var longest = 0.0
                let end = monotonicNow() + 4
                while monotonicNow() < end {
                    let start = monotonicNow()
                    try quick.send(message: #"{"id":1,"method":"ping"}"#)
                    _ = try quick.message()
                    longest = max(longest, monotonicNow() - start)
                    usleep(10_000)
                }
                return longest
            }
            #expect(longest < 0.5)
            #expect(try rig.web("replaced").number ?? 0 > 50)
            if !Sanitizer.isActive { #expect(try rig.megabytes() < before + 4) }
        }
    }
}

@Suite("airframe-web with many connections", .timeLimit(.minutes(20)))
struct ConnectionTests {
    /// Opens connections in sequence; `AIRFRAME_CONNECTIONS` sets their number.
    @Test(
        "thousands of connections in sequence leave no open descriptors and use no additional memory"
    )
    func connections() throws {
        let count = getenv("AIRFRAME_CONNECTIONS").flatMap { Int(String(cString: $0)) } ?? 3000
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            func connect(_ count: Int) throws {
                for number in 0..<count {
                    let client = try WebClient(port: rig.port)
                    switch number % 4 {
                    case 0:
                        // Requests beyond the rate limit are refused.
                        let status = try client.request("GET", "/session").status
                        #expect(status == 200 || status == 429)
                    case 1:
                        let status = try client.upgrade("/socket").status
                        #expect(status == 101 || status == 429)
                        guard status == 101 else { continue }
                        try client.send(message: "{\"id\":1,\"method\":\"ping\"}")
                        _ = try client.message()
                    case 2: try client.send("GET / HTTP/1.1\r\nHost:")
                    default: try client.send([0, 1, 2, 3])
                    }
                }
            }
            try connect(500)
            #expect(eventually(within: 3) { (try? rig.web("tabs"))?.number == 0 })
            let (before, open, start) = (try rig.megabytes(), try rig.descriptors(), monotonicNow())
            try connect(count)
            let seconds = monotonicNow() - start
            #expect(eventually(within: 3) { (try? rig.web("tabs"))?.number == 0 })
            let after = try rig.megabytes()
            if !Sanitizer.isActive { #expect(after < before + 3) }
            // The last connections can still be in the process of closing.
            #expect(eventually(within: 3) { (try? rig.descriptors()) == open })
            print(
                "web: \(count) connections in \(Int(seconds)) s; memory before and after: \(before), \(after) MB; descriptors: \(open), \(try rig.descriptors())"
            )
            let clients = try rig.status()["clients"]
            #expect(clients?["connected"]?.int ?? 99 <= 3)
        }
    }
}
