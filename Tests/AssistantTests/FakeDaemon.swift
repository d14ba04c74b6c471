import Client
import Threads
import Wire

@testable import Assistant

/// A daemon without a gimbal: it describes its methods, records requests, and refuses the methods
/// that a test selects.
final class FakeDaemon: DaemonConnection {
    /// State that all connections of one test share.
    final class Memory: @unchecked Sendable {
        var requests: [String] = []
        var refused: Set<String> = []
        /// Methods that the client cancels before their answers arrive.
        var cancelled: Set<String> = []
        var isDown = false
        var opened = 0
        /// Orientation of the camera: yaw, roll, pitch, degrees. A request for an angle takes
        /// effect immediately.
        var pose = [10.0, 0, 0]
        var mode = "locked"
        /// Number of photos; nil if airframe-eyes is not connected.
        var photos: Int?
        var order = 0
        /// Number of the next photos for which airframe-eyes reports no result.
        var lostPhotos = 0
        /// Angle of the yaw joint, degrees, with the range -170...170; nil if it is not measured.
        var joint: Double?
        /// Angle by which the camera must still turn to the requested yaw, degrees.
        var lag = 0.0
        /// Largest pitch that `motion.range_deg` permits, degrees.
        var highestPitch = 90.0
    }

    let memory: Memory
    var interruption: WakeupPipe?

    init(_ memory: Memory) {
        self.memory = memory
        memory.opened += 1
    }

    static let rates = ["yaw", "pitch"].map {
        ParameterDescription(
            name: $0, kind: .number, summary: "Rate.", unit: "degrees per second", minimum: -720,
            maximum: 720)
    }

    static let methods = [
        MethodDescription(
            name: "status", summary: "Returns the state.", access: .read,
            result: ["type": "object", "properties": ["mode": ["type": "string"]]]),
        MethodDescription(
            name: "rate", summary: "Turns the camera.", access: .write, parameters: rates),
        MethodDescription(
            name: "point", summary: "Turns the camera.", access: .write, parameters: rates),
        MethodDescription(
            name: "juggle", summary: "Does something new.", access: .action,
            parameters: [
                ParameterDescription(
                    name: "action", kind: .word, summary: "Action.", words: ["status", "start"]),
                ParameterDescription(
                    name: "balls", kind: .integer, summary: "Balls.", minimum: 1, maximum: 7,
                    required: true),
            ], result: ["type": "array", "items": ["type": "integer"]]),
        MethodDescription(
            name: "camera", summary: "Takes a photo.", access: .write,
            parameters: [
                ParameterDescription(
                    name: "action", kind: .word, summary: "Action.",
                    words: ["photo", "record", "stop", "set"], required: true)
            ]),
        MethodDescription(name: "save", summary: "Saves.", access: .write),
        MethodDescription(name: "reset_stop", summary: "Resets the stop.", access: .write),
        MethodDescription(name: "stop", summary: "Stops.", access: .write),
    ]

    func ask(
        _ method: String, _ params: [String: JSONValue]
    ) throws(ClientError) -> JSONValue {
        if memory.isDown { throw .unreachable("airframed has ended; start it.") }
        memory.requests.append(
            params.isEmpty ? method : "\(method) \(JSONValue.object(params).text)")
        if memory.refused.contains(method) {
            throw .refused(RequestError("refused", "\(method) is not possible; wait."))
        }
        if memory.cancelled.contains(method) {
            throw .refused(RequestError("cancelled", "The client cancelled the request."))
        }
        switch method {
        case "methods":
            return .array(
                Self.methods.map { method in
                    var members: [String: JSONValue] = [
                        "name": .string(method.name), "summary": .string(method.summary),
                        "access": .string(method.access.rawValue),
                        "parameters": .array(method.parameters.map(Self.json)),
                    ]
                    members["result"] = method.result
                    return .object(members)
                })
        case "get" where params["keys"] == ["motion.range_deg"]:
            return [
                ["key": "motion.range_deg", "value": [[-360, 360], [-45, 45], [-90, 90]]]
            ]
        case "get":
            return .array(
                [
                    ("mcp.max_rate_dps", 30), ("mcp.max_travel_deg", 90), ("mcp.max_turn_s", 10),
                    ("mcp.rollback_s", 60), ("commander.dead_man_s", 0.9),
                ].map { key, value in ["key": .string(key), "value": .double(value)] })
        case "status": return status
        case "point":
            for (axis, name) in ["yaw", "roll", "pitch"].enumerated() {
                memory.pose[axis] = params[name]?.number ?? memory.pose[axis]
            }
            guard memory.pose[2] > memory.highestPitch else {
                return ["sentence": "The camera turns."]
            }
            memory.pose[2] = memory.highestPitch
            return ["sentence": "The camera turns.", "limited_by": ["range"]]
        case "camera":
            memory.order += 1
            if memory.lostPhotos > 0 { memory.lostPhotos -= 1 } else { memory.photos? += 1 }
            return ["sentence": "A photo.", "number": .int(memory.order)]
        default: return ["sentence": "Done."]
        }
    }

    private var status: JSONValue {
        func axes(_ values: [Double]) -> JSONValue {
            .object([
                "yaw": .double(values[0]), "roll": .double(values[1]), "pitch": .double(values[2]),
            ])
        }
        var status: [String: JSONValue] = [
            "mode": .string(memory.mode), "state": "running",
            "attitude": ["yaw_deg": .double(memory.pose[0] - memory.lag)],
            "pointing": ["target_deg": axes(memory.pose)], "setpoint_deg": axes(memory.pose),
            "error_deg": axes([0.01, 0.01, 0.01]), "rate_dps": axes([0.1, 0.1, 0.1]),
        ]
        if let joint = memory.joint {
            status["joints"] = [
                "source": "encoders", "angle_deg": axes([joint, 0, 0]),
                "minimum_deg": axes([-170, -45, -120]), "maximum_deg": axes([170, 45, 120]),
            ]
        }
        if let photos = memory.photos {
            status["companions"] = [
                ["report": ["capture": ["photos": .int(photos), "order": .int(memory.order)]]]
            ]
        }
        return .object(status)
    }

    private static func json(_ parameter: ParameterDescription) -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(parameter.name), "kind": .string(parameter.kind.rawValue),
            "summary": .string(parameter.summary), "unit": .string(parameter.unit),
            "words": .array(parameter.words.map(JSONValue.string)),
            "required": .bool(parameter.required),
        ]
        if let minimum = parameter.minimum { members["minimum"] = .double(minimum.value) }
        if let maximum = parameter.maximum { members["maximum"] = .double(maximum.value) }
        return .object(members)
    }
}

/// A server with a fake daemon, and helpers to call the server.
struct Bench {
    let memory = FakeDaemon.Memory()
    let server: MCPServer

    init(isReadOnly: Bool = false, mayReset: Bool = false) throws {
        server = try MCPServer(
            name: "tester", isReadOnly: isReadOnly, mayReset: mayReset, manual: nil,
            version: "1.0.0"
        ) { [memory] () throws(ClientError) in
            if memory.isDown { throw .unreachable("There is no socket; start airframed.") }
            return FakeDaemon(memory)
        }
    }

    private static let meta: JSONValue = [
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": [:],
    ]

    /// Sends a request in the stateless protocol version, and returns the replies.
    func ask(
        _ method: String, _ params: [String: JSONValue] = [:], id: Int = 1, now: Double = 0
    ) throws -> [JSONValue] {
        let params = params.merging(["_meta": Self.meta]) { own, _ in own }
        return try send(
            [
                "jsonrpc": "2.0", "id": .int(id), "method": .string(method),
                "params": .object(params),
            ],
            now: now)
    }

    /// Calls a tool, and returns the replies.
    func call(
        _ tool: String, _ arguments: [String: JSONValue] = [:], id: Int = 1, now: Double = 0
    ) throws -> [JSONValue] {
        try ask(
            "tools/call", ["name": .string(tool), "arguments": .object(arguments)], id: id, now: now
        )
    }

    func send(_ message: JSONValue, now: Double = 0) throws -> [JSONValue] {
        try Self.parsed(server.receive(Array(message.text.utf8), now: now))
    }

    func tick(now: Double) throws -> [JSONValue] { try Self.parsed(server.tick(now: now)) }

    /// Returns the requests to the daemon since the last call of this method.
    func takeRequests() -> [String] {
        defer { memory.requests = [] }
        return memory.requests
    }

    private static func parsed(_ lines: [[UInt8]]) throws -> [JSONValue] {
        try lines.map { try JSONValue(parsing: $0) }
    }
}
