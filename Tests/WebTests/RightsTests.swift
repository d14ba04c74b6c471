import Client
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("Browsers without a valid token", .serialized, .timeLimit(.minutes(1)))
struct RightsTests {
    private func withRig(_ settings: [String] = [], _ body: (Rig) throws -> Void) throws {
        try withTemporaryDirectory { try body(try Rig(in: $0, settings)) }
    }

    private func socket(_ rig: Rig, _ headers: [String] = []) throws -> WebClient {
        let client = try WebClient(port: rig.port)
        try #require(try client.upgrade("/socket", headers: headers).status == 101)
        return client
    }

    @Test(
        "only a paired browser can search the buses, because the search sends bytes to the chips",
        arguments: [0, 3000])
    func buses(_ padding: Int) throws {
        try withRig { rig in
            let spaces = String(repeating: " ", count: padding)
            func search(_ client: WebClient) throws -> JSONValue {
                try client.send(message: "{\"id\":1,\"method\":\"hardware\"\(spaces)}")
                return try JSONValue(parsing: Array(client.message().utf8))
            }
            #expect(try search(try socket(rig))["error"]?["code"] == "permission_denied")
            let paired = try socket(rig, [try rig.cookie()])
            #expect(try search(paired)["result"]?["proposal"] != nil)
        }
    }

    @Test("a stop that arrives together with the request for the connection needs write access")
    func earlyStop() throws {
        try withRig { rig in
            let client = try WebClient(port: rig.port)
            let request = [
                "GET /socket HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket",
                "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "\r\n",
            ].joined(separator: "\r\n")
            let stop = WebClient.frame(1, Array(#"{"id":1,"method":"stop"}"#.utf8))
            try client.send(Array(request.utf8) + stop)
            #expect(try client.answer().status == 101)
            let answer = try JSONValue(parsing: Array(client.message().utf8))
            #expect(answer["error"]?["code"] == "permission_denied")
            #expect(try rig.status()["stopped_by"] == nil)
        }
    }

    @Test(
        "a WebSocket gets the protocol `airframe` only if the client offers this protocol",
        arguments: [nil, "other", "airframe", "other, airframe"] as [String?])
    func subprotocol(_ offer: String?) throws {
        try withRig { rig in
            let headers =
                [try rig.cookie()] + (offer.map { ["Sec-WebSocket-Protocol: \($0)"] } ?? [])
            let expected = offer?.hasSuffix("airframe") == true ? "airframe" : nil
            for path in ["/socket", "/pictures"] {
                let answer = try WebClient(port: rig.port).upgrade(path, headers: headers)
                #expect(answer.status == 101)
                #expect(answer.headers["sec-websocket-protocol"] == expected)
            }
        }
    }

    @Test("browsers without a token that use all pages do not lock out a paired browser")
    func lockout() throws {
        try withRig(["web.max_tabs=2"]) { rig in
            let cookie = try rig.cookie()
            let (first, second) = (try socket(rig), try socket(rig))
            #expect(try WebClient(port: rig.port).upgrade("/socket").status == 503)
            let paired = try socket(rig, [cookie])
            // The oldest page is closed, and the other page still gets answers.
            var frame = try first.frame()
            while frame.opcode != 8 { frame = try first.frame() }
            #expect(frame.code == 1013)
            try second.send(message: #"{"id":1,"method":"ping"}"#)
            #expect(try second.message().contains("pong"))
            let other = try socket(rig, [cookie])
            #expect(
                try WebClient(port: rig.port).upgrade("/socket", headers: [cookie]).status == 503)
            for page in [paired, other] {
                try page.send(message: #"{"id":1,"method":"ping"}"#)
                #expect(try page.message().contains("pong"))
            }
        }
    }

    @Test("a token that has expired on the server is refused, although the browser still sends it")
    func expired() throws {
        try withRig { rig in
            let cookie = try rig.cookie()
            func status() throws -> Int {
                try WebClient(port: rig.port).request("POST", "/stop", headers: [cookie]).status
            }
            #expect(try status() == 204)
            rig.stopWeb()
            let file = rig.directory.appending("web").appending("browsers.json")
            let saved = try JSONDecoder().decode(
                [PairedBrowser].self, from: Data(try bytes(of: file)))
            let old = saved.map { browser in
                var browser = browser
                browser.expires = DaemonClient.wall() - 1
                return browser
            }
            try write(Array(try JSONEncoder().encode(old)), to: file)
            try rig.startWeb()
            #expect(try status() == 401)
            let client = try socket(rig, [cookie])
            try client.send(message: #"{"id":1,"method":"mode","params":{"mode":"inactive"}}"#)
            #expect(try client.message().contains("permission_denied"))
        }
    }

    @Test("a browser that an earlier version has also paired has no rights after it is unpaired")
    func earlierPairing() throws {
        try withRig { rig in
            func token(_ name: String) throws -> Substring {
                try #require(try rig.cookie(name: name).split(separator: "=").last)
            }
            let earlier = try "airframe_token=\(token("earlier"))"
            let present = try "airframe_token_\(rig.port)=\(token("present"))"
            func status(_ path: String, _ cookies: String) throws -> Int {
                let headers = ["Host: 127.0.0.1:\(rig.port)", "Cookie: \(cookies)"]
                return try WebClient(port: rig.port).request("POST", path, headers: headers).status
            }
            #expect(try status("/unpair", "\(earlier); \(present)") == 204)
            // The answer removes only the cookie with the present name.
            #expect(try status("/stop", earlier) == 401)
            #expect(try status("/stop", present) == 401)
        }
    }
}
