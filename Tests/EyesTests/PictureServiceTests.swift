import CVideo
import Glibc
import People
import Synchronization
import SystemPackage
import TestSupport
import Testing
import WebServing
import Wire

@testable import Eyes

@Suite("JPEG pictures for airframe-web", .serialized, .timeLimit(.minutes(1)))
struct PictureServiceTests {
    /// Runs `body` with a stream whose camera runs only while a client needs it.
    private func withService(
        _ change: (inout EyesSettings) -> Void = { _ in },
        dependencies adapt: (inout FeedSupervisor.Dependencies) -> Void = { _ in },
        _ body: (PictureService, RunningStream, String) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("p.sock").string
            var settings = EyesSettings()
            settings.video.source = .test
            settings.pictures.socket = path
            change(&settings)
            let service = try PictureService(path: path, isEnabled: settings.video.enabled)
            defer { service.stop() }
            var dependencies = FeedSupervisor.Dependencies()
            dependencies.isWanted = { service.isWanted }
            dependencies.feed = { service.use($0) }
            adapt(&dependencies)
            try body(service, try RunningStream(settings.feedVideo, dependencies), path)
        }
    }

    private func get(_ client: WebClient, _ target: String = "/picture.jpg") throws
        -> WebClient.Answer
    {
        try client.request("GET", target, headers: ["Host: localhost"])
    }

    @Test("a request switches the camera on; pictures are new, small enough and not too frequent")
    func pictures() throws {
        try withService({ ($0.video.width, $0.video.height) = (1280, 720) }) {
            service, stream, path in
            usleep(300_000)
            #expect(stream.keeper.report.phase == .waiting && !service.isWanted)
            let client = try WebClient(path: path)
            var answer = try get(client)
            #expect(answer.status == 200 && answer.headers["content-type"] == "image/jpeg")
            let (width, height, _) = try JPEGDecoder().decode(answer.body)
            #expect((width, height) == (640, 360))
            func time() throws -> Int64 {
                try #require(answer.headers["x-exposed"].flatMap { Int64($0) })
            }
            var exposures = [try time()]
            #expect((0..<1_000_000_000).contains(cv_now() - exposures[0]))
            // pictures.rate_hz is 10, so 20 pictures take about 2 s.
            let start = cv_now()
            for _ in 0..<20 {
                let before = answer.headers["x-number"] ?? ""
                answer = try get(client, "/picture.jpg?after=\(before)")
                #expect(answer.headers["x-number"] != before)
                exposures.append(try time())
            }
            let seconds = Double(cv_now() - start) * 1e-9
            #expect(seconds >= 1.5, "\(seconds) s")
            // The median does not depend on pauses of the computer.
            let intervals = zip(exposures, exposures.dropFirst()).map { Double($1 - $0) * 1e-6 }
            let median = try #require(LatencyFigures.Distribution(intervals)).percentile(50)
            #expect((75...150).contains(median), "\(median) ms")
            #expect(service.given == 21)
            // Without requests, the camera is switched off.
            #expect(stream.report(within: 5) { $0.phase == .waiting })
        }
    }

    @Test("a client that has missed pictures immediately gets only the newest picture")
    func missed() throws {
        try withService { _, _, path in
            let (slow, fast) = (try WebClient(path: path), try WebClient(path: path))
            let first = try #require(try get(slow).headers["x-number"].flatMap { Int($0) })
            var newest = first
            for _ in 0..<10 {
                newest = try #require(
                    try get(fast, "/picture.jpg?after=\(newest)").headers["x-number"].flatMap {
                        Int($0)
                    })
            }
            let late = try get(slow, "/picture.jpg?after=\(first)").headers["x-number"]
            #expect(late.flatMap { Int($0) }.map { $0 >= newest } == true)
        }
    }

    @Test("the first client after a pause gets pictures at the configured rate from the start")
    func pause() throws {
        try withService({ $0.video.alwaysOn = true }) { _, stream, path in
            #expect(stream.report(within: 10) { $0.frames > 75 })
            let client = try WebClient(path: path)
            var number = try get(client).headers["x-number"] ?? ""
            let start = cv_now()
            for _ in 0..<10 {
                number = try get(client, "/picture.jpg?after=\(number)").headers["x-number"] ?? ""
            }
            #expect(cv_now() - start > 800_000_000)
        }
    }

    /// Takes a photo.
    ///
    /// - Returns: Time from the request to the exposure that the picture's time code shows, ns.
    private func exposure(of service: PictureService) throws -> Int64 {
        final class Photo: Sendable {
            let bytes = Mutex<[UInt8]>([])
        }
        let photo = Photo()
        let requested = cv_now()
        service.photo { outcome in
            guard case .success(let bytes) = outcome else { return }
            photo.bytes.withLock { $0 = bytes }
        }
        #expect(eventually(within: 5) { photo.bytes.withLock { !$0.isEmpty } })
        let picture = try JPEGDecoder().decode(photo.bytes.withLock { $0 }).picture
        // The cells of the time code are grey, so one colour shows their brightness.
        let grey = stride(from: 1, to: picture.bytes.count, by: 3).map { picture.bytes[$0] }
        let now = cv_now()
        let age = try #require(
            grey.withUnsafeBytes {
                TimeCode.age(of: $0, width: picture.width, stride: picture.width, now: now)
            })
        return now - age - requested
    }

    @Test("each photo is exposed after its request, also directly after another photo")
    func exposure() throws {
        try withService({ $0.video.alwaysOn = true }) { service, stream, _ in
            #expect(stream.report(within: 10) { $0.frames > 30 })
            for _ in 0..<3 {
                let delay = try exposure(of: service)
                #expect(delay >= -TimeCode.step)
            }
        }
    }

    @Test("the pictures continue while a photo waits for a slow disk")
    func slowDisk() throws {
        try withService({ $0.video.alwaysOn = true }) { service, stream, path in
            #expect(stream.report(within: 10) { $0.frames > 30 })
            let photos = FilePath(path).removingLastComponent().appending("photos")
            try makeDirectory(photos)
            // A pipe without a reader blocks the writing of a photo, as a slow disk does.
            let pipe = photos.appending("gimbal-20261125T142805.250Z.jpg.new").string
            #expect(mkfifo(pipe, 0o600) == 0)
            let commands = CameraCommandExecutor(service, wall: { 1_795_616_885.25 })
            do {
                // A reader lets the writing end. A pipe cannot be synced, so the photo is not stored.
                defer { _ = try? shell("timeout 5 cat \(pipe) >\(photos)/read") }
                #expect(commands.photo(in: photos.string) == nil)
                #expect(eventually(within: 5) { service.given == 1 })
                let client = try WebClient(path: path, timeout: 3)
                for _ in 0..<2 { #expect(try get(client).status == 200) }
            }
            func state() -> CaptureState {
                commands.state(
                    FeedSupervisor.Report(), directory: "/", latest: nil, problem: nil)
            }
            #expect(eventually(within: 5) { state().problem != nil })
            #expect(state().problem?.contains("cannot be stored") == true)
        }
    }

    /// Wall clock that the test sets.
    private final class Clock: Sendable {
        private let state = Mutex((date: 1_795_616_885.25, readings: 0))
        var readings: Int { state.withLock { $0.readings } }
        func set(_ date: Double) { state.withLock { $0.date = date } }
        func read() -> Double {
            state.withLock { state in
                state.readings += 1
                return state.date
            }
        }
    }

    @Test("the name of a photo contains the date of its picture, even if the disk is slow")
    func photoDate() throws {
        try withService({ $0.video.alwaysOn = true }) { service, stream, path in
            #expect(stream.report(within: 10) { $0.frames > 30 })
            let photos = FilePath(path).removingLastComponent().appending("photos")
            try makeDirectory(photos)
            // A pipe without a reader blocks the writing of the first photo.
            let pipe = photos.appending("gimbal-20261125T142805.250Z.jpg.new").string
            #expect(mkfifo(pipe, 0o600) == 0)
            let clock = Clock()
            let commands = CameraCommandExecutor(service, wall: { clock.read() })
            do {
                defer { _ = try? shell("timeout 5 cat \(pipe) >\(photos)/read") }
                #expect(commands.photo(in: photos.string) == nil)
                #expect(eventually(within: 5) { clock.readings == 1 })
                clock.set(1_795_616_886.5)
                #expect(commands.photo(in: photos.string) == nil)
                #expect(eventually(within: 5) { clock.readings == 2 })
                clock.set(1_795_616_900)
            }
            let second = photos.appending("gimbal-20261125T142806.500Z.jpg").string
            #expect(eventually(within: 5) { access(second, F_OK) == 0 })
        }
    }

    @Test(
        "requests are refused with video.enabled = false, with a wrong path, and from too many clients"
    )
    func refusals() throws {
        try withService({ $0.video.enabled = false }) { service, _, path in
            let client = try WebClient(path: path)
            let answer = try get(client)
            #expect(answer.status == 503 && answer.text.contains("video.enabled"))
            #expect(try get(client, "/").status == 404)
            service.apply(isEnabled: true)
            // Without a feed, the request is refused after its time limit.
            let start = cv_now()
            let late = try get(client)
            #expect(late.status == 503 && late.text.contains("sends no pictures"))
            #expect(cv_now() - start < 8_000_000_000)
            let others = try (1..<PictureService.connections).map { _ in
                try WebClient(path: path)
            }
            #expect(try WebClient(path: path).isClosed())
            #expect(others.count == PictureService.connections - 1)
            // Only the owner and the group can use the socket.
            var info = Glibc.stat()
            #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o660)
        }
    }

    @Test("a picture of a camera that sends no key frame is refused with this reason")
    func keyless() throws {
        try withService(
            { $0.video.alwaysOn = true },
            dependencies: {
                $0.pipeline = { _, _, _ in
                    FeedPipeline.encodingCamera(framesPerKey: 100_000)
                }
            }
        ) { _, stream, path in
            #expect(stream.report(within: 10) { $0.frames > 30 })
            let answer = try get(try WebClient(path: path))
            #expect(answer.status == 503 && answer.text.contains("no key frame for 5 s"))
        }
    }

    @Test(
        "the pictures contain skeletons as the stream does; without people the pipeline has one branch"
    )
    func pipelines() throws {
        var settings = EyesSettings()
        func text() throws -> String {
            let video = settings.feedVideo
            return try #require(
                FeedPipeline(CameraChoice.drawn(reason: nil), video, encoder: .x264)
            ).text
        }
        #expect(try text().contains("identity name=overlay ! tee name=shown ! x264enc"))
        #expect(try text().contains("valve name=shutter drop=true"))
        #expect(try text().contains("width=640,height=480 ! videoconvert ! jpegenc quality=75"))
        settings.people.enabled = false
        #expect(try text().contains("jpegenc") && !text().contains("name=samples"))
        settings.pictures.socket = "off"
        #expect(try !text().contains("tee"))
    }

    @Test(
        "the socket adopts the group of airframed's socket; the target of a link keeps its group",
        .enabled(if: geteuid() == 0, "only root can give a file to another group"))
    func adoptedGroup() throws {
        try withTemporaryDirectory { directory in
            let (path, other) = (directory.appending("p.sock"), directory.appending("other"))
            let secret = directory.appending("secret")
            for file in [other, secret] { try write("", to: file) }
            #expect(chown(other.string, uid_t.max, 65534) == 0)
            let service = try PictureService(path: path.string, isEnabled: false)
            defer { service.stop() }
            func owningGroup(_ file: FilePath) -> gid_t? {
                var info = stat()
                return stat(file.string, &info) == 0 ? info.st_gid : nil
            }
            service.adoptGroup(of: other.string)
            #expect(owningGroup(path) == 65534)
            #expect(unlink(path.string) == 0 && symlink(secret.string, path.string) == 0)
            service.adoptGroup(of: other.string)
            #expect(owningGroup(secret) == getegid())
        }
    }
}
