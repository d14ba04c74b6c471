import Client
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import Wire

/// Host of the page's shot: starts, observes and ends `airframectl shoot`. The class is
/// thread-safe.
///
/// The file `shot-run.json` exists while the shot should run. Therefore a restart of airframe-web
/// continues the shot. airframectl saves the progress in `shot.json`.
final class ShotHost: Sendable {
    /// Browser that started the shot.
    struct Owner: Codable, Sendable, Equatable {
        /// Name in airframed's messages.
        var name: String
        /// ID of the paired browser.
        var browser: String
    }

    /// Time after which an unreachable daemon is tried again, s.
    private static let pause = 5.0
    /// Reason for the pause of a shot whose browser is no longer paired, for the page.
    private static let unpaired =
        "The shot has paused, because the browser that started it is no longer paired: its pairing has expired or was removed. A paired browser can resume the shot."
    /// Refusal of a start or a continuation while the state of the saved shot is unknown.
    private static let unread =
        "airframectl does not answer, so the state of an earlier shot is unknown. Try again later."
    /// Exit codes of airframectl if airframed or the camera's address cannot be reached, or airframed
    /// does not answer in time.
    private static let unreachable: [Int32] = [69, 75]

    private struct State {
        /// Browser whose shot should run; nil if no shot should run.
        var owner: Owner?
        /// Process of the run; nil while this program has started none.
        var process: pid_t?
        /// The last answer of `airframectl shoot status`; null if there is no shot.
        var report = JSONValue.null
        /// True if the last call of `airframectl shoot status` had no answer: a saved shot exists,
        /// but `report` does not describe its present state.
        var isUnread = false
        /// True while a check of `tick` waits or runs on the queue.
        var isChecking = false
        /// Number of completed photos and remaining time, s, from the run's last message.
        var progress: (done: Int, left: Double)?
        var note = ""
        var problem = ""
        /// True if the shot is to be deleted after its run.
        var isCancelled = false
        var notBefore = 0.0
    }

    private let tool: ControlTool
    private let directory: String
    private let state = Mutex(State())
    /// Queue for starts and ends of runs.
    private let queue = DispatchQueue(label: "web-shots")

    private var path: String { directory + "/shot.json" }
    private var text: String { directory + "/shot.toml" }
    private var marker: String { directory + "/shot-run.json" }

    /// - Parameters:
    ///   - tool: Runner of airframectl.
    ///   - directory: Directory of the shot's state.
    init(_ tool: ControlTool, directory: String) {
        self.tool = tool
        self.directory = directory
        guard access(path, F_OK) == 0 || access(marker, F_OK) == 0 else { return }
        if let data = try? Data(contentsOf: URL(filePath: marker)) {
            let owner = try? JSONDecoder().decode(Owner.self, from: data)
            state.withLock { $0.owner = owner }
        }
        queue.async { [self] in refresh() }
    }

    /// State of the shot, for the page.
    var report: JSONValue {
        state.withLock { state in
            let total = state.report["photos"]?.int ?? 0
            let done = state.progress?.done ?? state.report["done"]?.int ?? 0
            let isActive = state.process != nil || state.report["active"] == true
            // A waypoint without a photo can follow the last photo, so the numbers of photos do not
            // show whether the shot is complete.
            let idle =
                switch state.report["complete"]?.bool {
                case nil: "none"
                case true?: "complete"
                case false?: "paused"
                }
            let word = isActive ? "active" : state.owner != nil ? "waiting" : idle
            return [
                "state": .string(word), "title": state.report["title"] ?? "Shot",
                "photos": .int(total), "done": .int(done),
                "seconds_left": .double(
                    state.progress?.left ?? state.report["seconds_left"]?.number ?? 0),
                "note": .string(isActive ? state.note : ""), "problem": .string(state.problem),
                "owner": .string(state.owner?.name ?? ""),
            ]
        }
    }

    /// Begins a shot.
    ///
    /// - Parameters:
    ///   - bytes: Valid description of the shot.
    ///   - owner: The browser.
    ///   - isNew: True if an unfinished shot is discarded.
    ///   - answer: Receives a sentence if the shot cannot begin; nil otherwise.
    func begin(
        _ bytes: [UInt8], for owner: Owner, isNew: Bool,
        _ answer: @escaping @Sendable (String?) -> Void
    ) {
        queue.async { [self] in
            refresh()
            guard !state.withLock({ $0.isUnread }) else { return answer(Self.unread) }
            let word = report["state"]
            guard word != "active", word != "waiting" else {
                return answer("A shot is active. Cancel it first.")
            }
            guard isNew || word != "paused" else {
                return answer("An earlier shot is unfinished. Resume it, or begin again.")
            }
            // A finished or discarded shot leaves its state, which is replaced.
            unlink(path)
            state.withLock { $0.report = .null }
            guard (try? DurableFile.replace(text, with: bytes)) != nil else {
                return answer("The description of the shot cannot be saved in \(directory).")
            }
            answer(want(owner))
        }
    }

    /// Continues an unfinished shot; `answer` as for `begin`.
    func resume(for owner: Owner, _ answer: @escaping @Sendable (String?) -> Void) {
        queue.async { [self] in
            refresh()
            guard !state.withLock({ $0.isUnread }) else { return answer(Self.unread) }
            guard report["state"] == "paused" else {
                return answer("There is no unfinished shot to resume.")
            }
            answer(want(owner))
        }
    }

    /// Ends the run after the present photo, because a person has paused or cancelled the shot.
    func stopRun() {
        queue.async { [self] in
            endRun { state in
                if state.owner != nil { state.problem = "" }
                return true
            }
        }
    }

    /// Ends the run of a browser that is no longer paired, unless another browser has resumed the
    /// shot in the meantime.
    private func stopRun(of forgotten: Owner) {
        queue.async { [self] in
            endRun { state in
                guard state.owner == forgotten else { return false }
                state.problem = Self.unpaired
                return true
            }
        }
    }

    /// Ends the run if `note` returns true. `note` stores the reason for the page.
    private func endRun(_ note: (inout State) -> Bool) {
        let isEnded = state.withLock { state in
            guard note(&state) else { return false }
            state.owner = nil
            return true
        }
        guard isEnded else { return }
        unlink(marker)
        interrupt()
    }

    /// Ends the run after the present photo, and deletes the state of the shot.
    func cancel() {
        stopRun()
        queue.async { [self] in
            state.withLock { $0.isCancelled = true }
            removeIfCancelled()
        }
    }

    /// Ends the run if its browser is no longer paired, and starts a run that should be active.
    /// Call this method about once per second.
    func tick(paired ids: Set<String>) {
        let now = DaemonClient.now()
        let (forgotten, isDue, isObserved) = state.withLock { state in
            let isIdle = state.process == nil
            let forgotten: Owner? = state.owner.flatMap { ids.contains($0.browser) ? nil : $0 }
            let isDue = isIdle && state.owner != nil && now >= state.notBefore
            return (
                forgotten, isDue,
                isIdle
                    ? state.report["active"] == true || state.isCancelled || state.isUnread
                    : state.report["photos"] == nil
            )
        }
        if let forgotten { return stopRun(of: forgotten) }
        guard isDue || isObserved else { return }
        // A check without an answer takes longer than the interval between two ticks. A cancellation
        // must not wait behind a growing number of checks.
        let isFree = state.withLock { state in
            defer { state.isChecking = true }
            return !state.isChecking
        }
        guard isFree else { return }
        queue.async { [self] in
            refresh()
            removeIfCancelled()
            if isDue, state.withLock({ $0.report["active"] != true }) { start() }
            state.withLock { $0.isChecking = false }
        }
    }

    /// Ends the run, and waits at most 3 s for its end. The next start of airframe-web continues
    /// the shot.
    func stop() {
        let process = state.withLock { state in
            state.notBefore = .infinity
            return state.process
        }
        if let process { kill(process, SIGTERM) }
        for _ in 0..<150 where state.withLock({ $0.process != nil }) { usleep(20_000) }
    }

    // MARK: Runs

    /// Records that the shot should run, and starts a run. Call this method on `queue`.
    private func want(_ owner: Owner) -> String? {
        guard let data = try? JSONEncoder().encode(owner),
            (try? DurableFile.replace(marker, with: Array(data))) != nil
        else { return "The state of the shot cannot be saved in \(directory)." }
        state.withLock { state in
            state.owner = owner
            (state.problem, state.note, state.isCancelled) = ("", "", false)
        }
        start()
        return nil
    }

    private func start() {
        guard let owner = state.withLock({ $0.process == nil ? $0.owner : nil }) else { return }
        guard
            let (process, output) = tool.start(
                ["shoot", "file", text, "--resume", "--state", path, "--json"], name: owner.name)
        else { return finish("airframectl cannot be started: install the package airframe.") }
        state.withLock { state in
            (state.process, state.progress) = (process, nil)
            // The run exists, but has not saved its state yet.
            state.notBefore = DaemonClient.now() + Self.pause
        }
        CompanionThread().start("web-shot") { [self] in observe(process, output) }
    }

    /// Reads the messages of a run until its end.
    private func observe(_ process: pid_t, _ output: Int32) {
        var rest: [UInt8] = []
        var last = JSONValue.null
        while true {
            let bytes = ControlTool.read(output)
            if bytes.isEmpty { break }
            rest += bytes
            while let end = rest.firstIndex(of: 0x0A) {
                let line = Array(rest[..<end])
                rest.removeFirst(end + 1)
                if let message = try? JSONValue(parsing: line) {
                    last = message
                    note(message)
                } else {
                    let text = String(decoding: line.prefix(400), as: UTF8.self)
                    state.withLock { $0.note = text }
                }
            }
            if rest.count > 65_536 { rest.removeAll() }
        }
        close(output)
        let status = ControlTool.wait(process)
        let message = last
        queue.async { [self] in ended(status, message) }
    }

    private func note(_ message: JSONValue) {
        guard let photo = message["photo"]?.int else { return }
        let left = message["seconds_left"]?.number ?? 0
        let isFirst = state.withLock { state in
            state.progress = (photo, left)
            state.note = ""
            return state.report["photos"]?.int == nil
        }
        if isFirst { queue.async { [self] in refresh() } }
    }

    private func ended(_ status: Int32, _ message: JSONValue) {
        state.withLock { $0.process = nil }
        refresh()
        removeIfCancelled()
        // A signal has ended the run, because airframe-web stops or the shot is paused.
        guard message["complete"] != false else { return }
        if status == 0 { return finish("") }
        let sentence =
            message["error"]?["message"]?.string
            ?? state.withLock { $0.note.isEmpty ? "The run has ended unexpectedly." : $0.note }
        guard status > 0, !Self.unreachable.contains(status) else {
            return state.withLock { state in
                // The end of a stopped run is not a problem; `stopRun` has stored its reason.
                if state.owner != nil { state.problem = sentence }
                state.notBefore = max(state.notBefore, DaemonClient.now() + Self.pause)
            }
        }
        finish(sentence.replacing(" `airframectl shoot resume` continues.", with: ""))
    }

    /// Records that the shot should no longer run.
    private func finish(_ problem: String) {
        unlink(marker)
        state.withLock { state in
            state.owner = nil
            state.problem = problem
        }
    }

    /// Sends the signal to end the run, also to a run of an earlier process of this program.
    private func interrupt() {
        if let process = state.withLock({ $0.process }) {
            kill(process, SIGTERM)
        } else if state.withLock({ $0.report["active"] == true }) {
            _ = tool.run(["shoot", "pause", "--state", path], within: 5)
        }
    }

    private func removeIfCancelled() {
        let isDone = state.withLock { state in
            guard state.isCancelled, state.process == nil, state.report["active"] != true else {
                return false
            }
            (state.report, state.progress, state.problem) = (.null, nil, "")
            state.isCancelled = false
            return true
        }
        guard isDone else { return }
        for path in [path, text, marker] { unlink(path) }
    }

    /// Reads the saved state. Call this method on `queue`.
    private func refresh() {
        var report = JSONValue.null
        if access(path, F_OK) == 0 {
            // A killed airframectl ends without an answer.
            guard
                let result = tool.run(["shoot", "status", "--state", path, "--json"], within: 5),
                let answer = try? JSONValue(parsing: Array(result.output.utf8))
            else { return state.withLock { $0.isUnread = true } }
            report = answer
            if let message = report["error"]?["message"] {
                state.withLock { $0.problem = message.string ?? "" }
                report = .null
            }
        }
        state.withLock { state in
            (state.report, state.isUnread) = (report, false)
            if state.process == nil { state.progress = nil }
        }
    }
}
