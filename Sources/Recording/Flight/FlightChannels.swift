import GimbalCore

/// The channels of a flight recording.
public enum FlightChannels {
    /// Version of the file format. The version increases only if an older program would misread
    /// newer files. New fields and new channels do not change the version.
    public static let format = 1

    /// Name of the metadata record that identifies the file.
    public static let metadataName = "airframe"

    /// Name and version of the library that compresses the chunks.
    public static var compression: String { Zstd.version }

    static let tick: UInt16 = 1
    static let sample: UInt16 = 2
    static let command: UInt16 = 3
    static let parameters: UInt16 = 4
    static let state: UInt16 = 5
    static let event: UInt16 = 6

    /// All channels, with their types.
    public static let all: [MCAPChannel] = [
        channel(tick, TickMessage.self), channel(sample, SampleMessage.self),
        channel(command, CommandMessage.self), channel(parameters, ParametersMessage.self),
        channel(state, StateMessage.self), channel(event, EventMessage.self),
    ]

    private static func channel<Message: RecordedMessage>(
        _ id: UInt16, _ type: Message.Type
    ) -> MCAPChannel {
        MCAPChannel(
            id: id, topic: Message.topic,
            schemaName: "\(ProtobufDescriptor.package).\(Message.name)",
            schema: ProtobufDescriptor.fileSet(of: type))
    }
}

/// The conditions that the flight recorder treats as faults.
enum FlightFaults {
    /// Conditions that cause the recorder to write a file when they begin. Requests, limits and
    /// transient conditions are not treated as faults.
    static var conditions: Conditions {
        .imuMissing | .imuStale | .imuFrozen | .imuImplausible | .imuTimeFault | .busError
            | .gravityMismatch | .emergencyStop | .responseReversed | .loopUnreliable
            | .motorStalled | .motorSlipped | .rotorLost | .encoderMissing | .handleIMUMissing
            | .magnetometerMissing | .simulatorSilent | .driveSilent | .driveFault | .canBusOff
            | .motorPortLost | .driveOverload | .driveOverheated | .driveVoltage | .supplyEmpty
    }
}
