public import GimbalCore

/// Source in control, and mode: the `Commander` as others see it.
public struct ControlState: Sendable {
    /// The source in control of the camera and the stepper motors; nil: control is free.
    public var holder: CommandSource?
    /// The source in control of the wheels; nil: control is free.
    public var driver: CommandSource?
    /// Seconds since the holder's last request.
    public var age: Double?
    /// The mode in force, or asked for and about to be.
    public var mode: Mode
    /// Whether an emergency stop is latched.
    public var isStopped: Bool { stoppedBy != nil }
    /// The source of the latched stop; of several the one of the highest rank.
    public var stoppedBy: CommandSource?
    /// Requests refused since the start.
    public var refusals: UInt64 = 0
    /// The newest of them.
    public var lastRefusal: Refused?
    /// A stream of rates that broke off, without a request since.
    public var loss: Loss?

    /// A state without a source in control.
    public init(mode: Mode) { self.mode = mode }

    /// A stream of rates that broke off.
    public struct Loss: Sendable, Equatable {
        /// The source of the rates.
        public var source: CommandSource
        /// The stage that was entered last.
        public var stage: Stage
        /// Since the last rates, s.
        public var silence: Double

        /// Stages after a stream of rates has ended, mildest first.
        public enum Stage: UInt8, Sendable, Comparable, CaseIterable {
            /// The camera stands still and is held; the loop does so automatically, see `Command.rate`.
            case hold
            /// It goes to a mode of rest.
            case fallback
            /// The outputs are off.
            case off

            /// Milder first.
            public static func < (a: Stage, b: Stage) -> Bool { a.rawValue < b.rawValue }
        }

        /// A loss with these values.
        public init(source: CommandSource, stage: Stage, silence: Double) {
            self.source = source
            self.stage = stage
            self.silence = silence
        }
    }

    /// A request that was not carried out.
    public struct Refused: Sendable, Equatable {
        /// Source of the request.
        public var source: CommandSource
        /// Why not.
        public var reason: Refusal
        /// When, on the loop's clock.
        public var time: Instant

        /// A refusal with these values.
        public init(source: CommandSource, reason: Refusal, time: Instant) {
            self.source = source
            self.reason = reason
            self.time = time
        }
    }
}
