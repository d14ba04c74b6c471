import GimbalCore
public import Port

/// What becomes of a camera that somebody was turning when he fell silent or was cut off: it is held, after a while it goes
/// to a mode of rest, after another its motors go off. Each stage ends when somebody asks for something; a mode that was
/// left comes back only when somebody asks for that mode.
///
/// Only a stream of rates can break off. Whoever points the camera and says no more has lost nothing, and whoever
/// stops the rates or gives control back has ended the stream himself. Pure: time is an argument.
public struct LossOfControl: Sendable, Equatable {
    /// What is done, mildest first.
    public typealias Stage = ControlState.Loss.Stage

    /// When each stage begins, counted from the receipt of the last rates.
    public struct Rules: Sendable, Equatable {
        /// Rates are dead after this silence, s.
        public var holdSeconds = 1.0
        /// Silence until `fallback`, s; 0: never.
        public var fallbackSeconds = 0.0
        /// Silence until `off`, s; 0: never.
        public var offSeconds = 0.0

        /// The defaults.
        public init() {}

        /// The most severe stage that is due.
        ///
        /// - Parameters:
        ///   - silence: Since the last rates, s.
        ///   - isCutOff: Whether it is known that no more will come.
        /// - Returns: Nil while the rates are in force.
        public func stage(silence: Double, isCutOff: Bool) -> Stage? {
            if offSeconds > 0, silence >= offSeconds { return .off }
            if fallbackSeconds > 0, silence >= fallbackSeconds { return .fallback }
            return isCutOff || silence >= holdSeconds ? .hold : nil
        }
    }

    /// Who sent the rates that nobody has ended; nil while nothing can be lost.
    public private(set) var source: CommandSource?
    /// The stage that was entered.
    public private(set) var stage: Stage?
    private var lastRates = Instant(nanoseconds: 0)
    private var isCutOff = false

    /// Nobody turns the camera.
    public init() {}

    /// Rates have come: whatever was entered is over.
    mutating func turned(by source: CommandSource, now: Instant) {
        self = LossOfControl()
        self.source = source
        lastRates = now
    }

    /// Somebody has said what is to be instead, or that it is to end.
    mutating func settle() { self = LossOfControl() }

    /// The source's connection is gone.
    mutating func cutOff(_ source: CommandSource) {
        if self.source == source { isCutOff = true }
    }

    /// Seconds since the last rates; nil while nothing can be lost.
    func silence(now: Instant) -> Double? { source == nil ? nil : now.seconds(since: lastRates) }

    /// The stage to enter now: due, and more severe than the one that was.
    func due(now: Instant, _ rules: Rules) -> Stage? {
        guard let silence = silence(now: now),
            let due = rules.stage(silence: silence, isCutOff: isCutOff)
        else { return nil }
        guard let stage else { return due }
        return due > stage ? due : nil
    }

    /// The stage was entered.
    mutating func enter(_ stage: Stage) { self.stage = stage }
}
