public import GimbalCore

/// State of control: the sources in control, the mode, and the latched stop.
public struct ControlState: Sendable {
    /// The source in control of the camera and the stepper motors; nil if no source controls them.
    public var holder: CommandSource?
    /// The source of the newest request that moved the camera or took control; nil before the first
    /// request. This source can have left since.
    public var lastMover: CommandSource?
    /// The source in control of the wheels; nil if no source controls them.
    public var driver: CommandSource?
    /// Time since the last request of `holder`, s; nil if no source is in control.
    public var age: Double?
    /// The active mode, or the requested mode if the loop has not executed the request yet.
    public var mode: Mode
    /// True if an emergency stop is latched.
    public var isStopped: Bool { stoppedBy != nil }
    /// The source of the latched stop. If several sources have requested a stop, the property
    /// contains the source with the highest rank.
    public var stoppedBy: CommandSource?
    /// Links whose emergency stop is latched, in alphabetical order.
    public var stops: [CommandSource.Link] = []
    /// Number of refused requests since the start.
    public var refusals: UInt64 = 0
    /// The newest refused request; nil if no request was refused.
    public var lastRefusal: Refused?
    /// Loss of a stream of rate requests; nil if no stream is lost, or if another request has
    /// arrived since the loss.
    public var loss: Loss?

    /// Creates a state without a source in control.
    public init(mode: Mode) { self.mode = mode }

    /// Loss of a stream of rate requests: the source has stopped sending.
    public struct Loss: Sendable, Equatable {
        /// The source of the rate requests.
        public var source: CommandSource
        /// Present reaction to the lost stream of rate requests.
        public var stage: Stage
        /// Time since the last rate request, s.
        public var silence: Double
        /// True if the connection of the source has ended.
        public var hasDisconnected: Bool

        /// Reactions to the end of a stream of rate requests, mildest first. A longer silence
        /// causes a stronger reaction.
        public enum Stage: UInt8, Sendable, Comparable, CaseIterable {
            /// The camera stops and keeps its attitude. The loop stops the camera automatically,
            /// see `Command.rate`.
            case hold
            /// The camera enters the fallback mode.
            case fallback
            /// The motors' outputs are off.
            case off

            /// True if reaction `a` is milder than reaction `b`.
            public static func < (a: Stage, b: Stage) -> Bool { a.rawValue < b.rawValue }
        }

        /// Creates the description of a lost stream of rate requests.
        public init(
            source: CommandSource, stage: Stage, silence: Double, hasDisconnected: Bool = false
        ) {
            self.source = source
            self.stage = stage
            self.silence = silence
            self.hasDisconnected = hasDisconnected
        }
    }

    /// A refused request.
    public struct Refused: Sendable, Equatable {
        /// Source of the request.
        public var source: CommandSource
        /// Reason for the refusal.
        public var reason: Refusal
        /// Time of the refusal, on the loop's clock.
        public var time: Instant

        /// Creates a record of a refused request.
        public init(source: CommandSource, reason: Refusal, time: Instant) {
            self.source = source
            self.reason = reason
            self.time = time
        }
    }
}
