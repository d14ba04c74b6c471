import GimbalCore
import Hardware
import Logging
import Policy
import Port
import Realtime
import Wire

/// Turns the loop's conditions into log lines: one when a condition has held for a moment, one when the outputs come on
/// or go off. What flickers is named at intervals that grow, with how often it was; the counters in `status` miss nothing.
struct ConditionReporter {
    /// One line for the log.
    struct Event: Equatable {
        let level: Logger.Level
        let sentence: String
        /// The condition that it is about.
        var condition: ConditionWords?
        /// The axes that it is about.
        var axes = AxisSet.none

        /// What the journal gets as fields of their own.
        var metadata: Logger.Metadata {
            guard let condition else { return [:] }
            var fields: Logger.Metadata = [
                "AIRFRAME_REASON": "\(condition.name)", "MESSAGE_ID": "\(condition.messageID)",
            ]
            let names = axes.names
            if !names.isEmpty { fields["AIRFRAME_AXIS"] = .array(names.map { "\($0)" }) }
            return fields
        }

        /// A stream of rates that broke off, and what was done about it.
        static func loss(_ loss: ControlState.Loss) -> Event {
            Event(
                level: loss.stage == .hold ? .info : .warning,
                sentence:
                    "The client that turned the camera is silent: \(StatusReport.words(loss)).")
        }
    }

    private struct Watch {
        /// Since when the condition holds without a break.
        var since: Instant?
        /// Whether this appearance has been named, or withheld.
        var isCounted = false
        /// On which axes it held last.
        var axes = AxisSet.none
        var repetition: Repetition

        /// Follows the condition, and says whether it is to be named now.
        mutating func advance(holds: Bool, now: Instant) -> Bool {
            guard holds else {
                since = nil
                isCounted = false
                return false
            }
            let since = since ?? now
            self.since = since
            if isCounted {
                repetition.goesOn(now: now)
                return false
            }
            guard now.seconds(since: since) >= holdSeconds else { return false }
            isCounted = true
            return repetition.happens(now: now)
        }
    }

    /// How long a condition must hold before it is worth a line, s; the first tick has no sample yet.
    private static let holdSeconds = 0.02
    /// What somebody asked for is no fault: whoever asks again wants to see it.
    private static let wishes: Conditions =
        .inactiveMode | .retracted | .calibrating | .autotuning | .emergencyStop | .shutdown
    /// Longest silence about a fault that goes on flickering, s.
    private static let faultSilence = 600.0
    /// Longest silence about outputs that do, s.
    private static let outputSilence = 10.0

    private let encoders: EncoderReports
    private var watches = Conditions.catalogue.map { words in
        Watch(
            repetition: Repetition(
                longest: wishes.intersects(words.condition) ? 1 : faultSilence))
    }
    private var isEnabled = false
    /// On and off again are two lines at once.
    private var changes = Repetition(longest: outputSilence, first: 2)

    /// - Parameter encoders: Says which joint a missing encoder is about: the loop only knows that one is missing.
    init(encoders: EncoderReports = EncoderReports()) {
        self.encoders = encoders
    }

    /// What is worth saying about this record.
    mutating func events(in record: TelemetryRecord) -> [Event] {
        let snapshot = record.snapshot
        var events: [Event] = []
        for (index, words) in Conditions.catalogue.enumerated() {
            let withheld = watches[index].repetition.withheld(now: record.now)
            let holds = snapshot.conditions.intersects(words.condition)
            if holds {
                watches[index].axes =
                    words.condition == .encoderMissing
                    ? encoders.failing : snapshot.conditionAxes[words.condition]
            }
            let isDue = watches[index].advance(holds: holds, now: record.now)
            if withheld != nil || isDue {
                events.append(Self.event(words, axes: watches[index].axes, withheld: withheld))
            }
        }
        if let event = outputs(isEnabled: snapshot.output.enabled, now: record.now) {
            events.append(event)
        }
        return events
    }

    private static func event(
        _ words: ConditionWords, axes: AxisSet, withheld: Repetition.Withheld?
    ) -> Event {
        let names = axes.names
        let place = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
        let more = withheld.map { " \($0.count) more times in \($0.words)." } ?? ""
        return Event(
            level: level(of: words.condition),
            sentence: "\(words.name)\(place): \(words.sentence)\(more)", condition: words,
            axes: axes)
    }

    private mutating func outputs(isEnabled: Bool, now: Instant) -> Event? {
        if let withheld = changes.withheld(now: now) {
            self.isEnabled = isEnabled
            return Event(
                level: .notice,
                sentence:
                    "The outputs are \(isEnabled ? "on" : "off"), after \(withheld.count) more changes in \(withheld.words)."
            )
        }
        guard isEnabled != self.isEnabled else { return nil }
        self.isEnabled = isEnabled
        guard changes.happens(now: now) else { return nil }
        return Event(
            level: .notice,
            sentence: isEnabled ? "The outputs come on." : "The outputs are off.")
    }

    private static func level(of condition: Conditions) -> Logger.Level {
        switch Supervisor.response(to: condition.subtracting(.inactiveMode | .shutdown)) {
        case .off, .brake, .softOff: .error
        case .blockStart, .report: .info
        }
    }
}

extension Repetition.Withheld {
    /// How long, for people.
    fileprivate var words: String {
        seconds < 100 ? "\(Int(seconds.rounded())) s" : "\(Int((seconds / 60).rounded())) min"
    }
}

extension AxisSet {
    /// "yaw", "roll", "pitch", in this order.
    fileprivate var names: [String] {
        GimbalAxis.allCases.filter(contains).map(\.name)
    }
}
