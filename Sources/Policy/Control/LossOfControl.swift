import GimbalCore
public import Port

/// Link-loss fallback: reaction to a client that becomes silent or disconnects while the camera
/// turns at the client's rates. First the camera keeps its attitude, later it enters the fallback
/// mode, and finally the outputs are switched off. Each of the three reactions is called a stage.
/// Any request ends the present stage, but only a request for a mode restores the previous mode.
///
/// Only a lost stream of rate requests triggers the fallback. A finished request does not trigger
/// the fallback. Therefore a one-shot `point`, a rate request of zero, and a release of control do
/// not start a stage. The type reads no clock; callers pass the time as an argument.
public struct LossOfControl: Sendable, Equatable {
    /// Stages of the link-loss fallback, mildest first.
    public typealias Stage = ControlState.Loss.Stage

    /// Times from the receipt of the last rate request to the start of each stage of the fallback.
    public struct Rules: Sendable, Equatable {
        /// Dead-man time of a rate request, s; when this time has passed, stage `hold` begins.
        public var holdSeconds = 1.0
        /// Time after the last rate request until stage `fallback`, s; 0 disables this stage.
        public var fallbackSeconds = 0.0
        /// Time after the last rate request until stage `off`, s; 0 disables this stage.
        public var offSeconds = 0.0

        /// Creates the default times.
        public init() {}

        /// Find the most severe stage of the fallback that is due.
        ///
        /// - Parameters:
        ///   - silence: Time since the last rate request, s.
        ///   - isCutOff: True if the connection has ended; no further rate request can then arrive.
        /// - Returns: The stage; nil while the last rate request is valid.
        public func stage(silence: Double, isCutOff: Bool) -> Stage? {
            if offSeconds > 0, silence >= offSeconds { return .off }
            if fallbackSeconds > 0, silence >= fallbackSeconds { return .fallback }
            return isCutOff || silence >= holdSeconds ? .hold : nil
        }
    }

    /// Source of the present stream of rate requests; nil without a stream.
    public private(set) var source: CommandSource?
    /// The present stage of the fallback; nil while the fallback is not active.
    public private(set) var stage: Stage?
    private var lastRates = Instant(nanoseconds: 0)
    /// True if the source's connection has ended.
    private(set) var isCutOff = false

    /// Creates a state without a stream of rate requests.
    public init() {}

    /// Records a rate request; the request ends the present stage of the fallback.
    mutating func turned(by source: CommandSource, now: Instant) {
        self = LossOfControl()
        self.source = source
        lastRates = now
    }

    /// Ends the stream of rate requests, because of another request or a stop.
    mutating func settle() { self = LossOfControl() }

    /// Records that the source's connection has ended.
    mutating func cutOff(_ source: CommandSource) {
        if self.source == source { isCutOff = true }
    }

    /// Time since the last rate request, s; nil without a stream.
    func silence(now: Instant) -> Double? { source == nil ? nil : now.seconds(since: lastRates) }

    /// Stage of the fallback that must begin now; nil unless a more severe stage than the present
    /// stage is due.
    func due(now: Instant, _ rules: Rules) -> Stage? {
        guard let silence = silence(now: now),
            let due = rules.stage(silence: silence, isCutOff: isCutOff)
        else { return nil }
        guard let stage else { return due }
        return due > stage ? due : nil
    }

    /// Records that a stage of the fallback has begun; `due` then does not return the stage again.
    mutating func enter(_ stage: Stage) { self.stage = stage }
}
