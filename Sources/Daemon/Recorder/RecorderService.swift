import Configuration
import GimbalCore
import Glibc
import Logging
import Policy
import Realtime
import Recording
import ServiceLifecycle
import SystemPackage
import Wire

/// Service that runs the writing thread of the recorder. The service ends when all recordings are
/// written.
struct RecorderService: Service {
    /// Longest wait for a hanging disk at the end of the service, s.
    private static let patience = 3.0

    let recorder: FlightRecorder
    let log: Logger

    func run() async throws {
        let (recorder, log) = (recorder, log)
        let thread = try RealtimeThread(ThreadTable.recorder) {
            recorder.run { name in
                log.notice(
                    "\(name): airframed stopped unexpectedly while it wrote this recording. The file has been repaired and can be read, but its end may be missing."
                )
            }
        }
        try? await gracefulShutdown()
        recorder.end()
        if !thread.join(until: MonotonicClock.now.advanced(bySeconds: Self.patience)) {
            log.warning("The disk hangs: the last recording is incomplete.")
        } else if let problem = recorder.status.problem {
            log.warning("\(problem)")
        }
    }
}

extension Settings {
    /// Size of the loop's replay log, bytes: enough for a quarter of a second of ticks and samples,
    /// and for a complete state. No memory is allocated for the replay log if the recorder is off.
    var replayLogBytes: Int { recording.enabled ? 65536 + loop.rateHz * 440 : 0 }

    /// Creates the setup of the flight recorder: its directory, limits and description.
    ///
    /// - Parameter clock: The loop's clock.
    /// - Returns: Setup of a `FlightRecorder`.
    func recorderSetup(clock: LoopClock) -> FlightRecorder.Setup {
        var limits = RecordingDirectory.Limits()
        limits.totalBytes = recording.maxTotalMb * 1_000_000
        // Half of the total size at most, so that a completed file is not deleted for the next file.
        limits.fileBytes = min(recording.maxFileMb * 1_000_000, limits.totalBytes / 2)
        limits.ageSeconds = recording.maxAgeDays * 86400
        // In lockstep the offset to the wall clock is 0. A simulator's time is unrelated to the
        // wall clock, and a repeated run must write identical files.
        let isLockstep = hardware.backend == .lockstep
        let offset = isLockstep ? 0 : WallClock.seconds - clock.seconds(clock.now)
        return FlightRecorder.Setup(
            ringSeconds: recording.ringS, isContinuous: recording.continuous,
            recordings: RecordingDirectory(
                directory: FilePath(persistence.directory).appending("recordings"),
                limits: limits),
            description: description, timeOffset: Int64(offset * 1e9))
    }

    /// Description of this machine for every recording.
    private var description: RecordingStore.Description {
        let versions: [String: String] = [
            "airframe": Version.text, "kernel": Board.kernel, "architecture": Board.architecture,
            "zstd": FlightChannels.compression,
        ]
        let board: [String: String] = [
            "model": Board.model, "cpus": "\(Board.cpus)", "memory_kb": "\(Board.memory)",
        ]
        return RecordingStore.Description(
            library: "airframed \(Version.text)",
            metadata: [
                "format": "\(FlightChannels.format)", "version": Version.text,
                "architecture": Board.architecture, "board": Board.model,
                "backend": hardware.backend.rawValue, "rate_hz": "\(loop.rateHz)",
            ],
            attachments: [
                attachment("versions.json", versions), attachment("board.json", board),
            ] + RecordedMemory.attachments(time: Int64(WallClock.seconds * 1e9)))
    }

    private func attachment(_ name: String, _ values: [String: String]) -> MCAPAttachment {
        var bytes: [UInt8] = []
        JSONValue.object(values.mapValues(JSONValue.string)).write(to: &bytes)
        return MCAPAttachment(
            name: name, mediaType: "application/json",
            time: Int64(WallClock.seconds * 1e9), data: bytes)
    }
}
