import Testing
import Wire

@testable import Assistant

@Suite("Server of the Model Context Protocol") struct MCPServerTests {
    @Test("a request with a protocol version needs no handshake, and its result type is complete")
    func modern() throws {
        let bench = try Bench()
        let found = try #require(try bench.ask("server/discover").first?["result"])
        #expect(found["supportedVersions"]?.array?.first == "2026-07-28")
        #expect(found["resultType"] == "complete")
        #expect(found["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"] == "airframe")
        #expect(found["ttlMs"]?.int ?? -1 >= 0)
        #expect(found["cacheScope"] == "private")
        #expect(bench.memory.opened == 0, "no connection to the daemon is opened")
    }

    @Test("an older client begins with initialize, and gets results without a result type")
    func legacy() throws {
        let bench = try Bench()
        let list: JSONValue = ["jsonrpc": "2.0", "id": "a", "method": "tools/list"]
        #expect(try bench.send(list).first?["error"]?["code"] == -32600)
        for (requested, agreed) in [
            ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
            ("1999-01-01", "2025-11-25"),
        ] {
            let reply = try bench.send([
                "jsonrpc": "2.0", "id": 0, "method": "initialize",
                "params": [
                    "protocolVersion": .string(requested), "capabilities": [:],
                    "clientInfo": ["name": "old", "version": "1"],
                ],
            ])
            #expect(reply.first?["result"]?["protocolVersion"]?.string == agreed)
        }
        let tools = try #require(try bench.send(list).first)
        #expect(tools["id"] == "a")
        #expect(tools["result"]?["tools"]?.array?.isEmpty == false)
        #expect(tools["result"]?["resultType"] == nil)
    }

    @Test("an unsupported version is refused with a list of the supported versions")
    func otherVersion() throws {
        let meta: JSONValue = ["io.modelcontextprotocol/protocolVersion": "2030-01-01"]
        let reply = try Bench().ask("tools/list", ["_meta": meta])
        let error = try #require(reply.first?["error"])
        #expect(error["code"] == -32022)
        #expect(error["data"]?["requested"] == "2030-01-01")
        #expect(error["data"]?["supported"]?.array?.contains("2025-11-25") == true)
    }

    @Test("a daemon method unknown to the server becomes a tool, with its parameters as a schema")
    func newMethod() throws {
        let tools = try #require(try Bench().ask("tools/list").first?["result"]?["tools"]?.array)
        #expect(
            tools.map { $0["name"]?.string }
                == ["status", "turn", "point", "juggle", "camera", "stop", "shoot"])
        let juggle = try #require(tools.first { $0["name"] == "juggle" })
        let schema = try #require(juggle["inputSchema"])
        #expect(schema["required"] == ["balls"])
        #expect(schema["additionalProperties"] == false)
        #expect(schema["properties"]?["balls"]?["type"] == "integer")
        #expect(schema["properties"]?["balls"]?["maximum"] == 7)
        #expect(schema["properties"]?["action"]?["enum"] == ["status", "start"])
        #expect(juggle["annotations"]?["destructiveHint"] == true)
        let turn = try #require(tools.first { $0["name"] == "turn" })
        #expect(turn["inputSchema"]?["properties"]?["yaw"]?["maximum"]?.number == 30)
        let yaw = turn["inputSchema"]?["properties"]?["yaw"]?["description"]?.string
        #expect(yaw == "Rate. Unit: degrees per second.")
    }

    @Test(
        "the output schema of a tool is the result schema of the method; a list is put into the member items"
    )
    func results() throws {
        let tools = try #require(try Bench().ask("tools/list").first?["result"]?["tools"]?.array)
        func schema(_ name: String) -> JSONValue? {
            tools.first { $0["name"]?.string == name }?["outputSchema"]
        }
        #expect(schema("status")?["properties"]?["mode"] == ["type": "string"])
        #expect(
            schema("juggle")?["properties"]?["items"]
                == ["type": "array", "items": ["type": "integer"]])
        #expect(schema("juggle")?["required"] == ["items"] && schema("point") == nil)
    }

    @Test("a read-only server offers only tools that read, and reset_stop needs its option")
    func readOnly() throws {
        let bench = try Bench(isReadOnly: true)
        let tools = try #require(try bench.ask("tools/list").first?["result"]?["tools"]?.array)
        #expect(tools.map { $0["name"]?.string } == ["status", "juggle", "stop"])
        let schema = tools[1]["inputSchema"]
        #expect(schema?["properties"]?["action"]?["enum"] == ["status"])
        #expect(bench.takeRequests()[0].contains(#""read_only":true"#))
        let refusal = try bench.call("juggle", ["action": "start", "balls": 2])
        #expect(refusal.first?["result"]?["isError"] == true)
        #expect(!bench.takeRequests().contains { $0.contains("start") })
        #expect(try bench.call("reset_stop").first?["error"]?["code"] == -32602)
        let other = try Bench(mayReset: true)
        #expect(try other.call("reset_stop").first?["result"]?["isError"] == nil)
    }

    @Test("an action that only a person may use is neither offered nor sent to the daemon")
    func barredAction() throws {
        let bench = try Bench()
        let tools = try #require(try bench.ask("tools/list").first?["result"]?["tools"]?.array)
        let camera = try #require(tools.first { $0["name"] == "camera" })
        let action = camera["inputSchema"]?["properties"]?["action"]
        #expect(action?["enum"] == ["photo", "record", "stop"])
        let refusal = try bench.call("camera", ["action": "set"])
        #expect(refusal.first?["result"]?["isError"] == true)
        #expect(!bench.takeRequests().contains { $0.hasPrefix("camera") })
    }

    @Test(
        "the server identifies itself as an assistant; a stop uses a connection without the assistant's rank"
    )
    func identity() throws {
        let bench = try Bench()
        _ = try bench.call("status")
        #expect(bench.takeRequests()[0] == #"client {"assistant":true,"name":"mcp tester"}"#)
        _ = try bench.call("stop")
        #expect(bench.takeRequests() == [#"client {"name":"mcp tester"}"#, "stop"])
        #expect(bench.memory.opened == 2)
    }

    @Test("a stop is executed also with invalid arguments; other tools refuse them")
    func invalidArguments() throws {
        let bench = try Bench()
        for arguments: JSONValue in [[], "now", 3, ["axis": "all"]] {
            let stop: JSONValue = ["name": "stop", "arguments": arguments]
            let reply = try bench.ask("tools/call", stop.object ?? [:]).first
            #expect(reply?["result"]?["isError"] == nil)
            #expect(bench.takeRequests().last == "stop")
        }
        let point: JSONValue = ["name": "point", "arguments": []]
        #expect(try bench.ask("tools/call", point.object ?? [:]).first?["error"]?["code"] == -32602)
    }

    @Test("a refusal by the daemon, or a missing daemon, gives an error result of the tool")
    func errors() throws {
        let bench = try Bench()
        bench.memory.refused = ["point"]
        let reply = try #require(try bench.call("point", ["yaw": 3]).first?["result"])
        #expect(reply["isError"] == true)
        #expect(reply["content"]?.array?.first?["text"] == "point is not possible; wait.")
        #expect(reply["_meta"]?["airframe/error"]?["code"] == "refused")
        // Clients can check structured content against the schema of the tool's result.
        #expect(reply["structuredContent"] == nil)
        bench.memory.isDown = true
        let lost = try #require(try bench.call("status").first?["result"])
        #expect(lost["isError"] == true)
        bench.memory.isDown = false
        #expect(try bench.call("status").first?["result"]?["isError"] == nil)
        #expect(bench.memory.opened == 2, "the next call opens a new connection")
    }
}
