import CVideo
import Client
import GimbalCore
import Glibc
import Synchronization
import SystemPackage

/// Owner of the feed. The keeper opens the camera while a client needs pictures. The keeper
/// replaces a lost camera by the test picture, and opens a reconnected camera again. Only the
/// keeper's thread opens and closes feeds. Clients stay connected when the feed changes.
final class FeedSupervisor: Sendable {
    /// State of the feed, for reports.
    struct Report: Sendable, Equatable {
        /// Stage of the stream.
        enum Phase: Sendable, Equatable {
            /// `video.enabled` is false.
            case off
            /// No client needs the stream.
            case waiting
            /// The stream contains pictures of the configured source.
            case streaming
            /// The stream shows the test picture, because the camera is missing.
            case replaced
            /// The stream has no pictures.
            case failed
        }

        var phase = Phase.waiting
        /// Camera and format of the feed as text for display; empty without a feed.
        var source = ""
        /// Encoder of the feed; nil if the camera encodes the pictures or there is no feed.
        var encoder: Encoder?
        /// Reason for `replaced` and `failed`.
        var problem: String?
        /// Number of losses of the camera since the start.
        var losses = 0
        /// Counters of all feeds since the start.
        var frames: UInt64 = 0
        var bytes: UInt64 = 0
        var gaps: UInt64 = 0
        /// The current recording's file; nil without a recording.
        var recording: String?
        /// Start time of the recording, ns on CLOCK_MONOTONIC; nil without a recording.
        var recordingSince: Int64?
        /// Reason why a requested recording is not running; nil otherwise.
        var recordingProblem: String?
        /// Time at which the feed was opened, ns on CLOCK_MONOTONIC; 0 before the first feed.
        var opened: Int64 = 0
        /// Width and height of the pictures, pixels; 0 before the first picture.
        var width = 0
        var height = 0
    }

    /// Functions that tests replace.
    struct Dependencies: Sendable {
        /// Function that lists the connected cameras.
        var cameras: @Sendable () -> [Camera] = { Camera.connected() }
        /// Function that chooses the encoder for a setting; nil if no encoder is installed.
        var encoder: @Sendable (EyesSettings.EncoderChoice) -> Encoder? = { Encoder($0) }
        /// Function that creates the pipeline for the chosen camera.
        var pipeline: @Sendable (CameraChoice, EyesSettings.Video, Encoder?) -> FeedPipeline? = {
            FeedPipeline($0, $1, encoder: $2)
        }
        /// Function that returns the camera's current attitude for the test picture; nil if the
        /// attitude is unknown.
        var attitude: @Sendable () -> AxisVector? = { nil }
        /// Function that receives each recording at its start, and nil at its end.
        var recording: @Sendable (Recorder?) -> Void = { _ in }
        /// Function that returns true if the camera is needed even without a client or a recording.
        var isWanted: @Sendable () -> Bool = { false }
        /// Function that receives each camera feed at its start, and nil before its end.
        var feed: @Sendable (Feed?) -> Void = { _ in }
        /// Function that writes a sentence to the log.
        var log: @Sendable (String) -> Void = { _ in }
    }

    private struct State {
        var video: EyesSettings.Video
        var report = Report()
        var rounds = 0
        var repeatsRecording = false
    }

    fileprivate let server: StreamServer
    fileprivate let dependencies: Dependencies
    private let state: Mutex<State>
    private let thread = CompanionThread()

    /// Starts the keeper's thread.
    init(
        _ video: EyesSettings.Video, _ server: StreamServer,
        _ dependencies: Dependencies = Dependencies()
    ) {
        self.server = server
        self.dependencies = dependencies
        state = Mutex(State(video: video))
        thread.start("eyes-keeper") { [self] in
            var run = FeedRun(keeper: self)
            while !thread.mustEnd {
                run.step()
                state.withLock { $0.rounds += 1 }
            }
            run.close()
        }
    }

    /// The state of the feed.
    var report: Report { state.withLock { $0.report } }

    /// Number of iterations of the thread's loop, for the watchdog.
    var rounds: Int { state.withLock { $0.rounds } }

    /// Applies settings without disconnecting clients.
    func apply(_ video: EyesSettings.Video) { state.withLock { $0.video = video } }

    /// Retries a failed recording at a user's request.
    func repeatRecording() {
        state.withLock { ($0.repeatsRecording, $0.report.recordingProblem) = (true, nil) }
    }

    /// Closes the feed and stops the thread.
    func stop() { thread.stop() }
}

/// State and work of the keeper's thread.
private struct FeedRun {
    /// The open feed.
    private struct Open {
        let feed: Feed
        let video: EyesSettings.Video
        let painter: Painter?
        let encoder: Encoder?
        let isReplacement: Bool
        var counted = cv_feed_stats()
    }

    let keeper: FeedSupervisor
    private var open: Open?
    private var watch = FeedWatch()
    private var loss: String?
    private var recorder: Recorder?
    /// Settings of the last failed recording; nil if no recording has failed. A new recording is
    /// attempted when these settings change, or at a user's request.
    private var failed: EyesSettings.Video?

    init(keeper: FeedSupervisor) { self.keeper = keeper }

    /// Executes one iteration of the keeper's loop. An iteration takes at most about 0.1 s, or
    /// longer while a camera is opened.
    mutating func step() {
        let video = keeper.settings
        guard video.enabled else {
            close()
            loss = nil
            keeper.update { $0 = .init(keeping: $0, phase: .off) }
            usleep(50_000)
            return
        }
        guard video.alwaysOn || video.record || keeper.isWanted || keeper.dependencies.isWanted()
        else {
            close()
            loss = nil
            keeper.update { $0 = .init(keeping: $0, phase: .waiting) }
            keeper.waitForClient()
            return
        }
        if let open, open.video != video { change(open, to: video) }
        if open == nil { begin(video) }
        follow(video)
        record(video)
    }

    // MARK: Opening

    private mutating func begin(_ video: EyesSettings.Video) {
        let choice: CameraChoice =
            loss == nil
            ? CameraChoice(video, among: video.source == .test ? [] : keeper.dependencies.cameras())
            : .drawn(reason: loss)
        let problem = attempt(choice, video)
        guard let problem else { return }
        if case .camera = choice {
            lose(problem)
        } else {
            keeper.update { $0 = .init(keeping: $0, phase: .failed, problem: problem) }
            usleep(500_000)
        }
    }

    /// Opens the feed of the chosen camera.
    ///
    /// - Returns: Reason for the failure; nil after success.
    private mutating func attempt(_ choice: CameraChoice, _ video: EyesSettings.Video) -> String? {
        let encoder = keeper.dependencies.encoder(video.encoder)
        guard let pipeline = keeper.dependencies.pipeline(choice, video, encoder) else {
            return "the encoder \(video.encoder.rawValue) is not installed"
        }
        do {
            let feed = try Feed(
                pipeline, to: keeper.server, frameNanoseconds: video.frameNanoseconds)
            var painter: Painter?
            var reason: String?
            if case .drawn(let cause) = choice {
                reason = cause
                painter = Painter(
                    to: feed, video, notice: cause == nil ? nil : "NO CAMERA",
                    attitude: keeper.dependencies.attitude)
            }
            open = Open(
                feed: feed, video: video, painter: painter, encoder: pipeline.encoder,
                isReplacement: reason != nil)
            if reason == nil { keeper.dependencies.feed(feed) }
            watch.open(now: cv_now())
            if loss == nil, reason != nil { _ = watch.isDue(now: cv_now()) }
            let source = choice.description
            keeper.dependencies.log(
                reason.map { "\($0); the stream shows the test picture instead." }
                    ?? "The stream shows \(source).")
            keeper.update {
                $0 = .init(
                    keeping: $0, phase: reason == nil ? .streaming : .replaced, problem: reason)
                $0.source = source
                $0.encoder = pipeline.encoder
                $0.opened = cv_now()
            }
            return nil
        } catch {
            return error.description
        }
    }

    // MARK: Running

    private mutating func follow(_ video: EyesSettings.Video) {
        guard let open else { return }
        let end = open.feed.ended(within: 0.1)
        count()
        let now = cv_now()
        if let end {
            lose(end)
        } else if watch.isSilent(newest: open.feed.counters.newest, now: now) {
            lose("the camera sends no pictures")
        } else if open.isReplacement, watch.isDue(now: now) {
            let choice = CameraChoice(video, among: keeper.dependencies.cameras())
            guard case .camera = choice else { return }
            close()
            loss = nil
            if let problem = attempt(choice, video) { lose(problem) }
        }
    }

    /// Handles the loss of the camera. The thread starts the test picture in its next iteration.
    private mutating func lose(_ reason: String) {
        close()
        loss = reason
        watch.lose(now: cv_now())
        keeper.dependencies.log("The camera no longer delivers pictures: \(reason).")
        keeper.update { $0.losses += 1 }
    }

    /// Applies changed settings. The running encoder accepts a new bit rate. Every other change
    /// replaces the feed.
    private mutating func change(_ open: Open, to video: EyesSettings.Video) {
        var same = open.video
        same.bitrateKbps = video.bitrateKbps
        same.alwaysOn = video.alwaysOn
        same.record = video.record
        same.recordDirectory = video.recordDirectory
        if same == video {
            var isDone = open.video.bitrateKbps == video.bitrateKbps
            if !isDone, let change = open.encoder?.bitrateChange(video) {
                isDone = open.feed.setEncoder(change.property, change.value)
            }
            if isDone {
                if open.video.recordDirectory != video.recordDirectory { stopRecording() }
                self.open = Open(
                    feed: open.feed, video: video, painter: open.painter, encoder: open.encoder,
                    isReplacement: open.isReplacement, counted: open.counted)
                return
            }
        }
        close()
        loss = nil
    }

    // MARK: Recording

    /// Starts or stops the recording, as the settings require. A file contains pictures of one feed
    /// only, so all its pictures have the same size. The test picture, which replaces a lost
    /// camera, is not recorded.
    private mutating func record(_ video: EyesSettings.Video) {
        if keeper.takesRepetition() || failed != video { failed = nil }
        guard video.record, failed == nil, let open, !open.isReplacement else {
            if recorder != nil { stopRecording() }
            if !video.record { keeper.update { $0.recordingProblem = nil } }
            return
        }
        if let recorder {
            if let problem = recorder.problem { giveUpRecording(video, problem) }
            return
        }
        do {
            let recorder = try Recorder(in: video.recordDirectory)
            open.feed.record(recorder)
            self.recorder = recorder
            keeper.dependencies.recording(recorder)
            keeper.dependencies.log("Recording \(recorder.path).")
            keeper.update {
                $0.recording = recorder.path.string
                $0.recordingSince = cv_now()
                $0.recordingProblem = nil
            }
        } catch {
            giveUpRecording(video, error.description)
        }
    }

    private mutating func giveUpRecording(_ video: EyesSettings.Video, _ problem: String) {
        stopRecording()
        failed = video
        keeper.dependencies.log("The recording has ended: \(problem).")
        keeper.update { $0.recordingProblem = problem }
    }

    private mutating func stopRecording() {
        guard recorder != nil else { return }
        open?.feed.record(nil)
        keeper.dependencies.recording(nil)
        recorder = nil
        keeper.update { ($0.recording, $0.recordingSince) = (nil, nil) }
    }

    private mutating func count() {
        guard let open else { return }
        let (now, before) = (open.feed.counters, open.counted)
        self.open?.counted = now
        keeper.update {
            $0.frames += now.frames - before.frames
            $0.bytes += now.bytes - before.bytes
            $0.gaps += now.gaps - before.gaps
            if now.width > 0 { ($0.width, $0.height) = (Int(now.width), Int(now.height)) }
        }
    }

    /// Closes the feed, if a feed is open.
    mutating func close() {
        count()
        stopRecording()
        open?.painter?.stop()
        if open != nil { keeper.dependencies.feed(nil) }
        open = nil
    }
}

extension FeedSupervisor {
    /// Active settings.
    var settings: EyesSettings.Video { state.withLock { $0.video } }
    fileprivate var isWanted: Bool { server.wait(isWanted: true, seconds: 0) }
    fileprivate func waitForClient() { _ = server.wait(isWanted: false, seconds: 0.1) }

    fileprivate func takesRepetition() -> Bool {
        state.withLock { state in
            defer { state.repeatsRecording = false }
            return state.repeatsRecording
        }
    }

    fileprivate func update(_ body: (inout Report) -> Void) {
        state.withLock { body(&$0.report) }
    }
}

extension FeedSupervisor.Report {
    /// Creates a report with another report's counters and a new phase.
    fileprivate init(keeping other: Self, phase: Phase, problem: String? = nil) {
        self = other
        self.phase = phase
        self.problem = problem
        if phase == .off || phase == .waiting || phase == .failed {
            source = ""
            encoder = nil
        }
    }
}

extension CameraChoice: CustomStringConvertible {
    /// Camera and format as text, such as "HD Webcam, MJPEG 640x480 at 30 Hz".
    public var description: String {
        switch self {
        case .drawn: return "the test picture"
        case .camera(let camera, let format):
            let coding =
                switch format.coding {
                case .h264: "H.264"
                case .jpeg: "JPEG"
                case .raw(let name): name
                }
            return
                "\(camera.name), \(coding) \(format.width)x\(format.height) at \(format.rateHz) Hz"
        }
    }
}
