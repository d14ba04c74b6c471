package import Calibration
package import Configuration
import Glibc
package import Logging
package import Persistence
package import Port
import Realtime
import Synchronization
import SystemPackage

/// The state directory: everything that was saved, and the one thread that writes it.
///
/// Nobody waits here. A change is a function of the saved state, so changes of several links cannot
/// undo each other however long the disk takes; those that come while it writes go together into
/// its next write. Each is told of when it survives a power cut, or when it was refused; then
/// nothing has changed.
package final class StateKeeper: Sendable {
    /// Makes the saved state another one.
    package typealias Change = @Sendable (inout SavedState) throws -> Void

    private struct Waiting: Sendable {
        var number: Int
        var note: SavedState.Change
        var change: Change
        var done: Later<SavedState>
    }

    private struct Contents {
        var state = SavedState()
        var waiting: [Waiting] = []
        var next = 0
    }

    /// Changes that may wait for the disk; further ones are refused.
    private static let capacity = 64

    private let contents = Mutex(Contents())
    private let store: StateStore
    private let directory: FilePath
    private let worker = Worker(ThreadTable.state, capacity: 2 * StateKeeper.capacity)
    private let log: Logger
    /// Who changed what, in this process and in those before.
    package let history = ChangeHistory()

    /// - Parameters:
    ///   - directory: `persistence.directory`; made when its parent exists.
    ///   - calls: System calls; tests give others.
    ///   - log: What cannot be read, and why.
    package init(directory: String, calls: FileCalls = .system, log: Logger) {
        self.directory = FilePath(directory)
        self.log = log
        store = StateStore(directory: self.directory, calls: calls)
        // systemd makes it (StateDirectory=); for everybody else one level is made here. What fails
        // is named by `load`.
        _ = self.directory.withPlatformString { mkdir($0, 0o750) }
    }

    /// Makes the directory this process's own for as long as the result lives.
    ///
    /// - Throws: Another process has it.
    package func lock() throws(StateProblem) -> StateLock? { try StateLock.take(directory) }

    /// What has been saved.
    package var saved: SavedState { contents.withLock { $0.state } }

    /// Every calibration that has been saved and makes sense.
    package var calibrations: CalibrationBook { CalibrationBook.read(saved.calibration).book }

    /// Reads what was saved and lays it over the files' values. Never fails: what cannot be read is
    /// named and left out.
    package func load(into configuration: LoadedConfiguration) -> ParameterStore {
        let loaded = store.load()
        contents.withLock { $0.state = loaded.state }
        history.restore(loaded.state.history)
        for problem in loaded.problems { log.warning("Saved tuning: \(problem)") }
        for name in CalibrationBook.read(loaded.state.calibration).damaged {
            log.warning(
                "The saved calibration \(name) is invalid and is ignored; calibrate again.")
        }
        if loaded.source == .previous {
            log.warning("Saved tuning: airframed uses the save before the last one.")
        }
        var parameters = ParameterStore(configuration)
        for problem in parameters.load(saved: loaded.state.parameters) {
            log.warning("Saved tuning: \(problem)")
        }
        return parameters
    }

    /// Has a change of the saved state written.
    ///
    /// - Parameters:
    ///   - who: For the history.
    ///   - what: For the history, without a subject and a full stop.
    ///   - change: May be called again with another state; throws why it is refused.
    ///   - done: Hears of the state as it is on the disk, or why it is not.
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
                        .refused,
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

    /// Has something done that waits for a disk, after everything that waits already.
    ///
    /// - Returns: Whether it will be done.
    func run(_ job: @escaping @Sendable () -> Void) -> Bool { worker.post(job) }

    /// Saves what the history has and the disk has not, after everything that waits. At the end.
    ///
    /// - Parameter seconds: A disk that hangs keeps nobody from ending.
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

    /// Writes everything that waits, at once.
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
            } catch {
                outcomes.append(.failure(Refusal(.refused, "\(error)")))
            }
        }
        state.history = history.saved(with: notes)
        do throws(StateProblem) {
            if !notes.isEmpty { try store.save(state) }
            let state = state
            contents.withLock { $0.state = state }
            notes.forEach(history.note)
        } catch {
            let refusal = Refusal(.refused, "\(error)")
            outcomes = outcomes.map { $0.flatMap { .failure(refusal) } }
        }
        for (one, outcome) in zip(waiting, outcomes) { one.done(outcome.map { state }) }
    }
}
