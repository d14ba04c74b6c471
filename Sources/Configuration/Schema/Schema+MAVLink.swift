extension Schema {
    /// Settings of `[mavlink]`.
    static let mavlink: [Setting] = [
        .endpoint(
            "mavlink.listen", \.mavlink.listen, .restart,
            "UDP address for ground stations and autopilots. Every ground station and autopilot can take control, unless mavlink.require_signature is true.",
            hint: "Ground stations expect 0.0.0.0:14550."),
        .endpoint(
            "mavlink.connect", \.mavlink.connect, .restart,
            "UDP address of a ground station or autopilot that the gimbal contacts."
        ),
        .optionalPath(
            "mavlink.serial", \.mavlink.serial, .restart,
            "Serial port to an autopilot or a telemetry radio."),
        .integer(
            "mavlink.baud", \.mavlink.baud, 1200...4_000_000, unit: "baud", .restart,
            "Baud rate of the serial port."),
        .integer(
            "mavlink.system", \.mavlink.system, 1...254, .restart,
            "MAVLink system ID of the gimbal; set it to the system ID of the vehicle."),
        .integer(
            "mavlink.component", \.mavlink.component, 1...255, .restart,
            "MAVLink component ID of the gimbal.",
            hint:
                "MAVLink reserves the component ID 154 for the first gimbal, and 171 to 175 for further gimbals."
        ),
        .choice(
            "mavlink.role", \.mavlink.role, .restart,
            "Role in MAVLink's gimbal protocol: \"manager\" = the gimbal accepts commands from ground stations and autopilots, \"device\" = an autopilot is the gimbal manager and commands the gimbal."
        ),
        .bool(
            "mavlink.require_signature", \.mavlink.requireSignature, .restart,
            "If true, airframed accepts only frames that are signed with the key in the file mavlink.key in persistence.directory; an emergency stop needs no signature."
        ),
    ]
}
