import CVideo
import PlainText
import Wire

/// Health of the stream in the interval between two readings of its counters. The type has no side
/// effects.
struct StreamHealth: Sendable, Equatable {
    /// Snapshot of the stream's counters since the start.
    struct Counters: Sendable {
        /// Time of the counters, ns on CLOCK_MONOTONIC.
        var t: Int64
        var feed = FeedSupervisor.Report()
        var server = cv_server_stats()
    }

    /// State of the feed.
    var feed: FeedSupervisor.Report
    /// Connected clients.
    var clients: Int
    /// Frame rate at the encoder's output, Hz.
    var rateHz: Double
    /// Bit rate of the encoder, kbit/s.
    var bitrateKbps: Double
    /// Number of pictures dropped between camera and network in the interval.
    var dropped: Int
    /// Number of pictures dropped between camera and network since the start.
    var droppedTotal: Int
    /// Mean time from the exposure of a picture to its last RTP packet, ms; nil if no packet was
    /// sent.
    var latencyMs: Double?
    /// Largest time from the exposure of a picture to its last RTP packet, ms; nil if no packet was
    /// sent.
    var latencyMaxMs: Double?
    /// True if the feed was opened during the interval, so its frame rate is not known yet.
    var isNew: Bool

    /// Computes the health from two readings of the counters.
    init(from before: Counters, to now: Counters) {
        let seconds = max(1e-3, Double(now.t - before.t) * 1e-9)
        feed = now.feed
        isNew = now.feed.opened > before.t
        clients = Int(now.server.clients)
        rateHz = Double(now.feed.frames - before.feed.frames) / seconds
        bitrateKbps = Double(now.feed.bytes - before.feed.bytes) * 8e-3 / seconds
        droppedTotal = Int(now.feed.gaps + now.server.dropped)
        dropped = droppedTotal - Int(before.feed.gaps + before.server.dropped)
        let packets = now.server.frames - before.server.frames
        if packets > 0 {
            let sum = now.server.latency_sum - before.server.latency_sum
            latencyMs = Double(sum) * 1e-6 / Double(packets)
            latencyMaxMs = Double(now.server.latency_max) * 1e-6
        }
    }

    /// Health report, which airframed shows in `status` and `doctor`.
    ///
    /// - Parameters:
    ///   - video: The active settings.
    ///   - address: Address of the stream.
    /// - Returns: Health report: the result of the check, a sentence, a remedy and values.
    func report(_ video: EyesSettings.Video, address: String) -> CompanionReport {
        var report = CompanionReport(name: "eyes")
        (report.level, report.finding, report.remedy) = judgement(video, address)
        if feed.phase != .off { report.stream = stream(video, uri: address) }
        report.values = ["clients": Number(Double(clients)), "losses": Number(Double(feed.losses))]
        guard feed.phase == .streaming || feed.phase == .replaced else { return report }
        report.values["rate_hz"] = Number(rateHz)
        report.values["bitrate_kbps"] = Number(bitrateKbps)
        report.values["dropped"] = Number(Double(droppedTotal))
        if let latencyMs { report.values["latency_ms"] = Number(latencyMs) }
        if let latencyMaxMs { report.values["latency_max_ms"] = Number(latencyMaxMs) }
        return report
    }

    /// Description of the stream for ground stations, which airframed announces over MAVLink.
    private func stream(_ video: EyesSettings.Video, uri: String) -> VideoStream {
        VideoStream(
            uri: uri, width: video.width, height: video.height,
            rateHz: Number(Double(video.rateHz)), bitrateKbps: Number(Double(video.bitrateKbps)))
    }

    private func judgement(_ video: EyesSettings.Video, _ address: String)
        -> (DoctorCheck.Level, String, String)
    {
        switch feed.phase {
        case .off: return (.ok, "video is off (video.enabled)", "")
        case .waiting: return (.ok, "ready at \(address), no client", "")
        case .failed:
            return (
                .warn, feed.problem ?? "there are no pictures",
                "see journalctl -u airframe-eyes; airframe-eyes cameras lists cameras and encoders."
            )
        case .replaced:
            return (
                .warn,
                "\(feed.problem ?? "no camera"): the stream shows the test picture instead; camera disconnected \(feed.losses) times",
                "check cable and power of the camera; the stream resumes automatically. Without a camera, set video.source = \"test\"."
            )
        case .streaming: break
        }
        var stream = feed.source + (isNew ? "" : ", \(Format.fixed(rateHz, 1)) Hz")
        stream += ", \(clients) \(clients == 1 ? "client" : "clients")"
        if let latencyMs { stream += ", latency \(Format.fixed(latencyMs, 1)) ms" }
        if droppedTotal > 0 { stream += ", \(droppedTotal) pictures lost" }
        if let problem = feed.recordingProblem {
            return (
                .warn, "\(stream); not recorded: \(problem)",
                "free disk space, or correct video.record_directory; then run `airframectl camera record`."
            )
        }
        stream += feed.recording.map { ", recording \($0)" } ?? ""
        if feed.recording != nil, feed.recordingLost > 0 {
            return (
                .warn,
                "\(stream): \(feed.recordingLost) pictures are missing, because the disk is too slow",
                "use a faster disk for video.record_directory, or a lower video.bitrate_kbps."
            )
        }
        if !isNew, rateHz < 0.8 * Double(video.rateHz) {
            return (
                .warn, "\(stream): slower than \(video.rateHz) Hz",
                "set a smaller picture size or a lower video.rate_hz; in dim light many cameras lower their frame rate."
            )
        }
        return (.ok, stream, "")
    }
}
