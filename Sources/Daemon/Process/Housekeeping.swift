import Configuration
import GimbalCore
import Hardware
import Policy
import Realtime
import Synchronization

/// Periodic tasks outside the loop. The tasks pass telemetry to the hub and to the running jobs,
/// stop motions that have timed out, revert temporary changes of settings, and create log lines
/// about the loop's conditions.
///
/// Callers pass the time as an argument. The time comes from the computer's clock or from the
/// simulator's messages.
final class Housekeeping: Sendable {
    private struct State {
        var reporter: ConditionReporter
        var events: [ConditionReporter.Event] = []
    }

    /// Largest number of messages that wait for the log. The bound keeps the memory use constant if
    /// the reader of the log hangs.
    private static let capacity = 1000

    private let hub: TelemetryHub
    private let commander: Commander
    private let tuning: Tuning
    private let calibration: CalibrationService
    private let spectra: SpectrumService
    private let autotuning: AutotuneService
    private let setup: SetupService
    private let recorder: FlightRecorder?
    private let state: Mutex<State>

    /// Creates the tasks.
    ///
    /// - Parameters:
    ///   - hub: Receiver of the loop's records.
    ///   - commander: Owner of the dead-man timers, which release control if a client sends no
    ///     requests.
    ///   - tuning: Owner of the rollback timers, which revert changes that were not saved.
    ///   - calibration: Service of the calibrations, which receives every record.
    ///   - spectra: Service of the spectra, which receives every record.
    ///   - autotuning: Service of the autotune, which receives every record.
    ///   - setup: Service of the set-up, which receives every record.
    ///   - recorder: Flight recorder, which reads the loop's replay log; nil if the recorder is off.
    ///   - sensors: Reports of the sensors and drives, which name the joint of a faulty encoder or
    ///     drive.
    init(
        hub: TelemetryHub, commander: Commander, tuning: Tuning, calibration: CalibrationService,
        spectra: SpectrumService, autotuning: AutotuneService, setup: SetupService,
        recorder: FlightRecorder?, sensors: SensorReports
    ) {
        state = Mutex(
            State(
                reporter: ConditionReporter(encoders: sensors.encoders, drives: sensors.drives)))
        self.hub = hub
        self.commander = commander
        self.tuning = tuning
        self.calibration = calibration
        self.spectra = spectra
        self.autotuning = autotuning
        self.setup = setup
        self.recorder = recorder
    }

    /// Reads all waiting records of the loop, and passes them to the hub and the running jobs.
    func drain() {
        hub.drain { record in
            calibration.feed(record.snapshot)
            spectra.feed(record)
            autotuning.feed(record.snapshot)
            setup.feed(record)
            state.withLock { state in
                for event in state.reporter.events(in: record) { Self.keep(event, in: &state) }
            }
        }
        recorder?.poll()
    }

    /// Executes the actions of all timers that have expired, such as the end of a rate request or
    /// the rollback of a setting.
    ///
    /// - Parameters:
    ///   - now: Current time on the loop's clock.
    ///   - date: Current date, seconds since 1970.
    func advance(now: Instant, date: Double) {
        if let loss = commander.advance(now: now) { note(.loss(loss)) }
        tuning.advance(now: now)
        calibration.advance(now: now, date: date)
        autotuning.advance(now: now)
        setup.advance(now: now)
        spectra.advance(now: now, settings: tuning.settings)
    }

    /// Adds a message that will be written to the log.
    func note(_ event: ConditionReporter.Event) {
        state.withLock { Self.keep(event, in: &$0) }
    }

    /// Removes and returns the messages that were added since the last call.
    func takeEvents() -> [ConditionReporter.Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Resets the daemon to its state after the start: all jobs are cancelled, unsaved values are
    /// dropped, and no source is in control.
    ///
    /// - Parameter restartLoop: Function that restarts the loop with the newest tuning; it must not
    ///   call this object.
    func restart(_ restartLoop: () -> Void) {
        _ = calibration.cancel()
        _ = spectra.cancel()
        _ = autotuning.cancel()
        autotuning.advance(now: Instant(nanoseconds: 0))
        setup.cancel(now: Instant(nanoseconds: 0))
        tuning.restart()
        commander.restart(bootMode: tuning.settings.mode.boot, restartLoop: restartLoop)
        hub.restart()
    }

    private static func keep(_ event: ConditionReporter.Event, in state: inout State) {
        if state.events.count < capacity { state.events.append(event) }
    }
}
