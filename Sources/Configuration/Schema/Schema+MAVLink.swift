extension Schema {
    /// `[mavlink]`
    static let mavlink: [Setting] = [
        .endpoint(
            "mavlink.listen", \.mavlink.listen, .restart,
            "Where ground stations and autopilots reach the gimbal over UDP. All of them may take control, unless mavlink.require_signature is true.",
            hint: "0.0.0.0:14550 is what ground stations expect."),
        .endpoint(
            "mavlink.connect", \.mavlink.connect, .restart,
            "A ground station or autopilot that the gimbal speaks to by itself over UDP."),
        .optionalPath(
            "mavlink.serial", \.mavlink.serial, .restart,
            "Serial port to an autopilot or a telemetry radio."),
        .integer(
            "mavlink.baud", \.mavlink.baud, 1200...4_000_000, unit: "baud", .restart,
            "Speed of that port."),
        .integer(
            "mavlink.system", \.mavlink.system, 1...254, .restart,
            "System that the gimbal is part of: that of its vehicle."),
        .integer(
            "mavlink.component", \.mavlink.component, 1...255, .restart,
            "Component of the gimbal within it.",
            hint: "154 is the first gimbal, 171 to 175 are further ones."),
        .choice(
            "mavlink.role", \.mavlink.role, .restart,
            "Who manages the gimbal: manager is the gimbal itself, device leaves it to an autopilot."
        ),
        .bool(
            "mavlink.require_signature", \.mavlink.requireSignature, .restart,
            "Whether only frames signed with the passphrase in mavlink.key of persistence.directory count; an emergency stop always does."
        ),
    ]
}
