import CVideo
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Eyes

/// GStreamer, initialised once for all tests.
let isVideoReady: Bool = {
    do {
        try VideoLibrary.start()
        return true
    } catch {
        return false
    }
}()

/// Server on a free port with a feed supervisor; both are closed at the end.
final class RunningStream {
    let server: StreamServer
    let keeper: FeedSupervisor
    let log = Mutex<[String]>([])

    init(
        _ video: EyesSettings.Video, maximumClients: Int = 8, idleSeconds: Double = 10,
        _ dependencies: FeedSupervisor.Dependencies = .init()
    ) throws {
        #expect(isVideoReady)
        server = try StreamServer(
            host: "127.0.0.1", port: 0, path: "/stream", maximumClients: maximumClients,
            idleSeconds: idleSeconds)
        keeper = FeedSupervisor(video, server, dependencies)
    }

    deinit { keeper.stop() }

    var url: String { "rtsp://127.0.0.1:\(server.port)/stream" }

    func player(_ transport: Player.Transport = .tcp) throws -> Player {
        try Player(url, over: transport)
    }

    /// Waits until the state of the feed is as expected.
    func report(within seconds: Double, where isMet: (FeedSupervisor.Report) -> Bool) -> Bool {
        let end = cv_now() + Int64(seconds * 1e9)
        while cv_now() < end {
            if isMet(keeper.report) { return true }
            usleep(20_000)
        }
        return false
    }

    /// Waits until the encoder has made `count` further pictures.
    func encodes(_ count: UInt64, within seconds: Double) -> Bool {
        let before = keeper.report.frames
        return report(within: seconds) { $0.frames >= before + count }
    }

    static var testPicture: EyesSettings.Video {
        var video = EyesSettings().video
        video.source = .test
        return video
    }
}

extension Player {
    /// Number of pictures received within this time.
    func pictures(for seconds: Double) throws -> [Picture] {
        let end = cv_now() + Int64(seconds * 1e9)
        var pictures: [Picture] = []
        while cv_now() < end {
            if let picture = try next(within: 0.2) { pictures.append(picture) }
        }
        return pictures
    }

    /// Times of exposure of the next `count` pictures that are exposed after this call, ns on
    /// CLOCK_MONOTONIC; fewer if they do not arrive in time. The pictures must have a time code.
    func exposures(_ count: Int, within seconds: Double) throws -> [Int64] {
        let start = cv_now()
        var times: [Int64] = []
        _ = try first(within: seconds) { picture in
            let exposed = cv_now() - (picture.decodedAge ?? .max)
            if exposed > start { times.append(exposed) }
            return times.count == count
        }
        return times
    }

    /// The first picture that meets a condition.
    func first(within seconds: Double, where isMet: (Picture) -> Bool = { _ in true }) throws
        -> Picture?
    {
        let end = cv_now() + Int64(seconds * 1e9)
        while cv_now() < end {
            if let picture = try next(within: 0.2), isMet(picture) { return picture }
        }
        return nil
    }
}

@Suite("The stream, as a player receives it", .serialized, .timeLimit(.minutes(1)))
struct StreamTests {
    @Test("the camera is off until a client connects, and off again after the last has left")
    func onDemand() throws {
        let stream = try RunningStream(RunningStream.testPicture)
        #expect(stream.report(within: 5) { $0.phase == .waiting })
        usleep(200_000)
        #expect(stream.keeper.report.frames == 0)
        do {
            let player = try stream.player()
            #expect(try player.first(within: 5) != nil)
            #expect(stream.report(within: 5) { $0.phase == .streaming })
        }
        #expect(stream.report(within: 5) { $0.phase == .waiting })
    }

    @Test(
        "a picture of 640x480 at 30 Hz is in a packet within 100 ms of its exposure",
        arguments: [Player.Transport.udp, .tcp])
    func latency(_ transport: Player.Transport) throws {
        let stream = try RunningStream(RunningStream.testPicture)
        // A pause delays and omits pictures.
        let figures = try repeatingAfterPause(
            of: 0.02,
            until: {
                $0.pictures >= 50 && $0.packet?.percentile(99) ?? .nan <= LatencyCommand.barMs
            }
        ) { try LatencyFigures(stream.url, over: transport, seconds: 2) }
        print(figures.text)
        #expect(figures.pictures >= 50)
        #expect(try #require(figures.packet).percentile(99) <= LatencyCommand.barMs)
    }

    // QGroundControl's GstSourceFactory.cc and GstVideoReceiver.cc use these elements and
    // properties: a source with parsebin, a tee, a queue, and decodebin3.
    @Test(
        "the elements of QGroundControl's video receiver decode the stream",
        arguments: ["udp+tcp", "tcp"])
    func groundStation(protocols: String) throws {
        let stream = try RunningStream(RunningStream.testPicture)
        let source =
            "rtspsrc location=\(stream.url) protocols=\(protocols) latency=80 do-rtcp=true drop-on-latency=true tcp-timeout=5000000 udp-reconnect=true retry=3"
        let sink = "videoconvert ! video/x-raw,format=GRAY8,width=640 ! fakesink num-buffers=30"
        try withTemporaryDirectory { directory in
            let output = directory.appending("out")
            _ = try shell(
                "LC_ALL=C timeout 20 gst-launch-1.0 \(source) ! parsebin ! tee ! queue ! decodebin3 ! \(sink) > \(output) 2>&1"
            )
            // The sink ends after 30 decoded pictures. The exit status says less: gst-launch then
            // pauses its source, which cancels its own request in about 1 of 200 runs over TCP.
            let text = String(decoding: try bytes(of: output), as: UTF8.self)
            #expect(text.contains("Got EOS from element"), "\(text)")
        }
    }

    @Test("simultaneous clients over UDP and TCP do not delay each other")
    func mixed() throws {
        let stream = try RunningStream(RunningStream.testPicture)
        let other = try stream.player(.tcp)
        _ = try #require(try other.first(within: 5))
        let player = try stream.player(.udp)
        _ = try #require(try player.first(within: 5))
        let ages = try player.pictures(for: 1.5).compactMap(\.packetAge).map { Double($0) * 1e-6 }
        // A delay by GStreamer's sinks would affect every picture by 20 ms; a busy computer delays
        // only some pictures.
        let quick = try #require(LatencyFigures.Distribution(ages)).percentile(10)
        #expect(quick < 15, "\(quick) ms")
    }

    @Test("the latency that the server measures agrees with the latency at a player")
    func ownLatency() throws {
        let stream = try RunningStream(RunningStream.testPicture)
        let player = try stream.player()
        _ = try #require(try player.first(within: 5))
        let before = stream.server.counters()
        let ages = try player.pictures(for: 1.5).compactMap(\.packetAge).map { Double($0) * 1e-6 }
        let after = stream.server.counters()
        let own =
            Double(after.latency_sum - before.latency_sum) * 1e-6
            / Double(after.frames - before.frames)
        try #require(!ages.isEmpty)
        let seen = ages.reduce(0, +) / Double(ages.count)
        #expect(own > 0.05)
        #expect(abs(own - seen) < 10, "\(own) and \(seen) ms")
    }

    @Test("ffprobe opens the stream")
    func ffprobe() throws {
        let stream = try RunningStream(RunningStream.testPicture)
        try withTemporaryDirectory { directory in
            let output = directory.appending("out")
            let status = try shell(
                "timeout 15 ffprobe -v error -rtsp_transport tcp -show_entries "
                    + "stream=codec_name,width,height,avg_frame_rate,has_b_frames -of csv=p=0 \(stream.url) > \(output)"
            )
            #expect(status == 0)
            let text = String(decoding: try bytes(of: output), as: UTF8.self)
            // No B-frames: a picture never waits for a later one.
            #expect(text == "h264,640,480,0,30/1\n")
        }
    }

    @Test("a client that stops reading and a client that vanishes do not disturb another client")
    func stalled() throws {
        var video = RunningStream.testPicture
        video.bitrateKbps = 10_000
        var dependencies = FeedSupervisor.Dependencies()
        // Noise, whose 10 Mbit/s fill every buffer of the stalled client within the test.
        dependencies.pipeline = { _, video, encoder in
            encoder.map { encoder in
                FeedPipeline(
                    text: "videotestsrc is-live=true pattern=snow"
                        + " ! video/x-raw,format=I420,width=640,height=480,framerate=30/1"
                        + " ! \(encoder.elements(video)) ! \(FeedPipeline.end)", encoder: encoder)
            }
        }
        let stream = try RunningStream(video, dependencies)
        let watcher = try stream.player(.tcp)
        _ = try #require(try watcher.first(within: 5))
        let stalled = try StalledClient(port: stream.server.port)
        #expect(try stalled.play().hasPrefix("RTSP/1.0 200"))
        do {
            // This client leaves without ending its session.
            let vanished = try StalledClient(port: stream.server.port)
            #expect(try vanished.play().hasPrefix("RTSP/1.0 200"))
        }
        let before = (stream.keeper.report, stream.server.counters())
        let pictures = try watcher.pictures(for: 6)
        let after = (stream.keeper.report, stream.server.counters())
        #expect(after.0.bytes - before.0.bytes > 5_000_000)
        #expect(pictures.count >= 120, "\(pictures.count) of 180 pictures")
        #expect(after.1.dropped == before.1.dropped)
        // A server that waits for the stalled client delays the others until the end of the test;
        // a pause of the computer delays a picture by about a second.
        #expect(after.1.latency_max < 2_000_000_000, "\(after.1.latency_max) ns")
    }

    @Test("a client beyond the limit is disconnected; the others stay")
    func limit() throws {
        let stream = try RunningStream(RunningStream.testPicture, maximumClients: 2)
        let players = [try stream.player(), try stream.player()]
        for player in players { #expect(try player.first(within: 5) != nil) }
        let third = try stream.player()
        #expect(throws: VideoError.self) { try third.pictures(for: 20) }
        for player in players { #expect(try player.exposures(10, within: 5).count == 10) }
    }

    @Test(
        "connections without a request are closed and do not exclude a player, and players stay connected"
    )
    func idle() throws {
        let stream = try RunningStream(
            RunningStream.testPicture, maximumClients: 2, idleSeconds: 2)
        let idle = [
            try StalledClient(port: stream.server.port),
            try StalledClient(port: stream.server.port),
        ]
        #expect(
            eventually(within: 10) {
                let counters = stream.server.counters()
                return counters.accepted == 2 && counters.clients == 0
            })
        let player = try stream.player()
        #expect(try player.first(within: 5) != nil)
        // A player with a session stays longer than the limit.
        #expect(try player.pictures(for: 3.5).count >= 60)
        #expect(stream.server.counters().clients == 1)
        _ = idle
    }

    @Test("a client that sends only DESCRIBE is disconnected, and does not exclude a player")
    func describing() throws {
        let stream = try RunningStream(
            RunningStream.testPicture, maximumClients: 1, idleSeconds: 2)
        let client = try StalledClient(port: stream.server.port)
        let isClosed = eventually(within: 20) {
            try? client.describe()
            let counters = stream.server.counters()
            return counters.accepted == 1 && counters.clients == 0
        }
        #expect(isClosed)
        let player = try stream.player()
        #expect(try player.first(within: 5) != nil)
    }

    @Test("size, rate and bit rate change without disconnecting the client")
    func live() throws {
        var video = RunningStream.testPicture
        let stream = try RunningStream(video)
        let player = try stream.player()
        _ = try #require(try player.first(within: 5))

        video.bitrateKbps = 300
        let before = stream.keeper.report
        stream.keeper.apply(video)
        #expect(try player.exposures(25, within: 5).count == 25)
        // A change of the bit rate does not restart the encoder.
        #expect(stream.keeper.report.opened == before.opened)

        (video.width, video.height, video.rateHz) = (320, 240, 15)
        stream.keeper.apply(video)
        #expect(try player.first(within: 5) { $0.width == 320 && $0.height == 240 } != nil)
        // The median does not depend on pauses of the computer.
        let times = try player.exposures(25, within: 10)
        let intervals = zip(times, times.dropFirst()).map { Double($1 - $0) * 1e-6 }
        let median = try #require(LatencyFigures.Distribution(intervals)).percentile(50)
        #expect(times.count == 25 && (57...80).contains(median), "\(median) ms")

        video.enabled = false
        stream.keeper.apply(video)
        #expect(stream.report(within: 5) { $0.phase == .off })
        video.enabled = true
        stream.keeper.apply(video)
        #expect(try player.first(within: 5) != nil)
    }

    @Test(
        "a camera that is unplugged is replaced by the drawn picture, and shown again when it is back"
    )
    func unplugged() throws {
        try withTemporaryDirectory { directory in
            let camera = FakeCamera(directory)
            try camera.plug()
            let stream = try RunningStream(EyesSettings().video, camera.dependencies)
            let player = try stream.player()
            // The fake camera's picture has no time code.
            #expect(try player.first(within: 8) { $0.decodedAge == nil } != nil)
            #expect(stream.report(within: 5) { $0.phase == .streaming })

            camera.unplug()
            #expect(try player.first(within: 5) { $0.decodedAge != nil } != nil)
            #expect(stream.report(within: 5) { $0.phase == .replaced })
            #expect(stream.keeper.report.losses == 1)

            try camera.plug()
            #expect(stream.report(within: 8) { $0.phase == .streaming })
            #expect(try player.first(within: 5) { $0.decodedAge == nil } != nil)
        }
    }

    @Test("a test picture that stops starts again, and is not reported as a lost camera")
    func restart() throws {
        let openings = Mutex(0)
        let feeds = Mutex<[Bool]>([])
        var dependencies = FeedSupervisor.Dependencies()
        dependencies.feed = { feed in feeds.withLock { $0.append(feed != nil) } }
        dependencies.pipeline = { choice, video, encoder in
            let opening = openings.withLock { count in
                count += 1
                return count
            }
            guard opening == 1, let encoder else {
                return FeedPipeline(choice, video, encoder: encoder)
            }
            // The first feed ends after ten pictures.
            return FeedPipeline(
                text: "videotestsrc is-live=true pattern=ball num-buffers=10"
                    + " ! video/x-raw,format=I420,width=640,height=480,framerate=30/1"
                    + " ! \(encoder.elements(video)) ! \(FeedPipeline.end)", encoder: encoder)
        }
        let stream = try RunningStream(RunningStream.testPicture, dependencies)
        let player = try stream.player()
        #expect(try player.first(within: 8) { $0.decodedAge != nil } != nil)
        #expect(openings.withLock { $0 } == 2)
        #expect(stream.report(within: 5) { $0.phase == .streaming && $0.losses == 0 })
        #expect(feeds.withLock { $0 } == [true, false, true])
    }

    @Test("a port in use causes an error that contains the port")
    func portInUse() throws {
        let stream = try RunningStream(RunningStream.testPicture)
        let port = stream.server.port
        let error = try #require(throws: VideoError.self) {
            try StreamServer(host: "127.0.0.1", port: port, path: "/stream", maximumClients: 1)
        }
        #expect(error.description.contains("127.0.0.1:\(port)"))
        #expect(error.description.contains("rtsp.listen"))
    }
}
