import Wire

/// Rules that decide which methods of the daemon become MCP tools. A method without a rule becomes
/// a tool of the same name. The tool is marked as destructive, so clients ask the user before they
/// call it.
struct ToolPolicy: Sendable {
    /// True if the assistant has read-only access. An emergency stop is always possible.
    var isReadOnly = false
    /// True if the assistant can reset an emergency stop.
    var mayReset = false

    /// Names of tools that differ from the name of their method.
    static let names = [
        "rate": "turn", "follow": "track", "baseline": "baselines", "record": "recordings",
    ]

    /// Methods without a tool, each with the reason.
    static let hidden: [String: String] = [
        "aim": "For programs that follow a person. `track` starts such a program.",
        "attitude":
            "For programs that compare pictures with the attitude at the time of exposure. `status` contains the present angles.",
        "client": "The server declares itself as an assistant's with this method.",
        "companion": "For reports of companion programs such as airframe-eyes.",
        "hardware": "For the set-up of the buses, which a person connects.",
        "keys": "Returns the same as `get` without parameters.",
        "pair": "Grants access to phones.",
        "ping": "For programs that measure the connection. MCP has its own `ping`.",
        "recentre": "Turns the camera by any angle. `point` turns it within the limits.",
        "reload": "Makes changes of files permanent, which only a person may do.",
        "save": "Makes changes permanent, which only a person may do.",
        "subscribe": "Streams values, which tools cannot do.",
        "take": "Keeps control without a motion. Every tool that moves the camera takes control.",
        "track": "For programs that steer the camera at a high rate. `turn` rotates the camera.",
        "unsubscribe": "Ends a stream of `subscribe`.",
        "variables": "Lists the variables of `subscribe`.",
    ]

    /// Methods with write access that are not destructive: they move the camera within its limits,
    /// or change a setting temporarily.
    private static let harmless: Set<String> = [
        "follow", "point", "rate", "record", "release", "set", "shoot", "spectrum", "stop",
    ]

    /// Values of the parameter `action` that an assistant cannot use.
    private static let barredActions = [
        "baseline": ["delete"], "calibrate": ["undo"], "camera": ["set"],
        "controls": ["learn", "cancel"],
        "setup": ["start", "confirm", "skip", "undo", "cancel", "again"],
    ]

    /// True if the method becomes a tool.
    func offers(_ method: MethodDescription) -> Bool {
        if method.name == "stop" { return true }
        if method.name == "reset_stop", !mayReset { return false }
        if Self.hidden[method.name] != nil { return false }
        if method.name == ShootTool.name { return !isReadOnly }
        return !isReadOnly || method.access != .write
    }

    /// Accepted values of the parameter `action`; nil if the method has no such parameter, or if an
    /// assistant can use all its values.
    func actions(_ method: MethodDescription) -> [String]? {
        let barred = Self.barredActions[method.name]
        guard method.access == .action || barred != nil,
            let action = method.parameters.first(where: { $0.name == "action" })
        else { return nil }
        if isReadOnly, method.access == .action { return Array(action.words.prefix(1)) }
        return action.words.filter { barred?.contains($0) != true }
    }

    /// Annotations of a tool for the client, for example whether the tool is read-only. Source: MCP
    /// schema, `ToolAnnotations`.
    func annotations(_ method: MethodDescription) -> [String: JSONValue] {
        let reads =
            method.access == .read || (isReadOnly && method.access == .action)
        return [
            "readOnlyHint": .bool(reads),
            "destructiveHint": .bool(!reads && !Self.harmless.contains(method.name)),
            "idempotentHint": .bool(reads || ["stop", "mode", "set"].contains(method.name)),
            "openWorldHint": false,
        ]
    }
}
