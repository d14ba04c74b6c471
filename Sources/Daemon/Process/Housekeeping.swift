import Configuration
import GimbalCore
import Hardware
import Policy
import Realtime
import Synchronization

/// Everything that happens now and then beside the loop: telemetry into the hub and to a
/// calibration, dead-man timers, rollbacks, and the sentences about what the loop has counted.
///
/// Time is an argument: a timer drives it with the computer's clock, a simulator with its lines.
final class Housekeeping: Sendable {
    private struct State {
        var reporter: ConditionReporter
        var events: [ConditionReporter.Event] = []
    }

    /// Sentences that wait for the log; a reader of the log that hangs must not cost memory without
    /// end.
    private static let capacity = 1000

    private let hub: TelemetryHub
    private let commander: Commander
    private let tuning: Tuning
    private let calibration: CalibrationService
    private let spectra: SpectrumService
    private let autotuning: AutotuneService
    private let recorder: FlightRecorder?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - hub: Where the loop's records end up.
    ///   - commander: Gives control back after silence.
    ///   - tuning: Takes back what nobody kept.
    ///   - calibration: Sees every record.
    ///   - spectra: Sees every record.
    ///   - autotuning: Sees every record.
    ///   - recorder: Reads the loop's tape; nil without one.
    ///   - encoders: Says which joint a missing encoder is about.
    init(
        hub: TelemetryHub, commander: Commander, tuning: Tuning, calibration: CalibrationService,
        spectra: SpectrumService, autotuning: AutotuneService, recorder: FlightRecorder?,
        encoders: EncoderReports
    ) {
        state = Mutex(State(reporter: ConditionReporter(encoders: encoders)))
        self.hub = hub
        self.commander = commander
        self.tuning = tuning
        self.calibration = calibration
        self.spectra = spectra
        self.autotuning = autotuning
        self.recorder = recorder
    }

    /// Takes what the loop has recorded.
    func drain() {
        hub.drain { record in
            calibration.feed(record.snapshot)
            spectra.feed(record)
            autotuning.feed(record.snapshot)
            state.withLock { state in
                for event in state.reporter.events(in: record) { Self.keep(event, in: &state) }
            }
        }
        recorder?.poll()
    }

    /// Lets timers run out.
    ///
    /// - Parameters:
    ///   - now: On the loop's clock.
    ///   - date: Wall clock, seconds since 1970.
    func advance(now: Instant, date: Double) {
        if let loss = commander.advance(now: now) { note(.loss(loss)) }
        tuning.advance(now: now)
        calibration.advance(now: now, date: date)
        autotuning.advance(now: now)
        spectra.advance(now: now, settings: tuning.settings)
    }

    /// Adds a sentence for the log.
    func note(_ event: ConditionReporter.Event) {
        state.withLock { Self.keep(event, in: &$0) }
    }

    /// The sentences since the last call.
    func takeEvents() -> [ConditionReporter.Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Begins afresh, as after a start: nothing goes on, nothing unsaved is in force, nobody is in
    /// control.
    ///
    /// - Parameter restartLoop: Makes the loop start afresh with the newest tuning; must not call
    ///   back.
    func restart(_ restartLoop: () -> Void) {
        _ = calibration.cancel()
        _ = spectra.cancel()
        _ = autotuning.cancel()
        autotuning.advance(now: Instant(nanoseconds: 0))
        tuning.restart()
        commander.restart(bootMode: tuning.settings.mode.boot, restartLoop: restartLoop)
        hub.restart()
    }

    private static func keep(_ event: ConditionReporter.Event, in state: inout State) {
        if state.events.count < capacity { state.events.append(event) }
    }
}
