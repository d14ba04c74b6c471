import GimbalCore
import Port
import Synchronization
import SystemPackage
import Testing
import Threads
import Wire

@testable import Links

@Suite("Requests over the diagnostics socket")
struct DiagnosticsRequestTests {
    @Test("a reply contains the id, the loop's time and the result, with null for unknown numbers")
    func status() async throws {
        try await withServer { path, _ in
            let reply = try PlainClient(path).ask(#"{"id":"a7","method":"status","params":{}}"#)
            #expect(reply["id"] == "a7")
            #expect(reply["t"] == 12.5)
            #expect(reply["result"]?["mode"] == "locked")
            #expect(reply["result"]?["attitude"]?["pitch_deg"]?.number == -29.5)
            #expect(reply["result"]?["attitude"]?["yaw_deg"] == .null)
            #expect(reply["result"]?["clients"]?["connected"] == 1)
        }
    }

    @Test("`methods` marks the names of `subscribe` as required")
    func requiredNames() async throws {
        try await withServer { path, _ in
            let reply = try PlainClient(path).ask(#"{"id":1,"method":"methods"}"#)
            let methods = try #require(reply["result"]?.array)
            let subscribe = try #require(methods.first { $0["name"] == "subscribe" })
            let parameters = try #require(subscribe["parameters"]?.array)
            let names = try #require(parameters.first { $0["name"] == "names" })
            #expect(names["required"] == true)
        }
    }

    @Test(
        "every refusal has a code, a sentence and, if applicable, a field",
        arguments: [
            (#"{"id":1,"method":"statu"}"#, "unknown_method", "method", "Did you mean \"status\"?"),
            (#"{"id":1,"method":"frobnicate"}"#, "unknown_method", "method", "status, doctor"),
            (#"{"id":1}"#, "invalid_request", "method", "contains no method"),
            (#"{"id":1,"method":5}"#, "invalid_request", "method", "not a number"),
            (#"{"id":[1],"method":"status"}"#, "invalid_request", "id", "not an array"),
            (#"{"id":1,"method":"status","params":[]}"#, "invalid_request", "params", "an object"),
            (#"[1,2]"#, "invalid_request", nil, "not an array"),
            (#"{"id":1,"method":"status"} x"#, "invalid_json", nil, "`x` at byte 27"),
            (#"{"id":1,"method":}"#, "invalid_json", nil, "at byte 17"),
            (
                #"{"id":1,"id":2,"method":"ping"}"#, "invalid_json", nil,
                "second member named \"id\""
            ),
            (
                #"{"id":1,"method":"point","params":{"pitch":1e999}}"#, "invalid_json", nil,
                "out of range at byte 43"
            ),
            (
                #"{"id":1,"method":"point","params":{"pitch":"up"}}"#, "invalid_params", "pitch",
                "a number, not a string"
            ),
            (
                #"{"id":1,"method":"point","params":{"pitch":200}}"#, "out_of_range", "pitch",
                "200 is outside -180...180 degrees"
            ),
            (#"{"id":1,"method":"point"}"#, "invalid_params", "pitch", "at least one of"),
            (
                #"{"id":1,"method":"point","params":{"pich":1}}"#, "invalid_params", "pich",
                "Did you mean \"pitch\"?"
            ),
            (
                #"{"id":1,"method":"mode","params":{"mode":"loked"}}"#, "invalid_params", "mode",
                "Did you mean \"locked\"?"
            ),
            (#"{"id":1,"method":"mode"}"#, "invalid_params", "mode", "needs the parameter"),
            (
                #"{"id":1,"method":"subscribe","params":{"names":["attitude.pich_deg"]}}"#,
                "unknown_key", "names", "Did you mean \"attitude.pitch_deg\"?"
            ),
            (
                #"{"id":1,"method":"subscribe","params":{"names":["*"],"rate":1000}}"#,
                "out_of_range", "rate", "1...200 Hz"
            ),
            (
                #"{"id":1,"method":"log","params":{"limit":1.5}}"#, "invalid_params", "limit",
                "whole"
            ),
        ] as [(String, String, String?, String)])
    func refusal(line: String, code: String, field: String?, words: String) async throws {
        try await withServer { path, backend in
            let client = try PlainClient(path)
            let error = try client.ask(line)["error"]
            #expect(error?["code"]?.string == code)
            #expect(error?["field"]?.string == field)
            #expect(error?["message"]?.string?.contains(words) == true, "\(error?.text ?? "-")")
            #expect(try client.ask(#"{"id":2,"method":"ping"}"#)["id"] == 2)
            #expect(backend.calls == [])
        }
    }

    /// Degrees as the daemon receives them.
    private static func angles(_ yaw: Double, _ roll: Double, _ pitch: Double) -> AxisVector {
        AxisVector(yaw: yaw, roll: roll, pitch: pitch) * (.pi / 180)
    }

    @Test(
        "a request reaches the daemon with its parameters",
        arguments: [
            (#""mode","params":{"mode":"locked"}"#, MotionRequest.mode(.locked).words),
            (
                #""point","params":{"yaw":0,"roll":0,"pitch":-30,"duration":2}"#,
                MotionRequest.point(Self.angles(0, 0, -30), duration: 2).words
            ),
            (
                #""point","params":{"pitch":-30.5}"#,
                MotionRequest.point(Self.angles(.nan, .nan, -30.5), duration: 0).words
            ),
            (
                #""rate","params":{"yaw":10,"roll":0}"#,
                MotionRequest.rate(Self.angles(10, 0, 0)).words
            ),
            (#""stop","params":{"whatever":1}"#, "emergencyStop"),
            (#""reset_stop""#, "resetEmergencyStop"),
            (#""recentre""#, MotionRequest.point(Self.angles(.nan, 0, 0), duration: 0).words),
            (#""take""#, "take"),
            (#""release""#, "release"),
            (#""save""#, "save"),
        ])
    func request(parts: String, call: String) async throws {
        try await withServer { path, backend in
            let reply = try PlainClient(path).ask("{\"id\":1,\"method\":\(parts)}")
            #expect(reply["error"] == nil)
            #expect(backend.calls == [call])
        }
    }

    @Test("the reply to point applies to the mode that was requested just before")
    func pointAfterMode() async throws {
        try await withServer { path, backend in
            // The snapshot keeps the earlier mode, like the daemon's snapshot for some milliseconds.
            backend.port.memory.withLock { memory in
                memory.control.mode = .fpv
                memory.snapshot.mode = .fpv
                memory.snapshot.output.enabled = true
            }
            let client = try PlainClient(path)
            _ = try client.ask(#"{"id":1,"method":"mode","params":{"mode":"locked"}}"#)
            let point = try client.ask(#"{"id":2,"method":"point","params":{"yaw":90}}"#)
            #expect((point["result"]?["duration_s"]?.number ?? 0) > 0.3, "\(point.text)")
            #expect(point["result"]?["limited_by"] == nil, "\(point.text)")
        }
    }

    @Test(
        "methods that read return their values",
        arguments: [
            "status", "doctor", "get", "log", "variables", "ping",
        ])
    func reading(method: String) async throws {
        try await withServer { path, _ in
            let reply = try PlainClient(path).ask("{\"id\":null,\"method\":\"\(method)\"}")
            #expect(reply["id"] == .null)
            #expect(reply["result"] != nil)
        }
    }

    @Test(
        "the reply to reset_stop names what was latched",
        arguments: [
            (
                true, .none,
                "The emergency stop is reset. The mode is inactive until you select another mode."
            ),
            (false, .none, "No emergency stop is latched."),
            (
                false, .responseReversed | .busError,
                "No emergency stop is latched. These latched faults are reset: response_reversed."
            ),
        ] as [(Bool, Conditions, String)])
    func resetStop(isStopped: Bool, conditions: Conditions, sentence: String) async throws {
        let backend = FakeBackend()
        backend.port.memory.withLock {
            $0.control.stoppedBy =
                isStopped ? CommandSource(link: .diagnostics, connection: 1) : nil
            $0.snapshot.conditions = conditions
        }
        try await withServer(backend) { path, backend in
            let reply = try PlainClient(path).ask(#"{"id":1,"method":"reset_stop"}"#)
            #expect(reply["result"]?["sentence"]?.string == sentence)
            #expect(backend.calls == ["resetEmergencyStop"])
        }
    }

    @Test(
        "the reply to drive states whether the wheels turn or stop",
        arguments: [
            (#"{"left":0.5,"right":0}"#, "The wheels turn until"),
            (#"{"left":0,"right":0}"#, "The wheels stop."), ("{}", "The wheels stop."),
        ])
    func drive(params: String, sentence: String) async throws {
        try await withServer { path, _ in
            let reply = try PlainClient(path).ask(
                #"{"id":1,"method":"drive","params":\#(params)}"#)
            #expect(reply["result"]?["sentence"]?.string?.hasPrefix(sentence) == true)
        }
    }

    @Test("a refusal by the daemon reaches the client unchanged")
    func refused() async throws {
        let backend = FakeBackend()
        backend.record.withLock {
            $0.refusal = Refusal(.notInControl, "The phone is in control.")
        }
        try await withServer(backend) { path, _ in
            let reply = try PlainClient(path).ask(#"{"id":1,"method":"save"}"#)
            #expect(reply["error"]?["code"] == "not_in_control")
            #expect(reply["error"]?["message"] == "The phone is in control.")
        }
    }

    @Test(
        "methods that change state need the right to write",
        arguments: [("spectrum", #"{"action":"start"}"#), ("save", "{}"), ("take", "{}")])
    func readersOnlyLook(method: String, params: String) throws {
        let backend = FakeBackend()
        let handler = RequestHandler(
            port: backend.port, services: backend.services,
            policy: AccessPolicy(ownUser: 1, group: 1, groupName: "airframe"),
            later: try LateReplies(), slowRequests: try SlowRequestQueue())
        let reader = ClientConnection(
            descriptor: FileDescriptor(rawValue: -1),
            client: DiagnosticsClient(id: 1, pid: 1, user: 1000), mayWrite: false,
            longestLine: 1000, now: Instant(nanoseconds: 0))
        let line = #"{"id":1,"method":"\#(method)","params":\#(params)}"#
        handler.answer(
            .complete(Array(line.utf8)), from: reader, clients: ClientStatus(),
            now: Instant(nanoseconds: 0))
        var sent: [UInt8] = []
        _ = reader.output.flush { bytes in
            sent += bytes
            return bytes.count
        }
        #expect(
            try JSONValue(parsing: Array(sent.dropLast()))["error"]?["code"] == "permission_denied")
        #expect(backend.calls.isEmpty)
    }
}
