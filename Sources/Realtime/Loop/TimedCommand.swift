public import GimbalCore

/// A command for the loop, with its times on the loop's clock.
public struct TimedCommand: Sendable, BitwiseCopyable {
    /// The command.
    public var command: Command
    /// Time at which the link received the request, and start of `Stage.request`; nil for a command
    /// without a request.
    public var received: Instant?
    /// End of the dead-man time; a time in the past for a command without a dead-man time.
    public var validUntil: Instant

    /// Creates a command with its times.
    public init(
        _ command: Command, received: Instant? = nil,
        validUntil: Instant = Instant(nanoseconds: 0)
    ) {
        self.command = command
        self.received = received
        self.validUntil = validUntil
    }
}
