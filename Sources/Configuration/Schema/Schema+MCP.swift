import Port

extension Schema {
    /// Settings of `[mcp]`.
    static let mcp: [Setting] = [
        .number(
            "mcp.max_rate_dps", \.mcp.maxRateDps, 1...360, unit: "deg/s", .live,
            "Highest rate at which an assistant can turn the camera."),
        .number(
            "mcp.max_travel_deg", \.mcp.maxTravelDeg, 1...360, unit: "deg", .live,
            "Largest angle by which an assistant can turn an axis in one request."),
        .number(
            "mcp.max_turn_s", \.mcp.maxTurnS, 0.1...60, unit: "s", .live,
            "Longest duration of one rotation that an assistant requests."),
        .number(
            "mcp.max_drive", \.mcp.maxDrive, 0...1, .live,
            "Highest speed of the wheels that an assistant can request, as a fraction of full speed."
        ),
        .number(
            "mcp.rollback_s", \.mcp.rollbackS, Rollback.seconds, unit: "s", .live,
            "Default time after which an assistant's change of a setting reverts, unless a person saves it."
        ),
    ]
}
