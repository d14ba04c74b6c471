/// Commands that a gimbal understands: MAV_CMD.
public enum MAVLinkCommand: UInt16, Sendable, CaseIterable {
    /// Ends everything: an emergency stop.
    case flightTermination = 185
    /// Old protocol: which axes are stabilised.
    case mountConfigure = 204
    /// Old protocol: pitch, roll and yaw in degrees.
    case mountControl = 205
    /// Calibrates a sensor; first parameter 1: the gyroscope.
    case preflightCalibration = 241
    /// Writes parameters to the disk; first parameter 1.
    case preflightStorage = 245
    /// Motors on (1) or off (0).
    case armDisarm = 400
    /// How often does a kind of message come?
    case getMessageInterval = 510
    /// Set the interval of a kind of message, µs; 0 = default, -1 = never.
    case setMessageInterval = 511
    /// Send a kind of message once.
    case requestMessage = 512
    /// Pitch and yaw in degrees, or rates.
    case gimbalManagerPitchYaw = 1000
    /// Set the components in control.
    case gimbalManagerConfigure = 1001
}

/// Result of a command: MAV_RESULT.
public enum MAVLinkResult: UInt8, Sendable {
    /// Done, or about to be.
    case accepted = 0
    /// Not now; it may be asked again.
    case temporarilyRejected = 1
    /// Understood, and refused.
    case denied = 2
    /// Not understood.
    case unsupported = 3
    /// Tried in vain.
    case failed = 4
    /// Only as COMMAND_LONG.
    case longOnly = 7
    /// Only the component in control may send this command.
    case notInControl = 10
}
