import CVideo
import Testing
import Wire

@testable import Eyes

@Suite("Health of the stream")
struct StreamHealthTests {
    private let video = EyesSettings().video
    private let address = "rtsp://127.0.0.1:8554/stream"

    private func health(
        seconds: Int64 = 1, _ change: (inout StreamHealth.Counters) -> Void
    ) -> StreamHealth {
        var before = StreamHealth.Counters(t: 1_000_000_000)
        before.feed.phase = .streaming
        before.feed.source = "HD Webcam"
        var now = before
        now.t += seconds * 1_000_000_000
        change(&now)
        return StreamHealth(from: before, to: now)
    }

    @Test("rates, losses and latency are those of the last interval")
    func figures() {
        let health = health(seconds: 2) {
            $0.feed.frames = 60
            $0.feed.bytes = 500_000
            $0.feed.gaps = 3
            $0.server.dropped = 2
            $0.server.clients = 2
            $0.server.frames = 50
            $0.server.latency_sum = 50 * 4_000_000
            $0.server.latency_max = 9_000_000
        }
        #expect(health.rateHz == 30)
        #expect(health.bitrateKbps == 2000)
        #expect(health.dropped == 5)
        #expect(health.latencyMs == 4)
        #expect(health.latencyMaxMs == 9)
        let report = health.report(video, address: address)
        #expect(report.level == .ok)
        #expect(report.finding == "HD Webcam, 30.0 Hz, 2 clients, latency 4.0 ms, 5 pictures lost")
        #expect(report.values["latency_ms"] == 4)
    }

    @Test("a slow stream causes a warning with a remedy")
    func slow() {
        let report = health { $0.feed.frames = 15 }.report(video, address: address)
        #expect(report.level == .warn)
        #expect(report.finding.contains("slower than 30 Hz"))
        #expect(!report.remedy.isEmpty)
    }

    @Test("pictures missing in the recording cause a warning with the file and a remedy")
    func slowDisk() {
        let report = health {
            $0.feed.frames = 30
            $0.feed.recording = "/video/a.mp4"
            $0.feed.recordingLost = 12
        }.report(video, address: address)
        #expect(report.level == .warn)
        #expect(report.finding.contains("/video/a.mp4: 12 pictures are missing"))
        #expect(report.remedy.contains("disk"))
    }

    @Test("a feed that has been open for less than the interval has no rate and causes no warning")
    func new() {
        let report = health {
            $0.feed.frames = 15
            $0.feed.opened = 1_500_000_000
        }.report(video, address: address)
        #expect(report.level == .ok)
        #expect(report.finding == "HD Webcam, 0 clients")
    }

    @Test("a lost camera causes a warning with the cause, although the stream continues")
    func replaced() {
        let report = health {
            $0.feed.frames = 30
            $0.feed.phase = .replaced
            $0.feed.problem = "no camera is connected"
            $0.feed.losses = 1
        }.report(video, address: address)
        #expect(report.level == .warn)
        #expect(report.finding.contains("no camera is connected"))
        #expect(report.remedy.contains("cable"))
    }

    @Test("a stream without clients is healthy, and states its address")
    func waiting() {
        let report = health { $0.feed.phase = .waiting }.report(video, address: address)
        #expect(report.level == .ok)
        #expect(report.finding.contains(address))
        #expect(report.values["rate_hz"] == nil)
    }
}
