import GimbalCore
public import Port

/// Link-loss fallback of a camera whose client became silent or disconnected during a turn: first
/// the camera is held, later it enters a rest mode, and finally its motors go off. The next request
/// ends each stage; the previous mode returns only on request.
///
/// Only a stream of rates can be lost. A finished request does not trigger the fallback: a one-shot
/// `point`, a stop of the rates, and a release of control start no stage. Pure: time is an
/// argument.
public struct LossOfControl: Sendable, Equatable {
    /// Stages, mildest first.
    public typealias Stage = ControlState.Loss.Stage

    /// Start of each stage, counted from the receipt of the last rates.
    public struct Rules: Sendable, Equatable {
        /// Silence after which rates expire, s.
        public var holdSeconds = 1.0
        /// Silence until `fallback`, s; 0 disables it.
        public var fallbackSeconds = 0.0
        /// Silence until `off`, s; 0 disables it.
        public var offSeconds = 0.0

        /// The defaults.
        public init() {}

        /// The most severe stage that is due.
        ///
        /// - Parameters:
        ///   - silence: Time since the last rates, s.
        ///   - isCutOff: Whether the connection has ended, so that no more rates can arrive.
        /// - Returns: The stage; nil while the rates are valid.
        public func stage(silence: Double, isCutOff: Bool) -> Stage? {
            if offSeconds > 0, silence >= offSeconds { return .off }
            if fallbackSeconds > 0, silence >= fallbackSeconds { return .fallback }
            return isCutOff || silence >= holdSeconds ? .hold : nil
        }
    }

    /// Source of the open stream of rates; nil without a stream.
    public private(set) var source: CommandSource?
    /// The present stage.
    public private(set) var stage: Stage?
    private var lastRates = Instant(nanoseconds: 0)
    private var isCutOff = false

    /// A state without a stream of rates.
    public init() {}

    /// Registers rates: the present stage ends.
    mutating func turned(by source: CommandSource, now: Instant) {
        self = LossOfControl()
        self.source = source
        lastRates = now
    }

    /// Ends the stream, because of another request or a stop.
    mutating func settle() { self = LossOfControl() }

    /// Registers the end of the source's connection.
    mutating func cutOff(_ source: CommandSource) {
        if self.source == source { isCutOff = true }
    }

    /// Time since the last rates, s; nil without a stream.
    func silence(now: Instant) -> Double? { source == nil ? nil : now.seconds(since: lastRates) }

    /// The stage to enter now: a stage that is due and more severe than the present stage.
    func due(now: Instant, _ rules: Rules) -> Stage? {
        guard let silence = silence(now: now),
            let due = rules.stage(silence: silence, isCutOff: isCutOff)
        else { return nil }
        guard let stage else { return due }
        return due > stage ? due : nil
    }

    /// Registers that the stage was entered.
    mutating func enter(_ stage: Stage) { self.stage = stage }
}
