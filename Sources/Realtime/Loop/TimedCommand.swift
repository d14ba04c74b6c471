public import GimbalCore

/// A request on its way to the loop, with the instant at which it was received: `Stage.request` is
/// timed from there.
public struct TimedCommand: Sendable, BitwiseCopyable {
    /// What is wanted.
    public var command: Command
    /// When the link received it, on the loop's clock; nil for what nobody asked for.
    public var received: Instant?

    /// A request that was received then.
    public init(_ command: Command, received: Instant? = nil) {
        self.command = command
        self.received = received
    }
}
