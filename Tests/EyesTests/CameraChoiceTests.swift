import Testing

@testable import Eyes

@Suite("Choice of camera, format and encoder")
struct CameraChoiceTests {
    private static func mode(
        _ coding: CameraMode.Coding, _ width: Int, _ height: Int, _ rates: Int...
    ) -> CameraMode {
        CameraMode(
            coding: coding, widths: width...width, heights: height...height,
            rates: rates.map { FrameRate($0)...FrameRate($0) })
    }

    /// USB camera with one format of 640x480.
    private static func camera(
        _ coding: CameraMode.Coding, _ rates: [ClosedRange<FrameRate>]
    ) -> Camera {
        Camera(
            interface: .v4l2, name: "Webcam", path: "/dev/video0",
            modes: [
                CameraMode(
                    coding: coding, widths: 640...640, heights: 480...480, rates: rates)
            ])
    }

    /// Typical USB camera: raw pictures have the full rate only at small sizes.
    private static let webcam = Camera(
        interface: .v4l2, name: "HD Webcam", path: "/dev/video0", driver: "uvcvideo",
        modes: [
            mode(.raw("YUY2"), 640, 480, 30), mode(.raw("YUY2"), 1280, 720, 10),
            mode(.jpeg, 640, 480, 30), mode(.jpeg, 1280, 720, 30), mode(.jpeg, 1920, 1080, 30),
        ])
    private static let encodingCamera = Camera(
        interface: .v4l2, name: "H.264 Camera", path: "/dev/video2", driver: "uvcvideo",
        modes: [
            mode(.raw("YUY2"), 640, 480, 30), mode(.h264, 640, 480, 30),
            mode(.h264, 1280, 720, 30),
        ])
    private static let module = Camera(
        interface: .libcamera, name: "imx219", path: "/base/soc/i2c0mux/i2c@1/imx219@10",
        modes: [])

    /// The same USB camera as libcamera lists it: without rates and without H.264.
    private static let indirect = Camera(
        interface: .libcamera, name: #"\_SB_.PCI0.XHCI-2:1.0-046d:082d"#,
        path: #"\_SB_.PCI0.XHCI-2:1.0-046d:082d"#,
        modes: [
            CameraMode(coding: .raw("YUY2"), widths: 640...640, heights: 480...480),
            CameraMode(coding: .raw("YUY2"), widths: 1280...1280, heights: 720...720),
            CameraMode(coding: .jpeg, widths: 640...640, heights: 480...480),
        ])

    private func video(_ change: (inout EyesSettings.Video) -> Void = { _ in })
        -> EyesSettings.Video
    {
        var video = EyesSettings().video
        change(&video)
        return video
    }

    private func format(_ choice: CameraChoice) -> CameraFormat? {
        if case .camera(_, let format) = choice { format } else { nil }
    }

    private func camera(_ choice: CameraChoice) -> Camera? {
        if case .camera(let camera, _) = choice { camera } else { nil }
    }

    @Test("a camera module is preferred to a USB camera, at any position in the list")
    func order() {
        let choice = CameraChoice(video(), among: [Self.webcam, Self.module])
        #expect(camera(choice) == Self.module)
    }

    @Test(
        "a USB camera is used through V4L2, and through libcamera only if the settings select libcamera"
    )
    func indirectly() throws {
        let both = [Self.indirect, Self.webcam]
        #expect(camera(CameraChoice(video(), among: both)) == Self.webcam)
        #expect(camera(CameraChoice(video(), among: [Self.indirect])) == Self.indirect)
        let small = video { $0.source = .libcamera }
        let jpeg = CameraChoice(small, among: both)
        #expect(camera(jpeg) == Self.indirect)
        #expect(format(jpeg)?.coding == .jpeg)
        let text = try #require(FeedPipeline(jpeg, small, encoder: .x264)).text
        #expect(text.contains("libcamerasrc") && text.contains("image/jpeg,width=640,height=480"))
        let large = video { ($0.source, $0.width, $0.height) = (.libcamera, 1280, 720) }
        #expect(format(CameraChoice(large, among: both))?.coding == .raw("YUY2"))
    }

    @Test("libcamera scales the pictures of a camera module to the configured size")
    func processed() {
        let odd = video { ($0.width, $0.height) = (802, 602) }
        let format = format(CameraChoice(odd, among: [Self.module]))
        #expect(format?.coding == .raw("NV12"))
        #expect(format?.width == 802 && format?.height == 602)
    }

    @Test(
        "a libcamera name that ends with USB vendor and product numbers belongs to a USB camera",
        arguments: [
            ("/base/soc/i2c0mux/i2c@1/imx219@10", false), (#"\_SB_.PCI0.I2C2.CAM0"#, false),
            (#"\_SB_.PCI0.XHCI-2.4:1.0-046d:082d"#, true),
            ("/base/scb/pcie@7d500000/pci@0,0/usb@0,0-1.3:1.0-1e4e:0110", true),
            ("/base/soc/i2c@1/sensor-1:2", false),
        ])
    func indirectNames(_ path: String, _ isUSB: Bool) {
        var camera = Self.module
        camera.path = path
        #expect(camera.isUSBThroughLibcamera == isUSB)
        camera.interface = .v4l2
        #expect(!camera.isUSBThroughLibcamera)
    }

    @Test("raw pictures are used if they have the rate, JPEG if only JPEG has the rate")
    func webcam() {
        let small = format(CameraChoice(video(), among: [Self.webcam]))
        #expect(small?.coding == .raw("YUY2"))
        let large = format(
            CameraChoice(video { ($0.width, $0.height) = (1280, 720) }, among: [Self.webcam]))
        #expect(large?.coding == .jpeg)
        #expect(large?.rate == FrameRate(30))
    }

    @Test(
        "a camera is used at the nearest rate that is fast enough, otherwise at its largest rate",
        arguments: [
            (25, [FrameRate(30), FrameRate(24), FrameRate(15)], FrameRate(30)),
            (15, [FrameRate(30)], FrameRate(30)),
            (30, [FrameRate(30000, 1001), FrameRate(60)], FrameRate(30000, 1001)),
            (30, [FrameRate(15, 2), FrameRate(5)], FrameRate(15, 2)),
        ])
    func rates(_ wanted: Int, _ offered: [FrameRate], _ rate: FrameRate) throws {
        let video = video { $0.rateHz = wanted }
        for coding in [CameraMode.Coding.jpeg, .raw("YUY2")] {
            let choice = CameraChoice(
                video, among: [Self.camera(coding, offered.map { $0...$0 })])
            #expect(format(choice)?.rate == rate)
            let text = try #require(FeedPipeline(choice, video, encoder: .x264)).text
            #expect(text.contains("height=480,framerate=\(rate.numerator)/\(rate.denominator) ! "))
            // Surplus pictures are dropped before they are decoded.
            let drops = " ! videorate drop-only=true skip-to-first=true max-rate=\(wanted) ! queue"
            #expect(text.contains(drops) == (rate.hz > Double(wanted)))
        }
    }

    @Test("a camera with a range of rates is used at the configured rate within this range")
    func ranges() {
        for (wanted, rate) in [(25, 25), (60, 50)] {
            let camera = Self.camera(.jpeg, [FrameRate(0)...FrameRate(50)])
            let choice = CameraChoice(video { $0.rateHz = wanted }, among: [camera])
            #expect(format(choice)?.rate == FrameRate(rate))
        }
    }

    @Test("H.264, whose pictures cannot be dropped, is used only at a rate that is not too fast")
    func encodedRates() {
        let both = Camera(
            interface: .v4l2, name: "H.264 Camera", path: "/dev/video2",
            modes: [Self.mode(.jpeg, 640, 480, 30), Self.mode(.h264, 640, 480, 30, 15, 10)])
        func format(_ wanted: Int) -> CameraFormat? {
            self.format(CameraChoice(video { $0.rateHz = wanted }, among: [both]))
        }
        #expect(format(30)?.coding == .h264 && format(30)?.rate == FrameRate(30))
        #expect(format(15)?.coding == .h264 && format(15)?.rate == FrameRate(15))
        // H.264 with 15 Hz would be too slow, and H.264 with 10 Hz too fast.
        #expect(format(25)?.coding == .jpeg && format(5)?.coding == .jpeg)
    }

    @Test("pictures that the pipeline drops on purpose do not count as lost")
    func intervals() {
        func nanoseconds(_ wanted: Int, _ offered: FrameRate) -> Int64 {
            let video = video { $0.rateHz = wanted }
            return CameraChoice(video, among: [Self.camera(.jpeg, [offered...offered])])
                .frameNanoseconds(video)
        }
        #expect(nanoseconds(25, FrameRate(25)) == 40_000_000)
        #expect(nanoseconds(25, FrameRate(30)) == 66_666_666)
        #expect(nanoseconds(30, FrameRate(30000, 1001)) == 33_366_666)
        #expect(nanoseconds(30, FrameRate(15)) == 66_666_666)
    }

    @Test(
        "H.264 of the camera is used only at exactly the configured size, because it cannot be scaled"
    )
    func encodingCamera() {
        let exact = format(CameraChoice(video(), among: [Self.encodingCamera]))
        #expect(exact?.coding == .h264)
        let other = video { ($0.width, $0.height) = (800, 600) }
        let scaled = format(CameraChoice(other, among: [Self.encodingCamera]))
        #expect(scaled?.coding == .raw("YUY2"))
        #expect(scaled?.needsScaling(to: other) == true)
    }

    @Test("a camera is chosen by its path or its name")
    func named() {
        for device in ["/dev/video2", "H.264 Camera"] {
            let choice = CameraChoice(
                video { $0.device = device }, among: [Self.webcam, Self.encodingCamera])
            #expect(camera(choice) == Self.encodingCamera)
        }
    }

    @Test("without the camera the drawn picture is shown, with the reason")
    func missing() {
        #expect(CameraChoice(video(), among: []) == .drawn(reason: "no camera is connected"))
        #expect(
            CameraChoice(video { $0.device = "/dev/video7" }, among: [Self.webcam])
                == .drawn(reason: "there is no camera /dev/video7"))
        #expect(
            CameraChoice(video { $0.source = .libcamera }, among: [Self.webcam])
                == .drawn(reason: "no camera is connected"))
        #expect(
            CameraChoice(video { $0.source = .test }, among: [Self.webcam]) == .drawn(reason: nil))
    }

    @Test(
        "a video device that is not a camera is not used",
        arguments: ["bcm2835-isp", "bcm2835-codec", "unicam", "pispbe"])
    func internalDevices(_ driver: String) {
        var device = Self.webcam
        device.driver = driver
        #expect(!device.isUsable)
        #expect(Self.webcam.isUsable)
    }

    @Test("raw sensor mosaics are not used as pictures")
    func mosaic() {
        let sensor = Camera(
            interface: .v4l2, name: "sensor", path: "/dev/video1",
            modes: [Self.mode(.raw("bggr"), 640, 480, 30)])
        #expect(
            CameraChoice(video(), among: [sensor])
                == .drawn(reason: "sensor has no format that can be used"))
    }

    @Test(
        "the board's encoder is preferred to the processor, unless the settings select an encoder")
    func encoder() {
        let both: (String) -> Bool = { ["v4l2h264enc", "x264enc"].contains($0) }
        #expect(Encoder(.auto, isInstalled: both) == .v4l2)
        #expect(Encoder(.x264, isInstalled: both) == .x264)
        #expect(Encoder(.auto) { $0 == "x264enc" } == .x264)
        #expect(Encoder(.v4l2) { $0 == "x264enc" } == nil)
        #expect(Encoder(.auto) { _ in false } == nil)
    }

    @Test("a pipeline decodes, scales and encodes only if necessary")
    func pipelines() throws {
        func text(_ choice: CameraChoice, _ video: EyesSettings.Video) throws -> String {
            try #require(FeedPipeline(choice, video, encoder: .x264)).text
        }
        let encoded = try text(CameraChoice(video(), among: [Self.encodingCamera]), video())
        #expect(encoded.contains("v4l2src device=\"/dev/video2\""))
        #expect(!encoded.contains("x264enc") && !encoded.contains("videoconvert"))
        var settings = EyesSettings()
        settings.people.enabled = true
        let branches = try text(
            CameraChoice(video(), among: [Self.encodingCamera]), settings.feedVideo)
        for name in ["shutter", "gate"] {
            #expect(
                branches.contains(
                    "valve name=\(name) drop=true ! h264parse name=\(name)-units ! "))
        }

        let large = video { ($0.width, $0.height) = (1280, 720) }
        let jpeg = try text(CameraChoice(large, among: [Self.webcam]), large)
        #expect(jpeg.contains("jpegdec") && !jpeg.contains("videoscale"))
        #expect(jpeg.contains("bframes=0") && jpeg.contains("tune=zerolatency"))
        #expect(jpeg.contains("bitrate=2000") && jpeg.contains("key-int-max=30"))

        let other = video { ($0.width, $0.height) = (800, 600) }
        let scaled = try text(CameraChoice(other, among: [Self.webcam]), other)
        #expect(
            scaled.contains(
                "aspectratiocrop aspect-ratio=800/600 ! videoscale ! video/x-raw,width=800,height=600,pixel-aspect-ratio=1/1"
            ))
    }

    @Test("a camera without encoding requires an encoder, and a camera that encodes does not")
    func withoutEncoder() {
        let webcam = CameraChoice(video(), among: [Self.webcam])
        #expect(FeedPipeline(webcam, video(), encoder: nil) == nil)
        let encoded = CameraChoice(video(), among: [Self.encodingCamera])
        #expect(FeedPipeline(encoded, video(), encoder: nil) != nil)
    }

    @Test("a name with quotes cannot add elements to the pipeline")
    func quoting() throws {
        var camera = Self.encodingCamera
        camera.path = #"/dev/video0" ! filesink location="/etc/passwd"#
        let text = try #require(
            FeedPipeline(CameraChoice(video(), among: [camera]), video(), encoder: nil)
        ).text
        #expect(
            text.contains(#"device="/dev/video0\" ! filesink location=\"/etc/passwd" !"#))
    }

    @Test("the list of cameras escapes characters of a name that control a terminal")
    func controlCharacters() {
        var camera = Self.webcam
        camera.name = "Cam\u{1B}[2J\n"
        #expect(
            CamerasCommand.lines(of: camera).first
                == #"Cam\u001b[2J\u000a (v4l2): video.device = "/dev/video0""#)
    }
}
