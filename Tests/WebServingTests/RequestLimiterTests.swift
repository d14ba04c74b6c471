import TestSupport
import Testing

@testable import WebServing

@Suite("Rate limit of HTTP requests") struct RequestLimiterTests {
    private static func limiter(rate: Int, burst: Int) -> RequestLimiter {
        var limits = WebOptions.Limits()
        (limits.requestsPerSecond, limits.requestBurst) = (rate, burst)
        return RequestLimiter(limits)
    }

    @Test(
        "after a burst the rate is limited, the refusal states the time to wait, and other addresses are not affected"
    )
    func rate() {
        var limiter = Self.limiter(rate: 10, burst: 30)
        for _ in 0..<30 { #expect(limiter.refusal(of: "10.0.0.1", now: 5) == nil) }
        #expect(abs((limiter.refusal(of: "10.0.0.1", now: 5) ?? 0) - 0.1) < 1e-9)
        #expect(limiter.refusal(of: "10.0.0.2", now: 5) == nil)
        // 10 requests per second.
        for step in 1...50 {
            let now = 5 + 0.1001 * Double(step)
            #expect(limiter.refusal(of: "10.0.0.1", now: now) == nil)
            #expect(limiter.refusal(of: "10.0.0.1", now: now) != nil)
        }
        // After an hour without requests, the burst is still limited.
        for _ in 0..<30 { #expect(limiter.refusal(of: "10.0.0.1", now: 3600) == nil) }
        #expect(limiter.refusal(of: "10.0.0.1", now: 3600) != nil)
    }

    @Test("all addresses together have four times the limit of one address")
    func total() {
        var limiter = Self.limiter(rate: 10, burst: 30)
        let accepted = (0..<1000).filter { number in
            limiter.refusal(of: "10.0.\(number / 250).\(number % 250)", now: 1) == nil
        }
        #expect(accepted.count == 120)
        // 40 requests per second.
        #expect(abs((limiter.refusal(of: "10.9.9.9", now: 1) ?? 0) - 0.025) < 1e-9)
    }

    @Test(
        "the table of addresses is bounded, idle addresses are removed, and further addresses share one limit"
    )
    func table() {
        var limiter = Self.limiter(rate: 1, burst: 100)
        for number in 0..<100_000 {
            _ = limiter.refusal(
                of: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", now: 9)
        }
        #expect(limiter.count <= RequestLimiter.mostAddresses + 1)
        // After two minutes, every address has its full burst again, so the table is empty.
        #expect(limiter.refusal(of: "192.168.0.1", now: 129) == nil)
        #expect(limiter.count <= 2)
        // The table is full of busy addresses, so new addresses share one limit.
        limiter = Self.limiter(rate: 1, burst: 1000)
        for number in 0..<RequestLimiter.mostAddresses {
            _ = limiter.refusal(of: "10.0.\(number >> 8).\(number & 255)", now: 9)
        }
        let accepted = (0..<2000).filter { limiter.refusal(of: "172.16.0.\($0)", now: 9) == nil }
        #expect(accepted.count == 1000)
    }

    @Test("the table does not keep the earlier addresses of trusted hosts")
    func earlierHosts() {
        var limiter = Self.limiter(rate: 1, burst: 100)
        for number in 1...50_000 {
            let host = "2001:db8::" + String(number, radix: 16)
            _ = limiter.refusal(of: host, now: Double(number), isTrusted: true)
        }
        #expect(limiter.count <= RequestLimiter.mostAddresses + 1)
    }

    @Test(
        "the IPv6 addresses of a network of 64 bits share one limit",
        arguments: [
            ("192.168.1.20", "192.168.1.20"), ("::ffff:192.168.1.20", "192.168.1.20"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2"), ("2001:db8:1:2::9", "2001:db8:1:2"),
            ("fe80::1%eth0", "fe80:0:0:0"), ("::1", "0:0:0:0"), ("2001:db8::7", "2001:db8:0:0"),
        ])
    func networks(address: String, network: String) {
        #expect(RequestLimiter.network(address) == network)
    }

    @Test(
        "too many requests, also for WebSockets, get status 429 with Retry-After; a POST of a trusted client is served"
    )
    func requests() throws {
        try withServer({
            $0.limits.requestsPerSecond = 1
            $0.limits.requestBurst = 5
        }) { server, _ in
            let client = try WebClient(port: server.port)
            for _ in 0..<4 { #expect(try client.request("GET", "/").status == 200) }
            #expect(try client.request("HEAD", "/").status == 200)
            let refusal = try client.request("GET", "/")
            #expect(refusal.status == 429)
            #expect(refusal.headers["retry-after"] == "1")
            #expect(refusal.text.contains("Too many requests"))
            #expect(try client.isClosed())
            for (method, path) in [("GET", "/"), ("HEAD", "/"), ("POST", "/code")] {
                let other = try WebClient(port: server.port)
                #expect(try other.request(method, path).status == 429)
            }
            #expect(try WebClient(port: server.port).upgrade("/echo").status == 429)
            let trusted = try WebClient(port: server.port)
            for _ in 0..<3 {
                let answer = try trusted.request(
                    "POST", "/code", headers: ["X-Trusted: yes"], body: "1")
                #expect(answer.status == 200)
            }
            #expect(server.counters.refusals == [.requests: 5])
            // After the stated time, the server serves the client again.
            let isServed = try eventually(within: 3) {
                try WebClient(port: server.port).request("GET", "/").status == 200
            }
            #expect(isServed)
        }
    }

    @Test("the first request of a trusted client is served while others use up the common limit")
    func firstTrusted() throws {
        try withServer({
            $0.limits.requestsPerSecond = 1
            $0.limits.requestBurst = 5
        }) { server, _ in
            // The common limit is 20 requests.
            for host in UInt8(2)..<10 {
                for _ in 0..<5 {
                    let other = try WebClient(port: server.port, host: host)
                    _ = try other.request("GET", "/")
                }
            }
            let trust = ["X-Trusted: yes"]
            let phone = try WebClient(port: server.port, host: 10)
            #expect(try phone.request("GET", "/", headers: trust).status == 200)
            let socket = try WebClient(port: server.port, host: 11)
            #expect(try socket.upgrade("/echo", headers: trust).status == 101)
        }
    }

    @Test(
        "a client whose request is refused loses its connection and its waiting requests",
        arguments: ["POST /code HTTP/1.1\r\nHost: localhost", "GET / HTTP/1.1\r\nHost: evil"])
    func backlog(head: String) throws {
        try withServer({ $0.limits.requestBurst = 100 }) { server, _ in
            let client = try WebClient(port: server.port, timeout: 3)
            let request = head + "\r\n\r\n"
            try? client.send(String(repeating: request, count: 2000))
            #expect(try client.isClosed())
            #expect(server.counters.requests < 1000)
        }
    }
}
