import PlainText
import Wire

/// MCP tool that corresponds to a method of the daemon.
struct Tool: Sendable {
    /// Name of the tool.
    let name: String
    /// The daemon's method.
    let method: MethodDescription
    /// Accepted values of the parameter `action`; nil if the tool has no such parameter, or if an
    /// assistant can use all its values.
    let actions: [String]?
    /// Description of the tool, as `tools/list` returns it.
    let listing: JSONValue

    /// True if a call with these arguments is read-only.
    func onlyReads(_ arguments: [String: JSONValue]) -> Bool {
        switch method.access {
        case .read: true
        case .write: false
        case .action:
            arguments["action"].map { $0.string == actions?.first } ?? true
        }
    }
}

/// Limits of an assistant, from the settings `mcp` and `commander.dead_man_s`.
struct Limits: Sendable, Equatable {
    /// Highest rate of a rotation, degrees per second.
    var rateDps: Double
    /// Largest angle of one rotation, degrees.
    var travelDeg: Double
    /// Longest duration of a rotation at a constant rate, s.
    var turnS: Double
    /// Duration of a temporary change of a setting, s.
    var rollbackS: Double
    /// Timeout of a rotation in the daemon, s. The daemon ends the rotation if no further request
    /// arrives in this time.
    var deadManS: Double

    /// Keys of the settings that limit an assistant, for the method `get`.
    static let keys: [JSONValue] = ["mcp", "commander.dead_man_s"]

    /// Reads the limits from the reply to `get`; nil if a setting is missing.
    init?(_ answer: JSONValue) {
        var values: [String: Double] = [:]
        for setting in answer.array ?? [] {
            guard let key = setting["key"]?.string else { continue }
            values[key] = setting["value"]?.number
        }
        guard let rate = values["mcp.max_rate_dps"], let travel = values["mcp.max_travel_deg"],
            let turn = values["mcp.max_turn_s"], let rollback = values["mcp.rollback_s"],
            let deadMan = values["commander.dead_man_s"]
        else { return nil }
        (rateDps, travelDeg, turnS, rollbackS, deadManS) = (rate, travel, turn, rollback, deadMan)
    }
}

/// The MCP tools that correspond to the daemon's methods.
struct ToolCatalogue: Sendable {
    let tools: [Tool]

    init(_ methods: [MethodDescription], _ policy: ToolPolicy, _ limits: Limits) {
        // The server itself implements shots, with the methods that move the camera.
        let offered = (methods + [ShootTool.method(limits)]).filter(policy.offers)
        tools = offered.map { Self.tool($0, policy, limits) }
    }

    /// Finds a tool.
    ///
    /// - Throws: `invalidParams` with the names of similar tools.
    func tool(_ name: String) throws(RPCFailure) -> Tool {
        if let tool = tools.first(where: { $0.name == name }) { return tool }
        let names = tools.map(\.name)
        let hint = Suggestion.sentence(for: name, in: names)
        throw RPCFailure(
            .invalidParams,
            "There is no tool \"\(name.prefix(64))\"."
                + (hint.isEmpty ? " The tools are: \(names.joined(separator: ", "))." : hint))
    }

    private static func tool(
        _ method: MethodDescription, _ policy: ToolPolicy, _ limits: Limits
    ) -> Tool {
        let name = ToolPolicy.names[method.name] ?? method.name
        let actions = policy.actions(method)
        var properties: [String: JSONValue] = [:]
        var required: [JSONValue] = []
        for parameter in method.parameters {
            var schema = schema(parameter)
            if parameter.name == "action", let actions {
                schema["enum"] = .array(actions.map(JSONValue.string))
            }
            properties[parameter.name] = .object(schema)
            if parameter.required { required.append(.string(parameter.name)) }
        }
        var description = method.summary
        switch method.name {
        case "rate":
            for axis in ["yaw", "roll", "pitch"] {
                properties[axis] = narrowed(properties[axis], limits)
            }
            properties["duration"] = [
                "type": "number", "exclusiveMinimum": 0, "maximum": .double(limits.turnS),
                "description": "Duration of the rotation, seconds.",
            ]
            required.append("duration")
            description =
                "Rotates the camera at the given rates for the given time, then stops the camera; the call returns after the rotation. The rotation must not exceed \(Format.plain(limits.travelDeg)) degrees."
        case "point":
            properties["rate"] = narrowed(properties["rate"], limits)
            description +=
                " An axis can turn by at most \(Format.plain(limits.travelDeg)) degrees in one call, at no more than \(Format.plain(limits.rateDps)) degrees per second."
        case "set":
            description +=
                " The change always reverts after rollback seconds (\(Format.plain(limits.rollbackS)) s if rollback is missing), unless a person saves it with `airframectl save --assistant`."
        default: break
        }
        var input: [String: JSONValue] = [
            "type": "object", "properties": .object(properties), "additionalProperties": false,
        ]
        if !required.isEmpty { input["required"] = .array(required) }
        var listing: [String: JSONValue] = [
            "name": .string(name), "description": .string(description),
            "inputSchema": .object(input), "annotations": .object(policy.annotations(method)),
        ]
        listing["outputSchema"] = method.result.map(output)
        return Tool(name: name, method: method, actions: actions, listing: .object(listing))
    }

    /// JSON Schema of the structured result, which is an object. A list is returned as the member
    /// `items`.
    private static func output(_ schema: JSONValue) -> JSONValue {
        guard schema["type"] == "array" else { return schema }
        return ["type": "object", "properties": ["items": schema], "required": ["items"]]
    }

    /// JSON Schema (2020-12) of a parameter, with its unit in the description.
    private static func schema(_ parameter: ParameterDescription) -> [String: JSONValue] {
        let unit = parameter.unit.isEmpty ? "" : " Unit: \(parameter.unit)."
        var schema: [String: JSONValue] = ["description": .string(parameter.summary + unit)]
        let isWhole = parameter.kind == .integer
        func bound(_ number: Number?) -> JSONValue? {
            guard let value = number?.value else { return nil }
            return isWhole ? Int(exactly: value).map(JSONValue.int) : .double(value)
        }
        schema["minimum"] = bound(parameter.minimum)
        schema["maximum"] = bound(parameter.maximum)
        switch parameter.kind {
        case .number: schema["type"] = "number"
        case .integer: schema["type"] = "integer"
        case .text: schema["type"] = "string"
        case .bool: schema["type"] = "boolean"
        case .word:
            schema["type"] = "string"
            schema["enum"] = .array(parameter.words.map(JSONValue.string))
        case .texts:
            schema["type"] = "array"
            schema["items"] = ["type": "string"]
        case .any: break
        }
        return schema
    }

    /// The schema of a rate, with its range reduced to the assistant's limit.
    private static func narrowed(_ schema: JSONValue?, _ limits: Limits) -> JSONValue {
        var schema = schema?.object ?? [:]
        if let maximum = schema["maximum"]?.number {
            schema["maximum"] = .double(min(maximum, limits.rateDps))
        }
        if let minimum = schema["minimum"]?.number {
            schema["minimum"] = .double(max(minimum, -limits.rateDps))
        }
        return .object(schema)
    }
}
