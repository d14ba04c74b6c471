import GimbalCore

/// The channels of a flight recording.
public enum FlightChannels {
    /// Grows when a program that knows the old files would misread new ones; new fields and
    /// channels do not count.
    public static let format = 1

    /// Name of the metadata record that says what a file is.
    public static let metadataName = "airframe"

    /// What compresses the chunks, with its version.
    public static var compression: String { Zstd.version }

    static let tick: UInt16 = 1
    static let sample: UInt16 = 2
    static let command: UInt16 = 3
    static let parameters: UInt16 = 4
    static let state: UInt16 = 5
    static let event: UInt16 = 6

    /// All of them, with their types.
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

/// What the flight recorder takes for a fault.
enum FlightFaults {
    /// Conditions whose beginning is worth a file. Wishes, limits and what passes by itself are
    /// none.
    static var conditions: Conditions {
        .imuMissing | .imuStale | .imuFrozen | .imuImplausible | .imuTimeFault | .busError
            | .gravityMismatch | .emergencyStop | .responseReversed | .loopUnreliable
            | .motorStalled | .motorSlipped | .rotorLost | .encoderMissing | .handleIMUMissing
            | .magnetometerMissing | .simulatorSilent
    }
}
