/// Commands for a gimbal: MAV_CMD.
public enum MAVLinkCommand: UInt16, Sendable, CaseIterable {
    /// Terminates the flight; airframed executes the command as an emergency stop.
    case flightTermination = 185
    /// Points the camera at a place on the earth.
    case roiLocation = 195
    /// Stops pointing the camera at a place or a vehicle.
    case roiNone = 197
    /// Points the camera at another vehicle, by its system ID.
    case roiSystem = 198
    /// Command of the older gimbal protocol that sets the stabilised axes.
    case mountConfigure = 204
    /// Command of the older gimbal protocol that sets pitch, roll and yaw in degrees.
    case mountControl = 205
    /// Calibrates a sensor: the gyroscope if the first parameter is 1.
    case preflightCalibration = 241
    /// Saves parameters on the disk if the first parameter is 1.
    case preflightStorage = 245
    /// Switches the motors on (first parameter 1) or off (first parameter 0).
    case armDisarm = 400
    /// Requests the interval of one kind of message.
    case getMessageInterval = 510
    /// Sets the interval of one kind of message, µs; 0 means the default interval, and -1 means
    /// never.
    case setMessageInterval = 511
    /// Requests a single message with the given message number.
    case requestMessage = 512
    /// Sets pitch and yaw in degrees, or rates.
    case gimbalManagerPitchYaw = 1000
    /// Sets the components in control.
    case gimbalManagerConfigure = 1001
}

/// Result of a command: MAV_RESULT.
public enum MAVLinkResult: UInt8, Sendable {
    /// The command was executed, or will be executed.
    case accepted = 0
    /// The command is not possible now. The sender can repeat the command later.
    case temporarilyRejected = 1
    /// The command is known, but was refused.
    case denied = 2
    /// The command is unknown.
    case unsupported = 3
    /// The execution of the command has failed.
    case failed = 4
    /// The command is accepted only as COMMAND_LONG.
    case longOnly = 7
    /// The command is known, but not with this MAV_FRAME.
    case unsupportedFrame = 9
    /// Only the component in control can send this command.
    case notInControl = 10
}
