public import GimbalCore

/// A command for the loop, with the instant of its reception: `Stage.request` counts from there.
public struct TimedCommand: Sendable, BitwiseCopyable {
    /// The command.
    public var command: Command
    /// Instant of the reception by the link, on the loop's clock; nil for a command without a
    /// request.
    public var received: Instant?

    /// Creates a command with its time of reception.
    public init(_ command: Command, received: Instant? = nil) {
        self.command = command
        self.received = received
    }
}
