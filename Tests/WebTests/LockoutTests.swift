import FoundationEssentials
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("Computers that use all connections of airframe-web", .serialized, .timeLimit(.minutes(1)))
struct LockoutTests {
    /// Connections of hostile computers with the addresses 127.0.0.2 and 127.0.0.3. Each connection
    /// sends an incomplete request.
    private final class Hostile {
        private var clients: [WebClient] = []
        private let request: String

        init(_ request: String = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ") {
            self.request = request
        }

        /// Opens more connections than one address can have.
        func fill(_ rig: Rig) {
            for number in 0..<52 {
                let host = UInt8(2 + number % 2)
                guard let client = try? WebClient(port: rig.port, host: host) else { continue }
                try? client.send(request)
                clients.append(client)
            }
        }

        /// Sends the last byte of each request at almost the same time.
        func finish() { for client in clients { try? client.send("x") } }
    }

    @Test(
        "requests for pages without the end of their body use no places, and then open at most web.max_tabs pages"
    )
    func unfinishedPages() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory, ["web.max_tabs=4"])
            let cookie = try rig.cookie(host: 4)
            let hostile = Hostile(
                "GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                    + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: 1\r\n\r\n")
            hostile.fill(rig)
            #expect(eventually(within: 3) { (try? rig.web("refused").number) ?? 0 > 10 })
            let phone = try WebClient(port: rig.port, host: 4)
            #expect(try phone.request("GET", "/", headers: [cookie]).status == 200)
            hostile.finish()
            #expect(eventually(within: 3) { (try? rig.web("tabs"))?.number == 4 })
            let page = try WebClient(port: rig.port, host: 4)
            #expect(try page.upgrade("/socket", headers: [cookie]).status == 101)
            try page.send(message: #"{"id":1,"method":"ping"}"#)
            #expect(try page.message().contains("pong"))
        }
    }

    @Test(
        "two computers that hold all connections lock out neither the page of a paired phone nor its pairing",
        arguments: [false, true])
    func lockout(_ isPairedBefore: Bool) throws {
        try withTemporaryDirectory { directory in
            // 40 connections in total, and 24 of each address.
            let rig = try Rig(in: directory, ["web.max_tabs=4"])
            let open = try rig.descriptors()
            var cookie = isPairedBefore ? try rig.cookie(host: 4) : ""
            let hostile = Hostile()
            hostile.fill(rig)
            #expect(eventually(within: 3) { (try? rig.web("refused").number) ?? 0 > 10 })
            if !isPairedBefore { cookie = try rig.cookie(host: 4) }
            let names = try FileManager.default.subpathsOfDirectory(atPath: Rig.page.string)
                .filter { $0.contains(".") }
            // A browser loads the files over six connections.
            let phone = try (0..<6).map { _ in try WebClient(port: rig.port, host: 4) }
            for (number, name) in names.enumerated() {
                if number % 6 == 0 { hostile.fill(rig) }
                let answer = try phone[number % 6].request("GET", "/" + name, headers: [cookie])
                #expect(answer.status == 200, "\(name)")
            }
            hostile.fill(rig)
            let page = try WebClient(port: rig.port, host: 4)
            #expect(try page.upgrade("/socket", headers: [cookie]).status == 101)
            hostile.fill(rig)
            try page.send(message: #"{"id":1,"method":"ping"}"#)
            #expect(try page.message().contains("pong"))
            let stop = try WebClient(port: rig.port, host: 4)
            #expect(try stop.request("POST", "/stop", headers: [cookie]).status == 204)
            // Replaced connections are closed.
            #expect(eventually(within: 3) { (try? rig.descriptors()) ?? 999 < open + 48 })
        }
    }
}
