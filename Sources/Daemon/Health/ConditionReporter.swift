import GimbalCore
import Hardware
import Logging
import Policy
import Port
import Realtime
import Wire

/// Conversion of the loop's conditions into log messages. A message reports that a condition has
/// held for `holdSeconds` or has switched the motors off, or that the motors' outputs have been
/// switched on or off. A recurring condition is logged at growing intervals, with its number of
/// occurrences. The counters in `status` include every occurrence.
struct ConditionReporter {
    /// Event that the reporter adds to the log, as one line.
    struct Event: Equatable {
        let level: Logger.Level
        let sentence: String
        /// Condition that the event reports; nil for other events.
        var condition: ConditionWords?
        /// The axes of the condition.
        var axes = AxisSet.none

        /// Fields of the log line for systemd's journal.
        var metadata: Logger.Metadata {
            guard let condition else { return [:] }
            var fields: Logger.Metadata = [
                "AIRFRAME_REASON": "\(condition.name)", "MESSAGE_ID": "\(condition.messageID)",
            ]
            let names = axes.names
            if !names.isEmpty { fields["AIRFRAME_AXIS"] = .array(names.map { "\($0)" }) }
            return fields
        }

        /// Event that reports the end of a client's rate requests, and the gimbal's reaction.
        static func loss(_ loss: ControlState.Loss) -> Event {
            Event(
                level: loss.stage == .hold ? .info : .warning,
                sentence:
                    "The client that turned the camera has stopped sending requests: \(StatusReport.words(loss))."
            )
        }
    }

    private struct Watch {
        /// Start time of the current occurrence of the condition; nil if the condition does not
        /// hold.
        var since: Instant?
        /// True if the current occurrence of the condition has already been logged or counted.
        var isCounted = false
        /// Axes of the condition at its last occurrence.
        var axes = AxisSet.none
        var repetition: Repetition
        /// Longest pause within one occurrence of the condition, s.
        let longestPause: Double
        /// Time at which the condition last held; nil if it has never held.
        private var seen: Instant?
        /// Time at which an occurrence that has not been logged or counted last held.
        private var missed: Instant?

        init(repetition: Repetition, longestPause: Double) {
            self.repetition = repetition
            self.longestPause = longestPause
        }

        /// Updates the state of the condition.
        ///
        /// - Parameters:
        ///   - holds: True if the condition holds.
        ///   - isCause: True if the motors have just been switched off, and the condition is a
        ///     reason to do so.
        ///   - now: Time of the record.
        /// - Returns: True if the condition must be logged now.
        mutating func advance(holds: Bool, isCause: Bool, now: Instant) -> Bool {
            if holds, !isCounted { missed = now }
            if isCause, let missed, now.seconds(since: missed) < causeSeconds {
                self.missed = nil
                if holds { (since, seen, isCounted) = (since ?? now, now, true) }
                return repetition.happens(now: now)
            }
            guard holds else {
                if let seen, now.seconds(since: seen) < longestPause { return false }
                since = nil
                isCounted = false
                return false
            }
            seen = now
            let since = since ?? now
            self.since = since
            if isCounted {
                repetition.goesOn(now: now)
                return false
            }
            guard now.seconds(since: since) >= holdSeconds else { return false }
            isCounted = true
            missed = nil
            return repetition.happens(now: now)
        }
    }

    /// Minimum duration for which a condition must hold before it is logged, s. Shorter conditions,
    /// such as the missing sample in the first tick, are not logged.
    private static let holdSeconds = 0.02
    /// Longest time from the end of a condition until the motors are off because of it, s: the
    /// motors brake the camera first, or their outputs ramp down.
    private static let causeSeconds = 1.0
    /// Conditions that result from a request. These conditions are not faults, and each request is
    /// logged.
    private static let requested: Conditions =
        .inactiveMode | .retracted | .calibrating | .autotuning | .emergencyStop | .shutdown
    /// Longest pause between two excitations of an autotune, s. An autotune excites the camera many
    /// times, but is one request, and is logged once.
    private static let autotunePause = 5.0
    /// Longest interval between log messages about an intermittent fault, s.
    private static let faultSilence = 600.0
    /// Longest interval between log messages about outputs that switch on and off repeatedly, s.
    private static let outputSilence = 10.0

    private let encoders: EncoderReports
    private let drives: DriveReports
    private var watches = Conditions.catalogue.map { words in
        Watch(
            repetition: Repetition(
                longest: requested.intersects(words.condition) ? 1 : faultSilence),
            longestPause: words.condition.intersects(.autotuning) ? autotunePause : 0)
    }
    private var isEnabled = false
    /// The first two log messages about the outputs are written immediately.
    private var changes = Repetition(longest: outputSilence, first: 2)

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - encoders: Reports of the encoders; the log line uses them to name the joint of a missing
    ///     encoder.
    ///   - drives: Reports of the drives on a CAN bus; the log line uses them to name the joint of
    ///     a faulty drive.
    init(encoders: EncoderReports = EncoderReports(), drives: DriveReports = DriveReports()) {
        self.encoders = encoders
        self.drives = drives
    }

    /// Returns the log events that result from one record of the loop.
    mutating func events(in record: TelemetryRecord) -> [Event] {
        let snapshot = record.snapshot
        var events: [Event] = []
        let wentOff = isEnabled && !snapshot.output.enabled
        for (index, words) in Conditions.catalogue.enumerated() {
            let withheld = watches[index].repetition.withheld(now: record.now)
            let holds = snapshot.conditions.intersects(words.condition)
            if holds {
                watches[index].axes = axes(of: words.condition, in: snapshot)
            }
            let isCause = wentOff && Supervisor.response(to: words.condition) >= .softOff
            let isDue = watches[index].advance(holds: holds, isCause: isCause, now: record.now)
            if withheld != nil || isDue {
                events.append(Self.event(words, axes: watches[index].axes, withheld: withheld))
            }
        }
        if let event = outputs(isEnabled: snapshot.output.enabled, now: record.now) {
            events.append(event)
        }
        return events
    }

    private func axes(of condition: Conditions, in snapshot: StabilizerSnapshot) -> AxisSet {
        switch condition {
        case .encoderMissing: encoders.failing
        case .driveSilent: drives.silent
        case .driveFault, .driveOverload, .driveOverheated, .driveVoltage: drives.faulty
        default: snapshot.conditionAxes[condition]
        }
    }

    private static func event(
        _ words: ConditionWords, axes: AxisSet, withheld: Repetition.SuppressedLines?
    ) -> Event {
        let names = axes.names
        let place = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
        let more =
            withheld.map { " The condition occurred \(Self.more($0.count)) in \($0.words)." } ?? ""
        return Event(
            level: level(of: words.condition),
            sentence: "\(words.name)\(place): \(words.sentence)\(more)", condition: words,
            axes: axes)
    }

    private static func more(_ count: Int) -> String {
        count == 1 ? "once more" : "\(count) more times"
    }

    private mutating func outputs(isEnabled: Bool, now: Instant) -> Event? {
        if let withheld = changes.withheld(now: now) {
            self.isEnabled = isEnabled
            return Event(
                level: .notice,
                sentence:
                    "The motors are \(isEnabled ? "on" : "off"); they were switched \(Self.more(withheld.count)) in \(withheld.words)."
            )
        }
        guard isEnabled != self.isEnabled else { return nil }
        self.isEnabled = isEnabled
        guard changes.happens(now: now) else { return nil }
        return Event(
            level: .notice,
            sentence: isEnabled ? "The motors are on." : "The motors are off.")
    }

    private static func level(of condition: Conditions) -> Logger.Level {
        switch Supervisor.response(to: condition.subtracting(Supervisor.wishes | .shutdown)) {
        case .off, .brake, .softOff: .error
        case .blockStart, .report: .info
        }
    }
}

extension Repetition.SuppressedLines {
    /// The duration as text, in seconds or minutes.
    fileprivate var words: String {
        seconds < 100 ? "\(Int(seconds.rounded())) s" : "\(Int((seconds / 60).rounded())) min"
    }
}

extension AxisSet {
    /// Names of the axes: "yaw", "roll", "pitch", in this order.
    fileprivate var names: [String] {
        GimbalAxis.allCases.filter(contains).map(\.name)
    }
}
