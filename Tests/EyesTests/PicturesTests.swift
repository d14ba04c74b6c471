import CVideo
import Glibc
import People
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Eyes

extension FeedPipeline {
    /// Pipeline of a camera that encodes its pictures and sends a key frame every `framesPerKey`
    /// pictures. The access units for the decoder are the `stills`.
    static func encodingCamera(framesPerKey: Int) -> FeedPipeline {
        let format = "video/x-h264,stream-format=byte-stream,alignment=au"
        return FeedPipeline(
            text: "videotestsrc is-live=true pattern=ball"
                + " ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"
                + " ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=\(framesPerKey)"
                + " ! \(format) ! tee name=split split. ! queue ! \(FeedPipeline.end)"
                + " split. ! queue ! valve name=shutter drop=true ! h264parse name=shutter-units"
                + " ! \(format) ! appsink name=stills sync=false async=false", encoder: nil)
    }
}

@Suite("Pictures for the models, and shapes over the stream", .serialized, .timeLimit(.minutes(1)))
struct PicturesTests {
    /// A grey photo with a red left half.
    private func photo(_ directory: FilePath) throws -> FilePath {
        let path = directory.appending("photo.png")
        let filter = "color=gray:s=320x240,drawbox=x=0:y=0:w=160:h=240:color=red:t=fill"
        #expect(
            try shell(
                "timeout 20 ffmpeg -v error -y -f lavfi -i \(filter) -frames:v 1 \(path)") == 0)
        return path
    }

    private func video(_ path: FilePath, people: Bool = true) -> EyesSettings.Video {
        var video = EyesSettings().video
        video.source = .file
        video.device = path.string
        (video.width, video.height, video.rateHz) = (320, 240, 15)
        video.alwaysOn = true
        video.peopleHz = people ? 10 : 0
        return video
    }

    @Test("a file is decoded to an RGB picture")
    func file() throws {
        try #require(isVideoReady)
        try withTemporaryDirectory { directory in
            let path = try photo(directory)
            let pictures = try PictureFile(path.string)
            let picture = try #require(try pictures.next())
            #expect((picture.width, picture.height) == (320, 240))
            #expect(picture.bytes[0] > 200 && picture.bytes[1] < 60)
            let right = picture.bytes.suffix(3).map { Int($0) }
            #expect((right.max() ?? 255) - (right.min() ?? 0) < 12)
            #expect(try pictures.next() == nil)
            #expect(throws: VideoError.self) { _ = try PictureFile("/nonexistent").next() }
        }
    }

    @Test(
        "the models get pictures with timestamps while the valve is open, and the player gets the shapes"
    )
    func samples() throws {
        try withTemporaryDirectory { directory in
            let feeds = Mutex<[Feed?]>([])
            var dependencies = FeedSupervisor.Dependencies()
            dependencies.feed = { feed in feeds.withLock { $0.append(feed) } }
            dependencies.encoder = { _ in .x264 }
            let stream = try RunningStream(video(try photo(directory)), dependencies)
            #expect(stream.report(within: 10) { $0.phase == .streaming && $0.frames > 3 })
            let feed = try #require(feeds.withLock { $0.last ?? nil })
            var buffer = [UInt8](repeating: 0, count: 3 * 320 * 240)
            func take() -> cv_sample? {
                var info = cv_sample()
                let isTaken = buffer.withUnsafeMutableBufferPointer { feed.sample(into: $0, &info) }
                return isTaken ? info : nil
            }
            #expect(take() == nil)
            feed.set("gate", "drop", "false")
            var sample: cv_sample?
            for _ in 0..<60 where sample == nil { sample = take() }
            let info = try #require(sample)
            #expect((info.width, info.height) == (320, 240))
            #expect(abs(cv_now() - info.exposed) < 1_000_000_000)
            #expect(buffer[0] > 180 && buffer[1] < 80)
            // A player receives a white square over the red half.
            let square = cv_shape(
                is_line: false, x0: 40, y0: 40, x1: 120, y1: 200, thickness: 0, luma: 235, u: 128,
                v: 128)
            let far = cv_shape(
                is_line: true, x0: -.infinity, y0: 0, x1: 1e9, y1: .nan, thickness: 3, luma: 0,
                u: 0, v: 0)
            feed.overlay([square, far], until: .max)
            let raw = directory.appending("grey")
            #expect(
                try shell(
                    "timeout 20 ffmpeg -v error -y -rtsp_transport tcp -i \(stream.url) -frames:v 20 -update 1 -f rawvideo -pix_fmt gray \(raw)"
                ) == 0)
            let grey = Array(try bytes(of: raw).suffix(320 * 240))
            #expect(grey[120 * 320 + 80] > 200)
            #expect(grey[120 * 320 + 20] < 140)
            // The models still get the picture without shapes.
            for _ in 0..<3 { _ = take() }
            #expect(buffer[3 * (120 * 320 + 80) + 1] < 80)
            // A picture from before a pause is discarded.
            usleep(300_000)
            feed.set("gate", "drop", "true")
            usleep(1_300_000)
            #expect(take() == nil)
        }
    }

    @Test("H.264 of the camera passes to the decoder only from a key frame on, also after a pause")
    func keyFrames() throws {
        let feeds = Mutex<[Feed?]>([])
        var dependencies = FeedSupervisor.Dependencies()
        dependencies.feed = { feed in feeds.withLock { $0.append(feed) } }
        dependencies.pipeline = { _, _, _ in
            FeedPipeline.encodingCamera(framesPerKey: 45)
        }
        var video = RunningStream.testPicture
        video.alwaysOn = true
        let stream = try RunningStream(video, dependencies)
        #expect(stream.report(within: 10) { $0.phase == .streaming && $0.frames > 3 })
        let feed = try #require(feeds.withLock { $0.last ?? nil })
        var buffer = [UInt8](repeating: 0, count: 1_000_000)
        /// The next access unit; nil if none arrives within 50 ms.
        func take() -> ArraySlice<UInt8>? {
            var info = cv_still()
            let isTaken = buffer.withUnsafeMutableBufferPointer { feed.still(into: $0, &info) }
            return isTaken ? buffer[..<info.size] : nil
        }
        /// True if the next access unit contains a slice of a key frame (NAL unit type 5).
        func beginsWithKey() throws -> Bool {
            var unit: ArraySlice<UInt8>?
            for _ in 0..<60 where unit == nil { unit = take() }
            let bytes = try #require(unit)
            return bytes.indices.dropLast(3).contains {
                bytes[$0..<($0 + 3)] == [0, 0, 1] && bytes[$0 + 3] & 0x1F == 5
            }
        }
        feed.set("shutter", "drop", "false")
        #expect(try beginsWithKey())
        #expect(!feed.counters.stills_need_key)
        feed.set("shutter", "drop", "true")
        usleep(300_000)
        while take() != nil {}
        feed.set("shutter", "drop", "false")
        usleep(200_000)
        #expect(feed.counters.stills_need_key)
        #expect(try beginsWithKey())
        #expect(!feed.counters.stills_need_key)
    }

    @Test("pipelines have a branch for the models only if the detection of people is enabled")
    func pipelines() throws {
        func text(_ people: Bool) throws -> String {
            let video = video("/x.jpg", people: people)
            return try #require(
                FeedPipeline(CameraChoice(video, among: []), video, encoder: .x264)
            ).text
        }
        #expect(try text(true).contains("imagefreeze"))
        #expect(try text(true).contains("max-rate=10 ! valve name=gate drop=true"))
        #expect(try !text(false).contains("tee") && !text(false).contains("overlay"))
        var settings = EyesSettings()
        #expect(settings.feedVideo.peopleHz == 10)
        settings.people.enabled = false
        settings.pictures.socket = "off"
        #expect(settings.feedVideo == settings.video)
    }

    @Test("the overlay draws the bones of visible points, the followed person's box, and text")
    func overlay() {
        let points = Landmark.Part.allCases.map { part in
            Landmark(
                point: PixelPoint(x: Double(part.rawValue * 10), y: 100), x: 0, y: 0, z: 0,
                visibility: part.rawValue < 25 ? 1 : 0)
        }
        let person = Person(
            score: 1, box: PixelBox(left: 10, top: 50, width: 100, height: 200), landmarks: points,
            region: SquareRegion(centre: PixelPoint(x: 50, y: 50), side: 100))
        func lines(_ target: Int?) -> Int {
            Overlay([(person, 3)], target: target, text: "", width: 640).shapes.filter(\.is_line)
                .count
        }
        // Shoulders, arms, trunk and face; the legs are not visible.
        #expect(lines(nil) == 12)
        #expect(lines(3) == 16)
        let text = Overlay([], target: nil, text: "A 1", width: 640).shapes
        #expect(!text.isEmpty && text.allSatisfy { !$0.is_line })
    }
}
