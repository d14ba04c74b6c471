/// Choice of camera and format, from the settings and the connected cameras. The type has no side
/// effects.
///
/// With the source `auto`, camera modules use libcamera and USB cameras use V4L2. For USB cameras,
/// libcamera neither sets the frame rate nor forwards H.264 pictures.
///
/// The first choice is H.264 from the camera, because it needs no encoding by the CPU. The second
/// choice is raw pictures, if the bus can transfer them at the requested rate. Raw pictures need no
/// decoder, which would add a delay of one frame. The third choice is JPEG; USB cameras deliver
/// large JPEG pictures at full rate. Raw pictures with an unknown frame rate are the last choice,
/// because their rate can be low.
public enum CameraChoice: Sendable, Equatable {
    /// A camera and the requested picture format.
    case camera(Camera, CameraFormat)
    /// The test picture. `reason` states why no camera is used; nil if the settings select the test
    /// picture.
    case drawn(reason: String?)

    /// Chooses a camera and its format, or the test picture.
    ///
    /// - Parameters:
    ///   - video: Settings of the stream.
    ///   - cameras: The connected cameras.
    public init(_ video: EyesSettings.Video, among cameras: [Camera]) {
        if video.source == .test {
            self = .drawn(reason: nil)
            return
        }
        if video.source == .file {
            let format = CameraFormat(
                coding: .raw("I420"), width: video.width, height: video.height,
                rate: FrameRate(video.rateHz))
            self = .camera(
                Camera(interface: .file, name: video.device, path: video.device), format)
            return
        }
        let modules = cameras.filter { $0.interface == .libcamera && !$0.isUSBThroughLibcamera }
        let direct = cameras.filter { $0.interface == .v4l2 }
        let indirect = cameras.filter(\.isUSBThroughLibcamera)
        let eligible =
            switch video.source {
            case .libcamera: modules + indirect
            case .v4l2: direct
            case .auto, .test, .file: modules + direct + indirect
            }
        let named =
            video.device == "auto"
            ? eligible : eligible.filter { $0.path == video.device || $0.name == video.device }
        for camera in named {
            if let format = CameraFormat(for: video, of: camera) {
                self = .camera(camera, format)
                return
            }
        }
        self = .drawn(reason: Self.reason(video, eligible: eligible, named: named))
    }

    /// Longest time between two pictures of the feed if no picture is lost, ns.
    func frameNanoseconds(_ video: EyesSettings.Video) -> Int64 {
        switch self {
        case .camera(_, let format): format.frameNanoseconds(video)
        case .drawn: video.frameNanoseconds
        }
    }

    private static func reason(
        _ video: EyesSettings.Video, eligible: [Camera], named: [Camera]
    ) -> String {
        if let camera = named.first { return "\(camera.name) has no format that can be used" }
        if video.device == "auto" || eligible.isEmpty { return "no camera is connected" }
        return "there is no camera \(video.device)"
    }
}

/// Format that airframe-eyes requests from a camera.
public struct CameraFormat: Sendable, Equatable {
    /// Encoding of the requested pictures.
    public var coding: CameraMode.Coding
    /// Width, pixels.
    public var width: Int
    /// Height, pixels.
    public var height: Int
    /// Frame rate of the camera.
    public var rate: FrameRate

    /// The format of `camera` nearest to the settings; nil if the camera has no usable format.
    init?(for video: EyesSettings.Video, of camera: Camera) {
        // libcamera converts the pictures of a camera module to any size and to a format that the
        // encoder accepts.
        if camera.interface == .libcamera, !camera.isUSBThroughLibcamera {
            self.init(
                coding: .raw("NV12"), width: video.width, height: video.height,
                rate: FrameRate(video.rateHz))
            return
        }
        let ranked = camera.modes.enumerated().compactMap {
            index, mode -> (Rank, CameraMode, FrameRate)? in
            guard let rate = mode.rate(for: video.rateHz) else { return nil }
            return Rank(mode, rate, video, index).map { ($0, mode, rate) }
        }
        guard let (_, best, rate) = ranked.min(by: { $0.0 < $1.0 }) else { return nil }
        self.init(
            coding: best.coding, width: video.width.clamped(to: best.widths),
            height: video.height.clamped(to: best.heights), rate: rate)
    }

    fileprivate init(coding: CameraMode.Coding, width: Int, height: Int, rate: FrameRate) {
        self.coding = coding
        self.width = width
        self.height = height
        self.rate = rate
    }

    /// Longest time between two pictures of the feed if no picture is lost, ns. If the pipeline
    /// drops pictures of a faster camera, this time is a multiple of the camera's interval: 2/30 s
    /// for 25 of 30 pictures.
    fileprivate func frameNanoseconds(_ video: EyesSettings.Video) -> Int64 {
        let intervals =
            rate.isFaster(than: video.rateHz)
            ? (rate.hz / Double(video.rateHz)).rounded(.up) : 1
        return Int64(intervals * 1e9 / rate.hz)
    }

    /// True if the pictures must be scaled to the configured size.
    func needsScaling(to video: EyesSettings.Video) -> Bool {
        width != video.width || height != video.height
    }

    /// Rank of a camera mode; the smallest rank is the best.
    private struct Rank: Comparable {
        /// Shortfall of the mode's frame rate from the requested rate, Hz; 0 if the mode is fast
        /// enough.
        let missingRate: Double
        /// Difference between the mode's and the requested number of pixels. The difference counts
        /// double if the mode has too few pixels.
        let sizeError: Int
        let coding: Int
        let index: Int

        /// Computes the rank of a mode at a rate; nil if the mode cannot be used. H.264 pictures
        /// cannot be scaled, so an H.264 mode must have exactly the configured size.
        init?(
            _ mode: CameraMode, _ rate: FrameRate, _ video: EyesSettings.Video, _ index: Int
        ) {
            let (width, height) = (
                video.width.clamped(to: mode.widths), video.height.clamped(to: mode.heights)
            )
            guard width > 0, height > 0 else { return nil }
            let isExact = width == video.width && height == video.height
            switch mode.coding {
            case .h264:
                guard isExact else { return nil }
                coding = 0
            case .raw(let format):
                guard Self.rawFormats.contains(format) else { return nil }
                coding = mode.rates.isEmpty ? 3 : 1
            case .jpeg: coding = 2
            }
            missingRate =
                rate.isSlower(than: video.rateHz) ? Double(video.rateHz) - rate.hz : 0
            let difference = width * height - video.width * video.height
            sizeError = difference < 0 ? -2 * difference : difference
            self.index = index
        }

        static func < (a: Rank, b: Rank) -> Bool {
            (a.missingRate, a.sizeError, a.coding, a.index)
                < (b.missingRate, b.sizeError, b.coding, b.index)
        }

        /// Raw formats that GStreamer's converter supports. Bayer mosaics of image sensors are not
        /// included.
        private static let rawFormats: Set<String> = [
            "YUY2", "UYVY", "YVYU", "NV12", "NV21", "I420", "YV12", "RGB", "BGR", "GRAY8",
        ]
    }
}

extension CameraMode {
    /// Rate to request from the camera for a stream of `wanted` Hz: the nearest rate that is fast
    /// enough, otherwise the largest rate. The pipeline drops the surplus pictures of a faster
    /// camera. It cannot drop H.264 pictures, because each picture needs the one before; therefore
    /// H.264 has the largest rate that is not faster, or nil if every rate is faster.
    fileprivate func rate(for wanted: Int) -> FrameRate? {
        guard !rates.isEmpty else { return FrameRate(wanted) }
        let offered = rates.map { FrameRate(wanted).clamped(to: $0) }
        let isH264 = coding == .h264
        let suitable = offered.filter {
            isH264 ? !$0.isFaster(than: wanted) : !$0.isSlower(than: wanted)
        }
        let nearest = suitable.min { abs($0.hz - Double(wanted)) < abs($1.hz - Double(wanted)) }
        return nearest ?? (isH264 ? nil : offered.max())
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
