package import Calibration
package import Configuration
import Glibc
package import Logging
package import Persistence
package import Port
import Realtime
import Synchronization
import SystemPackage

/// Owner of the state directory. The owner holds all saved data in memory. The owner also runs the
/// only thread that writes the data to the disk.
///
/// Callers never wait. A change is a function that modifies the saved state. Therefore changes of
/// several links never overwrite each other, even on a slow disk. Changes that arrive during a
/// write are written together in the next write. A change is confirmed only when it would survive a
/// power cut. A refused change has no effect.
package final class StateOwner: Sendable {
    /// Function that changes the saved state, or throws a refusal with the reason.
    package typealias Change = @Sendable (inout SavedState) throws -> Void

    private struct Waiting: Sendable {
        var number: Int
        var note: SavedState.Change
        var change: Change
        var done: Later<SavedState>
    }

    private struct Contents {
        var state = SavedState()
        /// Name and place of the configured sensor; nil before `load`.
        var sensor: String?
        var waiting: [Waiting] = []
        var next = 0
    }

    /// Largest number of changes that wait for the disk; further changes are refused.
    private static let capacity = 64

    private let contents = Mutex(Contents())
    private let store: StateStore
    private let directory: FilePath
    private let worker = Worker(ThreadTable.state, capacity: 2 * StateOwner.capacity)
    private let log: Logger
    /// History of changes, of this process and of earlier processes.
    package let history = ChangeHistory()

    /// Creates an owner.
    ///
    /// - Parameters:
    ///   - directory: The setting `persistence.directory`. The directory is created if its parent
    ///     directory exists.
    ///   - calls: System calls, which tests replace.
    ///   - log: Log that receives the name of each unreadable value, and the reason.
    package init(directory: String, calls: FileCalls = .system, log: Logger) {
        self.directory = FilePath(directory)
        self.log = log
        store = StateStore(directory: self.directory, calls: calls)
        // systemd creates the directory (StateDirectory=); without systemd, airframed creates the
        // last component of the path here. `load` reports a failure.
        _ = self.directory.withPlatformString { mkdir($0, 0o750) }
    }

    /// Locks the directory for this process until the result is released.
    ///
    /// - Throws: `StateProblem` if another process has locked the directory.
    package func lock() throws(StateProblem) -> StateLock? { try StateLock.take(directory) }

    /// The saved state.
    package var saved: SavedState { contents.withLock { $0.state } }

    /// All valid saved calibrations.
    package var calibrations: ActiveCalibrations { calibrations(in: saved).book }

    /// Reads the calibrations of a saved state, for the configured sensor.
    func calibrations(in state: SavedState) -> (book: ActiveCalibrations, damaged: [String]) {
        ActiveCalibrations.read(
            state.calibration, sensors: state.calibratedSensors ?? [:],
            sensor: contents.withLock { $0.sensor })
    }

    /// Reads the saved values, which override the values in the configuration files. The method
    /// never fails; it logs and ignores unreadable values.
    package func load(into configuration: LoadedConfiguration) -> ParameterStore {
        let loaded = store.load()
        contents.withLock { $0.state = loaded.state }
        history.restore(loaded.state.history)
        for problem in loaded.problems { log.warning("Saved tuning: \(problem)") }
        if loaded.source == .previous {
            log.warning(
                "Saved tuning: the newest saved version cannot be read, so airframed uses the previous version."
            )
        }
        var parameters = ParameterStore(configuration)
        for problem in parameters.load(saved: loaded.state.parameters) {
            log.warning("Saved tuning: \(problem)")
        }
        let sensor = parameters.settings.sensorName
        let kinds = parameters.settings.calibrationKinds
        contents.withLock { $0.sensor = sensor }
        let (book, damaged) = calibrations(in: loaded.state)
        for name in damaged {
            log.warning(
                "The saved calibration \(name) is invalid, so airframed ignores it; calibrate again."
            )
        }
        for record in book.ignored where kinds.contains(record.kind) {
            log.warning(
                "The saved calibration \(record.kind.rawValue) belongs to another sensor (\(record.sensor ?? "")), so airframed ignores it; the configured sensor is \(sensor)."
            )
        }
        if let sentence = parameters.ignoredSentence { log.warning("\(sentence)") }
        return parameters
    }

    /// Writes a change of the saved state.
    ///
    /// - Parameters:
    ///   - who: Author of the change, for the history.
    ///   - what: Description of the change for the history, without a subject or a full stop.
    ///   - change: Function that applies the change to a state, or throws the reason for a refusal.
    ///     The function can be called again with another state.
    ///   - done: Closure that receives the state on the disk, or the problem.
    package func write(
        by who: String, _ what: String, _ change: @escaping Change,
        done: @escaping Later<SavedState>
    ) {
        let note = SavedState.Change(time: WallClock.seconds, who: who, what: what)
        let number: Int? = contents.withLock { contents in
            guard contents.waiting.count < Self.capacity else { return nil }
            contents.next += 1
            contents.waiting.append(
                Waiting(number: contents.next, note: note, change: change, done: done))
            return contents.next
        }
        guard let number else {
            return done(
                .failure(
                    Refusal(
                        .busy,
                        "the disk is slow and \(Self.capacity) saves wait for it; try again later"))
            )
        }
        guard !worker.post({ self.flush() }) else { return }
        let isLeft = contents.withLock { contents in
            let before = contents.waiting.count
            contents.waiting.removeAll { $0.number == number }
            return contents.waiting.count < before
        }
        if isLeft { done(.failure(Refusal(.refused, "airframed is stopping"))) }
    }

    /// Runs a job that can wait for the disk; the job runs after all earlier jobs.
    ///
    /// - Returns: True if the job was accepted.
    func run(_ job: @escaping @Sendable () -> Void) -> Bool { worker.post(job) }

    /// Saves the unsaved entries of the history at the end of the process, after all earlier
    /// writes.
    ///
    /// - Parameter seconds: Longest wait for the disk, s.
    package func close(within seconds: Double) {
        worker.post {
            var state = self.saved
            state.history = self.history.saved
            guard state != self.saved else { return }
            do throws(StateProblem) {
                try self.store.save(state)
                self.contents.withLock { $0.state = state }
            } catch {
                self.log.warning("The history of changes is not saved: \(error)")
            }
        }
        guard !worker.end(within: seconds) else { return }
        log.warning("The disk hangs: the history of changes since the last save is lost.")
    }

    /// Writes all waiting changes to the disk, in one write.
    private func flush() {
        let waiting = contents.withLock { contents in
            defer { contents.waiting = [] }
            return contents.waiting
        }
        guard !waiting.isEmpty else { return }
        var state = saved
        var outcomes: [Result<Void, Refusal>] = []
        var notes: [SavedState.Change] = []
        for one in waiting {
            var changed = state
            do {
                try one.change(&changed)
                state = changed
                notes.append(one.note)
                outcomes.append(.success(()))
            } catch let error as BaselineError {
                outcomes.append(.failure(Refusal(error)))
            } catch let error as Refusal {
                outcomes.append(.failure(error))
            } catch {
                outcomes.append(.failure(Refusal(.refused, "\(error)")))
            }
        }
        state.history = history.saved(with: notes)
        do throws(StateProblem) {
            // Without a write, the saved state must not contain newer entries of the history, because
            // `close` would regard them as saved.
            if !notes.isEmpty {
                try store.save(state)
                let state = state
                contents.withLock { $0.state = state }
                notes.forEach(history.note)
            }
        } catch {
            let refusal = Refusal(.failed, "\(error)")
            outcomes = outcomes.map { $0.flatMap { .failure(refusal) } }
        }
        for (one, outcome) in zip(waiting, outcomes) { one.done(outcome.map { state }) }
    }
}
