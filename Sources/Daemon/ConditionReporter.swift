import GimbalCore
import Logging
import Realtime
import Wire

/// Turns the loop's conditions into log lines: one when a condition has held for a moment, one when the outputs come on
/// or go off. A condition that flickers is named once a second at most; the counters in `status` miss nothing.
struct ConditionReporter {
    /// One line for the log.
    struct Event: Equatable {
        let level: Logger.Level
        let sentence: String
        /// The condition that it is about.
        var condition: ConditionWords?

        /// What the journal gets as fields of their own.
        var metadata: Logger.Metadata {
            guard let condition else { return [:] }
            return [
                "AIRFRAME_REASON": "\(condition.name)", "MESSAGE_ID": "\(condition.messageID)",
            ]
        }

        /// A stream of rates that broke off, and what was done about it.
        static func loss(_ loss: Commander.Loss) -> Event {
            Event(
                level: loss.stage == .hold ? .info : .warning,
                sentence: "Nothing from whoever turned the camera: \(StatusReport.words(loss)).")
        }
    }

    private struct Watch {
        /// Since when the condition holds without a break.
        var since: Instant?
        /// Whether this appearance has been named.
        var isNamed = false
        /// When it held last, after it was named.
        var lastNamed: Instant?
    }

    /// How long a condition must hold before it is worth a line, s; the first tick has no sample yet.
    private static let holdSeconds = 0.02
    /// How long it must have been gone before its return is worth another, s.
    private static let quietSeconds = 1.0

    private var watches = [Watch](repeating: Watch(), count: Conditions.catalogue.count)
    private var isEnabled = false

    /// What is worth saying about this record.
    mutating func events(in record: TelemetryRecord) -> [Event] {
        let snapshot = record.snapshot
        var events: [Event] = []
        for (index, words) in Conditions.catalogue.enumerated() {
            let holds = snapshot.conditions.intersects(words.condition)
            if Self.advance(&watches[index], holds: holds, now: record.now) {
                events.append(
                    Event(
                        level: Self.level(of: words.condition),
                        sentence: "\(words.name): \(words.sentence)", condition: words))
            }
        }
        if snapshot.output.enabled != isEnabled {
            isEnabled = snapshot.output.enabled
            let sentence = isEnabled ? "The outputs come on." : "The outputs are off."
            events.append(Event(level: .notice, sentence: sentence))
        }
        return events
    }

    /// Follows one condition, and says whether it is to be named now.
    private static func advance(_ watch: inout Watch, holds: Bool, now: Instant) -> Bool {
        guard holds else {
            watch.since = nil
            watch.isNamed = false
            return false
        }
        let since = watch.since ?? now
        watch.since = since
        if watch.isNamed {
            watch.lastNamed = now
            return false
        }
        guard now.seconds(since: since) >= holdSeconds else { return false }
        let quiet = watch.lastNamed.map { since.seconds(since: $0) } ?? .infinity
        watch.isNamed = true
        watch.lastNamed = now
        return quiet >= quietSeconds
    }

    private static func level(of condition: Conditions) -> Logger.Level {
        switch Supervisor.response(to: condition.subtracting(.inactiveMode | .shutdown)) {
        case .off, .softOff: .error
        case .blockStart, .report: .info
        }
    }
}
