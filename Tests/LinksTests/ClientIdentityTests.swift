import Port
import Testing
import Wire

@testable import Links

@Suite("Identity of a client of the diagnostics socket")
struct ClientIdentityTests {
    @Test("a client can set its name once, and messages about the client contain the name")
    func name() async throws {
        try await withServer { path, backend in
            let client = try PlainClient(path)
            let reply = try client.ask(
                #"{"id":1,"method":"client","params":{"name":"web, phone in the hall"}}"#)
            let name = try #require(reply["result"]?["name"]?.string)
            #expect(name.hasPrefix("diagnostics client "))
            #expect(name.hasSuffix(" (web, phone in the hall)"))
            #expect(reply["result"]?["can_write"] == true)
            let again = try client.ask(#"{"id":2,"method":"client","params":{"name":"root"}}"#)
            #expect(again["error"]?["code"] == "refused")
            #expect(again["error"]?["field"] == "name")
            #expect(
                try client.ask(#"{"id":3,"method":"client"}"#)["result"]?["name"]?.string == name)
        }
    }

    @Test(
        "a refused request `client` changes nothing, so that the corrected request is accepted",
        arguments: [#""read_only":1"#, #""assistant":"yes""#, #""read_only":true,"assistant":1"#])
    func refused(parameters: String) async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let wrong = try client.ask(
                #"{"id":1,"method":"client","params":{"name":"web",\#(parameters)}}"#)
            #expect(wrong["error"]?["code"] == "invalid_params")
            let right = try client.ask(#"{"id":2,"method":"client","params":{"name":"web"}}"#)
            #expect(right["result"]?["can_write"] == true, "\(right.text)")
        }
    }

    @Test(
        "a client that gives up its right to write cannot get it back, and cannot stop the gimbal")
    func readOnly() async throws {
        try await withServer { path, backend in
            let client = try PlainClient(path)
            let reply = try client.ask(#"{"id":1,"method":"client","params":{"read_only":true}}"#)
            #expect(reply["result"]?["can_write"] == false)
            let other = try client.ask(#"{"id":2,"method":"client","params":{"read_only":false}}"#)
            #expect(other["result"]?["can_write"] == false)
            for method in ["stop", "take"] {
                let refusal = try client.ask(#"{"id":3,"method":"\#(method)"}"#)
                #expect(refusal["error"]?["code"] == "permission_denied", "\(method)")
                // The client's user has write access, so the refusal must not recommend sudo.
                #expect(refusal["error"]?["field"] == "read_only", "\(refusal.text)")
                let message = refusal["error"]?["message"]?.string ?? ""
                #expect(message.contains("read-only") && !message.contains("root"), "\(message)")
            }
            #expect(try client.ask(#"{"id":4,"method":"ping"}"#)["result"] != nil)
            #expect(backend.calls.isEmpty)
        }
    }

    @Test(
        "a name with control characters or of excessive length is refused",
        arguments: [
            "", String(repeating: "a", count: 97), #"a\nb"#, #"\u202e"#, #"\u0007"#, #"a\u2028b"#,
        ])
    func badNames(_ name: String) async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let reply = try client.ask(
                #"{"id":1,"method":"client","params":{"name":"\#(name)"}}"#)
            #expect(reply["error"]?["code"] == "out_of_range")
            #expect(reply["error"]?["field"] == "name")
        }
    }

    @Test("only a client with write access that is not an assistant can pair phones")
    func pairing() {
        var client = DiagnosticsClient(id: 1, pid: 1, user: 1)
        let refusal = Refusal(.permissionDenied, "This connection is read-only.")
        #expect(SocketMethod.Caller(client: client, refusal: nil).mayPair)
        #expect(!SocketMethod.Caller(client: client, refusal: refusal).mayPair)
        client.isAssistant = true
        #expect(!SocketMethod.Caller(client: client, refusal: nil).mayPair)
    }
}
