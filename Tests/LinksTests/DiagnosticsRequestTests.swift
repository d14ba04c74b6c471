import GimbalCore
import Port
import Synchronization
import SystemPackage
import Testing
import Wire

@testable import Links

@Suite("Requests over the diagnostics socket")
struct DiagnosticsRequestTests {
    @Test("a reply carries the id, the loop's time and the result; unknown numbers are null")
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

    @Test(
        "every refusal has a code, a sentence and, where there is one, a field",
        arguments: [
            (#"{"id":1,"method":"statu"}"#, "unknown_method", "method", "Did you mean \"status\"?"),
            (#"{"id":1,"method":"frobnicate"}"#, "unknown_method", "method", "status, doctor"),
            (#"{"id":1}"#, "invalid_request", "method", "names no method"),
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
                #"{"id":1,"method":"get","params":{"keys":["loop.rate_h"]}}"#, "unknown_key",
                "keys", "Did you mean \"loop.rate_hz\"?"
            ),
            (
                #"{"id":1,"method":"set","params":{"key":"loop.rate_hz"}}"#, "invalid_params",
                "value", "needs the parameter"
            ),
            (
                #"{"id":1,"method":"set","params":{"key":"loop.rate_hz","value":1,"rollback":0}}"#,
                "out_of_range", "rollback", "outside 1...3600 s"
            ),
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
            (
                #"{"id":1,"method":"baseline","params":{"action":"store","name":"../x"}}"#,
                "invalid_params", "name", "letters, digits"
            ),
            (
                #"{"id":1,"method":"calibrate","params":{"action":"start","what":"gyr"}}"#,
                "invalid_params", "what", "Did you mean \"gyro\"?"
            ),
            (
                #"{"id":1,"method":"calibrate","params":{"action":"start"}}"#, "invalid_params",
                "what", "needs the parameter"
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

    /// Degrees as the daemon gets them.
    private static func angles(_ yaw: Double, _ roll: Double, _ pitch: Double) -> AxisVector {
        AxisVector(yaw: yaw, roll: roll, pitch: pitch) * (.pi / 180)
    }

    @Test(
        "a request reaches the daemon with its parameters",
        arguments: [
            (#""mode","params":{"mode":"locked"}"#, "\(MotionRequest.mode(.locked))"),
            (
                #""point","params":{"yaw":0,"roll":0,"pitch":-30,"duration":2}"#,
                "\(MotionRequest.point(Self.angles(0, 0, -30), duration: 2))"
            ),
            (
                #""point","params":{"pitch":-30.5}"#,
                "\(MotionRequest.point(Self.angles(.nan, .nan, -30.5), duration: 0))"
            ),
            (
                #""rate","params":{"yaw":10,"roll":0}"#,
                "\(MotionRequest.rate(Self.angles(10, 0, 0)))"
            ),
            (#""set","params":{"key":"loop.rate_hz","value":500}"#, "set loop.rate_hz 500 -"),
            (
                #""set","params":{"key":"mode.boot","value":"locked","rollback":30}"#,
                "set mode.boot \"locked\" 30.0"
            ),
            (#""stop","params":{"whatever":1}"#, "stop"),
            (#""reset_stop""#, "resetEmergencyStop"),
            (#""take""#, "take"),
            (#""release""#, "release"),
            (#""save""#, "save"),
            (#""reload""#, "reload"),
            (
                #""baseline","params":{"action":"restore","name":"good"}"#,
                "baseline restore(\"good\")"
            ),
            (#""calibrate""#, "calibrate status"),
            (
                #""calibrate","params":{"action":"start","what":"gyro"}"#,
                "calibrate start(\"gyro\")"
            ),
            (#""calibrate","params":{"action":"undo"}"#, "calibrate undo(nil)"),
        ])
    func request(parts: String, call: String) async throws {
        try await withServer { path, backend in
            let reply = try PlainClient(path).ask("{\"id\":1,\"method\":\(parts)}")
            #expect(reply["error"] == nil)
            #expect(backend.calls == [call])
        }
    }

    @Test(
        "reading methods answer",
        arguments: [
            "status", "doctor", "version", "keys", "get", "diff", "log", "variables", "ping",
        ])
    func reading(method: String) async throws {
        try await withServer { path, _ in
            let reply = try PlainClient(path).ask("{\"id\":null,\"method\":\"\(method)\"}")
            #expect(reply["id"] == .null)
            #expect(reply["result"] != nil)
        }
    }

    @Test("get takes keys and sections")
    func get() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let all = try client.ask(#"{"id":1,"method":"get"}"#)["result"]?.array
            #expect(all?.count == 2)
            let one = try client.ask(#"{"id":1,"method":"get","params":{"keys":"mode.boot"}}"#)
            #expect(one["result"]?.array?.first?["value"] == "locked")
            let section = try client.ask(#"{"id":1,"method":"get","params":{"keys":["loop"]}}"#)
            #expect(section["result"]?.array?.first?["key"] == "loop.rate_hz")
        }
    }

    @Test("what the daemon refuses reaches the client as it is")
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

    @Test("a setting that is asked for a thousand times is answered once")
    func repeated() async throws {
        try await withServer { path, _ in
            let client = try PlainClient(path)
            let names = [String](repeating: "\"loop\"", count: 5900).joined(separator: ",")
            let reply = try client.ask(#"{"id":1,"method":"get","params":{"keys":[\#(names)]}}"#)
            #expect(reply["result"]?.array?.count == 1)
            let twice = try client.ask(
                #"{"id":2,"method":"get","params":{"keys":["loop.rate_hz","loop.*","mode"]}}"#)
            #expect(
                twice["result"]?.array?.compactMap { $0["key"]?.string } == [
                    "loop.rate_hz", "mode.boot",
                ])
        }
    }

    @Test(
        "what does more than look needs the right to write",
        arguments: [
            ("spectrum", "start"), ("spectrum", "cancel"), ("calibrate", "start"),
            ("calibrate", "cancel"), ("calibrate", "undo"), ("autotune", "start"),
            ("autotune", "cancel"), ("pair", "allow"), ("pair", "forget"), ("record", "last"),
            ("record", "start"), ("record", "stop"), ("baseline", "store"),
            ("baseline", "restore"), ("baseline", "delete"),
        ])
    func readersOnlyLook(method: String, action: String) throws {
        let backend = FakeBackend()
        let handler = RequestHandler(
            backend: backend, policy: AccessPolicy(ownUser: 1, group: 1, groupName: "airframe"),
            later: try LateReplies(), desk: try QuestionDesk())
        let reader = ClientConnection(
            descriptor: FileDescriptor(rawValue: -1),
            client: DiagnosticsClient(id: 1, pid: 1, user: 1000), mayWrite: false,
            longestLine: 1000, now: Instant(nanoseconds: 0))
        let extra: [String: String] = [
            "calibrate": #","what":"gyro""#, "autotune": #","axis":"yaw""#,
            "pair": #","address":"x""#, "baseline": #","name":"x""#,
        ]
        let line =
            #"{"id":1,"method":"\#(method)","params":{"action":"\#(action)"\#(extra[method] ?? "")}}"#
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
