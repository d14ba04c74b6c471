import GimbalCore
import Policy
import Realtime
import Recording
import Synchronization
import SystemPackage
import Wire

/// Flight recorder. The recorder keeps the last seconds of the loop's inputs and results in memory,
/// and writes this data to files after faults, on request, or continuously.
///
/// The thread that drains the telemetry calls `poll`. A separate thread writes to the disk, because
/// the disk can block for seconds.
final class FlightRecorder: Sendable {
    /// Description that every recording contains, and the directory of the recordings.
    struct Setup: Sendable {
        var ringSeconds: Double
        var isContinuous: Bool
        var recordings: RecordingDirectory
        /// Metadata and attachments of every recording, except the settings.
        var description: RecordingStore.Description
        /// Offset from the loop's clock to the wall clock, ns.
        var timeOffset: Int64
    }

    /// Fault for which a file will be written. The file is written some time after the fault, so
    /// that it includes the effects of the fault.
    struct Fault {
        let name: String
        /// Time at which the fault's file is written, on the loop's clock.
        let due: Instant
        /// Latest time at which the file is written, on CLOCK_MONOTONIC, in case the loop's clock
        /// has stopped.
        let latest: Instant

        /// Schedules the file of a fault.
        ///
        /// - Parameters:
        ///   - name: Name of the fault.
        ///   - newest: Time of the newest data, on the loop's clock.
        ///   - written: Time of the newest data in the latest fault's file; nil before the first
        ///     file.
        ///   - ring: Duration of the data in the ring buffer, s.
        ///   - now: Current time on CLOCK_MONOTONIC.
        init(
            _ name: String, newest: Instant, written: Instant?, ring: Double, now: Instant
        ) {
            self.name = name
            let after = newest.advanced(bySeconds: FlightRecorder.afterFault)
            due = max(after, written?.advanced(bySeconds: ring) ?? after)
            latest = now.advanced(
                bySeconds: due.seconds(since: newest) + FlightRecorder.patience)
        }
    }

    /// Values of all settings, and the time at which they became active.
    private struct Page {
        /// Sequence number of this set of settings since airframed's start; the first set has the
        /// number 0.
        var number: Int
        var time: Int64
        var text: String
    }

    private struct State: ~Copyable {
        var encoder: FlightEncoder
        var ring: FlightRing
        var waiting = WaitingFiles()
        var isRecording = false
        /// Client that owns the recording, which ends with the client's connection; nil if the
        /// recording has no owner.
        var owner: Int?
        /// Number of the next chunk that must be written to the continuous recording; nil if no
        /// continuous recording runs.
        var wanted: UInt64?
        /// Number of ends of continuous recordings that the disk's thread has not executed yet.
        var ends = 0
        var next: UInt64 = 0
        var fault: Fault?
        /// Time of the newest data in the latest fault's file; nil before the first file.
        var faultsWritten: Instant?
        var newest = Instant(nanoseconds: 0)
        var pages: [Page] = []
        var status = RecorderStatus()
        var isEnding = false
    }

    /// Time after a fault up to which the fault's file contains data, s.
    private static let afterFault = 2.0
    /// Longest delay of a fault's file, s in real time. The limit in real time applies if the
    /// loop's clock has stopped.
    private static let patience = 8.0
    /// Largest number of stored changes of the settings.
    private static let pageLimit = 32

    private let setup: Setup
    private let replayLogBytes: Int
    private let replayLog: Mutex<ReplayLogConsumer>
    private let state: Mutex<State>
    private let bell = Doorbell()
    private let settings: @Sendable () -> String

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - replayLog: The loop's replay log; only the recorder reads it.
    ///   - bytes: Size of the replay log, bytes.
    ///   - setup: Description and directory of the files.
    ///   - settings: Active settings, as text.
    init(
        replayLog: consuming ReplayLogConsumer, bytes: Int, setup: Setup,
        settings: @escaping @Sendable () -> String
    ) {
        self.setup = setup
        replayLogBytes = bytes
        self.replayLog = Mutex(replayLog)
        self.settings = settings
        var state = State(
            encoder: FlightEncoder(timeOffset: setup.timeOffset),
            ring: FlightRing(seconds: setup.ringSeconds))
        state.status.isEnabled = true
        state.status.ringS = Number(setup.ringSeconds)
        state.status.directory = setup.recordings.directory.string
        state.isRecording = setup.isContinuous
        if setup.isContinuous { state.wanted = 0 }
        state.pages = [Page(number: 0, time: 0, text: settings())]
        self.state = Mutex(state)
    }

    deinit { bell.deallocate() }

    /// Encodes the waiting frames of the loop's replay log. The replay log holds up to half a
    /// second of data. Call this method often enough to prevent the log from filling up.
    func poll() {
        replayLog.withLock { replayLog in
            state.withLock { state in
                replayLog.drain { frame in
                    let result = state.encoder.take(frame)
                    state.newest = frame.now
                    if let chunk = result.chunk { keep(chunk, &state) }
                    if result.hasParameters { note(settings(), &state) }
                    if !result.faults.isEmpty { note(result.faults, &state) }
                    if let fault = state.fault, !(state.newest < fault.due) { write(fault, &state) }
                }
            }
        }
    }

    private func keep(_ chunk: MCAPChunk, _ state: inout State) {
        state.ring.append(chunk)
        state.next = chunk.number + 1
        if state.isRecording { bell.ring() }
    }

    private func note(_ text: String, _ state: inout State) {
        guard let last = state.pages.last, last.text != text else { return }
        state.pages.append(
            Page(
                number: last.number + 1, time: state.newest.nanoseconds &+ setup.timeOffset,
                text: text))
        // Old settings are dropped if they were replaced before the oldest chunk of the ring
        // buffer.
        let start = state.ring.chunks.first?.start ?? 0
        while state.pages.count > 1,
            state.pages[1].time < start || state.pages.count > Self.pageLimit
        {
            state.pages.removeFirst()
        }
    }

    /// Schedules a file for new faults. If the file for an earlier fault has not been written yet,
    /// that file also covers the new fault. The next file is written when all data in the ring
    /// buffer is newer than the previous file. Therefore no data is written twice for an
    /// intermittent fault.
    private func note(_ faults: Conditions, _ state: inout State) {
        guard state.fault == nil else { return }
        state.fault = Fault(
            faults.words.first?.name ?? "fault", newest: state.newest,
            written: state.faultsWritten, ring: setup.ringSeconds, now: MonotonicClock.now)
    }

    private func write(_ fault: Fault, _ state: inout State) {
        state.fault = nil
        state.faultsWritten = state.newest
        state.status.faults += 1
        state.status.requested += 1
        if let rest = state.encoder.flush() { keep(rest, &state) }
        let chunks = Array(state.ring.last(setup.ringSeconds))
        if !state.waiting.add("fault-\(fault.name)", chunks) { state.status.finished += 1 }
        bell.ring()
    }

    /// Starts writing the last seconds of the loop's data to a file. The method `status` reports
    /// the completion of the file. One file fulfils all requests that wait for the disk.
    func record(last seconds: Double) -> RecorderStatus {
        poll()
        state.withLock { state in
            if let rest = state.encoder.flush() { keep(rest, &state) }
            state.waiting.request(from: state.ring.last(seconds).first?.number ?? state.next)
            state.status.requested += 1
        }
        bell.ring()
        return status
    }

    /// Starts or ends a continuous recording. The method `status` reports the completion of the
    /// recording's file. A recording that starts before the previous file is complete begins at
    /// the end of this file.
    ///
    /// - Parameters:
    ///   - isOn: True to start a recording, false to end it.
    ///   - past: Duration of earlier data that a new recording contains, s.
    ///   - owner: Client that owns a new recording; the recording ends with the client's
    ///     connection. nil means that the recording has no owner. If any client requests the
    ///     recording again, the recording continues after the end of the owner's connection.
    /// - Returns: State of the recorder.
    @discardableResult
    func setRecording(_ isOn: Bool, past: Double = 0, owner: Int? = nil) -> RecorderStatus {
        poll()
        state.withLock { switchRecording(isOn, past: past, owner: owner, &$0) }
        bell.ring()
        return status
    }

    /// Ends the recording if the client owns it.
    @discardableResult
    func endRecording(of client: Int) -> RecorderStatus {
        guard state.withLock({ $0.owner == client }) else { return status }
        poll()
        state.withLock { state in
            // Another client can have requested the recording since the first check.
            if state.owner == client { switchRecording(false, past: 0, owner: nil, &state) }
        }
        bell.ring()
        return status
    }

    private func switchRecording(
        _ isOn: Bool, past: Double, owner: Int?, _ state: inout State
    ) {
        state.owner = state.isRecording == isOn ? nil : owner
        guard state.isRecording != isOn else { return }
        if let rest = state.encoder.flush() { keep(rest, &state) }
        state.isRecording = isOn
        if !isOn {
            state.ends += 1
            state.status.requested += 1
        } else if state.ends == 0 {
            let first = past > 0 ? state.ring.last(past).first?.number : nil
            state.wanted = first ?? state.next
        }
    }

    /// Current state of the recorder.
    var status: RecorderStatus {
        state.withLock { state in
            var status = state.status
            status.isRecording = state.isRecording
            status.heldS = Number(state.ring.span)
            status.memoryBytes = state.ring.bytes + replayLogBytes
            status.lostTicks = Int(state.encoder.lostTicks)
            status.problem = status.problem ?? state.waiting.problem
            return status
        }
    }
}

// MARK: The disk's thread

extension FlightRecorder {
    /// Body of the writing thread: writes files until `end` is called.
    ///
    /// - Parameter recovered: Function that receives the name of each repaired recording; an
    ///   earlier process left these recordings incomplete.
    func run(recovered: (String) -> Void) {
        for name in setup.recordings.recover() { recovered(name) }
        var store = RecordingStore(recordings: setup.recordings)
        store.look()
        take(store.report)
        while true {
            _ = bell.wait(until: MonotonicClock.now.advanced(bySeconds: 1))
            let isEnding = work(&store)
            take(store.report)
            if isEnding { return }
        }
    }

    /// Requests the end of the writing thread; the thread first writes all remaining files.
    func end() {
        poll()
        state.withLock { state in
            if let fault = state.fault { write(fault, &state) }
            if let rest = state.encoder.flush() { keep(rest, &state) }
            state.isEnding = true
        }
        bell.ring()
    }

    /// Executes one round of the writing thread; returns whether it was the last round.
    private func work(_ store: inout RecordingStore) -> Bool {
        let (fault, requested, chunks, wanted, ends, isEnding) = state.withLock { state in
            if let fault = state.fault, fault.latest < MonotonicClock.now {
                write(fault, &state)
            }
            defer { state.wanted = nil }
            let requested = state.waiting.takeRequested().map { file in
                (chunks: Array(state.ring.since(file.first)), requests: file.requests)
            }
            // The end of a recording waits until its last data is written.
            let isWanted = state.isRecording || state.ends > 0
            let chunks = isWanted ? Array(state.ring.since(state.wanted ?? store.next)) : []
            let ends = state.ends
            state.ends = 0
            let fault =
                state.isEnding
                ? state.waiting.fault : state.waiting.due(now: MonotonicClock.now)
            return (fault, requested, chunks, state.wanted, ends, state.isEnding)
        }
        if let fault {
            let path = store.dump(
                fault.chunks, reason: fault.reason, description(), date: WallClock.seconds)
            take(store.report)
            state.withLock { state in
                let isFirst = state.waiting.endFault(
                    isWritten: path != nil, now: MonotonicClock.now)
                if isFirst { state.status.finished += 1 }
            }
        }
        if let requested {
            store.dump(
                requested.chunks, reason: "request", description(), date: WallClock.seconds)
            take(store.report)
            state.withLock { $0.status.finished += requested.requests }
        }
        if let wanted { store.begin(at: wanted) }
        if !chunks.isEmpty {
            store.record(chunks, description, date: WallClock.seconds)
        }
        if ends > 0 || isEnding {
            store.stop()
            take(store.report)
            state.withLock { $0.status.finished += ends }
        }
        return isEnding
    }

    private func take(_ report: RecordingStore.Report) {
        state.withLock { state in
            state.status.openFile = report.openFile
            state.status.openBytes = report.openBytes
            state.status.lastFile = report.lastFile
            state.status.files = report.stored
            state.status.fileBytes = report.storedBytes
            state.status.lostChunks = report.lostChunks
            state.status.problem = report.problem
        }
    }

    /// Description of the machine and its settings for a new file.
    private func description() -> RecordingStore.Description {
        var description = setup.description
        let pages = state.withLock { $0.pages }
        for page in pages {
            let name = page.number == 0 ? "settings.toml" : "settings-\(page.number).toml"
            description.attachments.append(
                MCAPAttachment(
                    name: name, mediaType: "text/plain", time: page.time,
                    data: Array(page.text.utf8)))
        }
        return description
    }
}
