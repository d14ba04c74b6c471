import CVideo
import Client
import GimbalCore
import Glibc
import Synchronization
import SystemPackage

/// Owner of the feed. The supervisor opens the camera while a client needs pictures. The supervisor
/// replaces a lost camera by the test picture, and opens a reconnected camera again. Only the
/// supervisor's thread opens and closes feeds. Clients stay connected when the feed changes.
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
        /// Number of pictures that are missing in the recording, because the disk was too slow.
        var recordingLost = 0
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

    let server: StreamServer
    let dependencies: Dependencies
    private let state: Mutex<State>
    private let thread = CompanionThread()

    /// Starts the supervisor's thread.
    init(
        _ video: EyesSettings.Video, _ server: StreamServer,
        _ dependencies: Dependencies = Dependencies()
    ) {
        self.server = server
        self.dependencies = dependencies
        state = Mutex(State(video: video))
        thread.start("eyes-feed") { [self] in
            var run = FeedRun(supervisor: self)
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

extension FeedSupervisor {
    /// Active settings.
    var settings: EyesSettings.Video { state.withLock { $0.video } }
    var isWanted: Bool { server.wait(isWanted: true, seconds: 0) }
    func waitForClient() { _ = server.wait(isWanted: false, seconds: 0.1) }

    func takesRepetition() -> Bool {
        state.withLock { state in
            defer { state.repeatsRecording = false }
            return state.repeatsRecording
        }
    }

    func update(_ body: (inout Report) -> Void) {
        state.withLock { body(&$0.report) }
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
                "\(camera.name), \(coding) \(format.width)x\(format.height) at \(format.rate) Hz"
        }
    }
}
