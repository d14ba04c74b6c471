import Calibration
import Configuration
import Glibc
import Logging
import Persistence
import SystemPackage

/// The state directory: what was saved, and the named baselines. One owner at a time.
struct SavedTuning: Sendable {
    private let store: StateStore
    private let directory: FilePath
    private let log: Logger
    private var state = SavedState()
    /// Every calibration in force.
    private(set) var calibrations = CalibrationBook()
    /// Who changed what, in this process and in those before.
    let history = ChangeHistory()

    /// - Parameters:
    ///   - directory: `persistence.directory`; made when its parent exists.
    ///   - log: What cannot be read, and why.
    init(directory: String, log: Logger) {
        self.directory = FilePath(directory)
        self.log = log
        store = StateStore(directory: self.directory)
    }

    /// Reads what was saved and lays it over the files' values. Never fails: what cannot be read is named and left out.
    mutating func load(into configuration: LoadedConfiguration) -> ParameterStore {
        makeDirectory()
        let loaded = store.load()
        state = loaded.state
        history.restore(state.history)
        for problem in loaded.problems { log.warning("Saved tuning: \(problem)") }
        let (book, damaged) = CalibrationBook.read(state.calibration)
        calibrations = book
        for name in damaged {
            log.warning(
                "Saved calibration \(name) makes no sense and is left out; calibrate again.")
        }
        if loaded.source == .previous {
            log.warning("Saved tuning: the save before the last one is used.")
        }
        var parameters = ParameterStore(configuration)
        for problem in parameters.load(saved: state.parameters) {
            log.warning("Saved tuning: \(problem)")
        }
        return parameters
    }

    /// Makes an overlay the saved one, and notes who did what; both survive a power cut when this returns.
    mutating func save(
        parameters: [String: String], by who: String, _ what: String
    ) throws(StateProblem) {
        var changed = state
        changed.parameters = parameters
        try write(changed, by: who, what)
    }

    /// Makes these calibrations the saved ones, and notes who did what; both survive a power cut when this returns.
    mutating func save(
        calibrations: CalibrationBook, by who: String, _ what: String
    ) throws(StateProblem) {
        var changed = state
        changed.calibration = calibrations.saved
        try write(changed, by: who, what)
        self.calibrations = calibrations
    }

    /// Names of the baselines, sorted.
    var baselineNames: [String] { state.baselineNames }

    /// Keeps an overlay under a name, on the disk, and notes by whom.
    mutating func store(
        baseline name: String, _ parameters: [String: String], by who: String
    ) throws {
        var changed = state
        try changed.saveBaseline(name, parameters)
        try write(changed, by: who, "stored baseline \(name)")
    }

    /// Saves the history, if there is something new in it. At the end, when nothing else is going to be saved.
    mutating func saveHistory() throws(StateProblem) {
        var changed = state
        changed.history = history.saved
        guard changed != state else { return }
        try store.save(changed)
        state = changed
    }

    /// The overlay with this name.
    func baseline(_ name: String) throws(BaselineError) -> [String: String] {
        try state.baseline(name)
    }

    /// A change that cannot be written leaves no note.
    private mutating func write(
        _ changed: SavedState, by who: String, _ what: String
    ) throws(StateProblem) {
        let note = SavedState.Change(time: WallClock.seconds, who: who, what: what)
        var changed = changed
        changed.history = history.saved(with: note)
        try store.save(changed)
        state = changed
        history.note(note)
    }

    /// systemd makes it (StateDirectory=); for everybody else one level is made here. What fails is named by `load`.
    private func makeDirectory() {
        _ = directory.withPlatformString { mkdir($0, 0o750) }
    }
}
