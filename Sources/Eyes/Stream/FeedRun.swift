import CVideo
import Client
import GimbalCore
import Glibc
import Synchronization
import SystemPackage

/// State and work of the supervisor's thread.
struct FeedRun {
    /// The open feed.
    private struct Open {
        let feed: Feed
        let video: EyesSettings.Video
        let painter: Painter?
        let encoder: Encoder?
        let isReplacement: Bool
        var counted = cv_feed_stats()
    }

    let supervisor: FeedSupervisor
    private var open: Open?
    private var watch = FeedWatch()
    private var loss: String?
    private var recorder: Recorder?
    /// Settings of the last failed recording; nil if no recording has failed. A new recording is
    /// attempted when these settings change, or at a user's request.
    private var failed: EyesSettings.Video?

    init(supervisor: FeedSupervisor) { self.supervisor = supervisor }

    /// Executes one iteration of the supervisor's loop. An iteration takes at most about 0.1 s, or
    /// longer while a camera is opened.
    mutating func step() {
        let video = supervisor.settings
        guard video.enabled else {
            close()
            (loss, failed) = (nil, nil)
            supervisor.update {
                $0 = .init(keeping: $0, phase: .off)
                $0.recordingProblem = video.record ? "the video is off (video.enabled)" : nil
            }
            usleep(50_000)
            return
        }
        guard
            video.alwaysOn || video.record || supervisor.isWanted
                || supervisor.dependencies.isWanted()
        else {
            close()
            (loss, failed) = (nil, nil)
            supervisor.update {
                $0 = .init(keeping: $0, phase: .waiting)
                $0.recordingProblem = nil
            }
            supervisor.waitForClient()
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
            ? CameraChoice(
                video, among: video.source == .test ? [] : supervisor.dependencies.cameras())
            : .drawn(reason: loss)
        let problem = attempt(choice, video)
        guard let problem else { return }
        if case .camera = choice {
            lose(problem, video)
        } else {
            fail(problem)
        }
    }

    /// Reports that there are no pictures. The next attempt follows after 0.5 s.
    private func fail(_ problem: String) {
        supervisor.update { $0 = .init(keeping: $0, phase: .failed, problem: problem) }
        usleep(500_000)
    }

    /// Opens the feed of the chosen camera.
    ///
    /// - Returns: Reason for the failure; nil after success.
    private mutating func attempt(_ choice: CameraChoice, _ video: EyesSettings.Video) -> String? {
        let encoder = supervisor.dependencies.encoder(video.encoder)
        guard let pipeline = supervisor.dependencies.pipeline(choice, video, encoder) else {
            return "the encoder \(video.encoder.rawValue) is not installed"
        }
        do {
            let feed = try Feed(
                pipeline, to: supervisor.server,
                frameNanoseconds: choice.frameNanoseconds(video))
            var painter: Painter?
            var reason: String?
            if case .drawn(let cause) = choice {
                reason = cause
                painter = Painter(
                    to: feed, video, notice: cause == nil ? nil : "NO CAMERA",
                    attitude: supervisor.dependencies.attitude)
            }
            open = Open(
                feed: feed, video: video, painter: painter, encoder: pipeline.encoder,
                isReplacement: reason != nil)
            if reason == nil { supervisor.dependencies.feed(feed) }
            watch.open(now: cv_now())
            if loss == nil, reason != nil { _ = watch.isDue(now: cv_now()) }
            let source = choice.description
            supervisor.dependencies.log(
                reason.map { "\($0); the stream shows the test picture instead." }
                    ?? "The stream shows \(source).")
            supervisor.update {
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
            lose(end, video)
        } else if watch.isSilent(newest: open.feed.counters.newest, now: now) {
            lose(
                video.source == .test
                    ? "the test picture has stalled" : "the camera sends no pictures", video)
        } else if open.isReplacement, watch.isDue(now: now) {
            let choice = CameraChoice(video, among: supervisor.dependencies.cameras())
            guard case .camera = choice else { return }
            close()
            loss = nil
            if let problem = attempt(choice, video) { lose(problem, video) }
        }
    }

    /// Handles a feed that has ended or stalled. In its next iteration, the thread starts the test
    /// picture instead of a camera. If the settings select the test picture, nothing is lost: the
    /// thread starts this picture again.
    private mutating func lose(_ reason: String, _ video: EyesSettings.Video) {
        close()
        if video.source == .test {
            supervisor.dependencies.log("The test picture starts again: \(reason).")
            fail(reason)
            return
        }
        loss = reason
        watch.lose(now: cv_now())
        supervisor.dependencies.log("The camera no longer delivers pictures: \(reason).")
        supervisor.update { $0.losses += 1 }
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
        if supervisor.takesRepetition() || failed != video { failed = nil }
        guard video.record, failed == nil, let open, !open.isReplacement else {
            if recorder != nil { stopRecording() }
            if !video.record {
                supervisor.update { $0.recordingProblem = nil }
            } else if failed == nil {
                supervisor.update { $0.recordingProblem = "the recording waits for the camera" }
            }
            return
        }
        if let recorder {
            supervisor.update { $0.recordingLost = recorder.lost }
            if let problem = recorder.problem { giveUpRecording(video, problem) }
            return
        }
        do {
            let recorder = try Recorder(in: video.recordDirectory)
            open.feed.record(recorder)
            self.recorder = recorder
            supervisor.dependencies.recording(recorder)
            supervisor.dependencies.log("Recording \(recorder.path).")
            supervisor.update {
                $0.recording = recorder.path.string
                $0.recordingSince = cv_now()
                $0.recordingLost = 0
                $0.recordingProblem = nil
            }
        } catch {
            giveUpRecording(video, error.description)
        }
    }

    private mutating func giveUpRecording(_ video: EyesSettings.Video, _ problem: String) {
        stopRecording()
        failed = video
        supervisor.dependencies.log("The recording has ended: \(problem).")
        supervisor.update { $0.recordingProblem = problem }
    }

    private mutating func stopRecording() {
        guard recorder != nil else { return }
        open?.feed.record(nil)
        supervisor.dependencies.recording(nil)
        recorder = nil
        supervisor.update { ($0.recording, $0.recordingSince) = (nil, nil) }
    }

    private mutating func count() {
        guard let open else { return }
        let (now, before) = (open.feed.counters, open.counted)
        self.open?.counted = now
        supervisor.update {
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
        if open != nil { supervisor.dependencies.feed(nil) }
        open = nil
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
