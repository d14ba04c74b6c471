import CVideo

/// Pipeline of a camera and its encoder, in gst-launch's notation. The type has no side effects.
///
/// Each queue contains at most two pictures and drops the oldest. Therefore a slow encoder loses
/// pictures instead of increasing the latency.
struct FeedPipeline: Sendable, Equatable {
    /// The pipeline in gst-launch's notation.
    let text: String
    /// The encoder of the pipeline; nil if the camera encodes the pictures.
    let encoder: Encoder?

    /// Creates a pipeline with the given description.
    init(text: String, encoder: Encoder?) {
        self.text = text
        self.encoder = encoder
    }

    private static let queue =
        "queue max-size-buffers=2 max-size-bytes=0 max-size-time=0 leaky=downstream"
    /// Elements after the encoder, in gst-launch's notation.
    static let end =
        "h264parse config-interval=-1 ! video/x-h264,stream-format=byte-stream,alignment=au"
        + " ! appsink name=frames sync=false max-buffers=4 drop=true"

    /// Creates the pipeline for the chosen camera; nil if a required encoder is not installed.
    init?(_ choice: CameraChoice, _ video: EyesSettings.Video, encoder: Encoder?) {
        switch choice {
        case .camera(let camera, let format):
            let source = Self.source(camera)
            let rate = "framerate=\(format.rate.numerator)/\(format.rate.denominator)"
            let size = "width=\(format.width),height=\(format.height)"
            if format.coding == .h264 {
                self.encoder = nil
                text =
                    "\(source) ! video/x-h264,\(size),\(rate)"
                    + Self.split(video, Self.end, isEncoded: true)
                return
            }
            guard let encoder else { return nil }
            self.encoder = encoder
            // The surplus pictures of a camera that is faster than the settings are dropped before
            // they are decoded. The times of the other pictures do not change.
            let limit =
                format.rate.isFaster(than: video.rateHz)
                ? " ! videorate drop-only=true skip-to-first=true max-rate=\(video.rateHz)" : ""
            let pictures =
                switch format.coding {
                case .jpeg: "image/jpeg,\(size),\(rate)\(limit) ! \(Self.queue) ! jpegdec"
                case .raw where camera.interface == .file:
                    "video/x-raw,\(size),\(rate),pixel-aspect-ratio=1/1 ! \(Self.queue)"
                case .raw(let name):
                    "video/x-raw,format=\(name),\(size),\(rate)\(limit) ! \(Self.queue)"
                case .h264: ""
                }
            // Pictures with another aspect ratio are cropped: without the crop, videoscale would
            // compress them, and the models would find persons at wrong angles.
            let scaled =
                format.needsScaling(to: video)
                ? " ! aspectratiocrop aspect-ratio=\(video.width)/\(video.height) ! videoscale"
                    + " ! video/x-raw,width=\(video.width),height=\(video.height),pixel-aspect-ratio=1/1"
                : ""
            text =
                "\(source) ! \(pictures)\(scaled) ! videoconvert ! video/x-raw,format=I420"
                + Self.split(video, "\(encoder.elements(video)) ! \(Self.end)")
        case .drawn:
            guard let encoder else { return nil }
            self.encoder = encoder
            text =
                "appsrc name=pictures is-live=true format=time block=false max-buffers=2"
                + " leaky-type=downstream max-bytes=0"
                + " caps=video/x-raw,format=I420,width=\(video.width),height=\(video.height),"
                + "framerate=\(video.rateHz)/1"
                + Self.split(video, "\(encoder.elements(video)) ! \(Self.end)")
        }
    }

    private static func source(_ camera: Camera) -> String {
        switch camera.interface {
        case .libcamera: "libcamerasrc camera-name=\(quoted(camera.path))"
        case .v4l2: "v4l2src device=\(quoted(camera.path))"
        case .file: file(camera.path)
        }
    }

    /// Elements that decode a file, and output its pictures at a camera's frame rate.
    private static func file(_ path: String) -> String {
        let photos = [".jpg", ".jpeg", ".png"]
        let isPhoto = photos.contains { path.lowercased().hasSuffix($0) }
        return "filesrc location=\(quoted(path)) ! decodebin"
            + (isPhoto ? " ! imagefreeze is-live=true" : " ! identity sync=true")
            + " ! videoconvert ! videoscale ! videorate"
    }

    /// Elements of the stream, and the branches for the models and the JPEG pictures. While no
    /// client needs a branch, its valve is closed. The element `overlay` draws into the stream's
    /// pictures and the JPEG pictures. If the camera encodes the pictures, each branch has a parser
    /// and a decoder; after a gap, `cv_feed_open` lets the parser's access units pass from the next
    /// key frame on.
    private static func split(
        _ video: EyesSettings.Video, _ stream: String, isEncoded: Bool = false
    ) -> String {
        guard video.peopleHz > 0 || video.stills != nil else { return " ! \(stream)" }
        let isRaw = !isEncoded
        // After a pause of its input, videorate exceeds its rate until the number of pictures
        // matches the elapsed time. Therefore videorate precedes the valve, except for H.264, which
        // must be decoded first.
        func branch(_ name: String, _ rate: Int) -> String {
            let limit = " ! videorate drop-only=true max-rate=\(rate)"
            let valve = " ! valve name=\(name) drop=true"
            let decoded = " ! h264parse name=\(name)-units ! \(decoder)"
            return " ! \(queue)" + (isRaw ? limit + valve : valve + decoded + limit)
        }
        let sink = "sync=false async=false max-buffers=1 drop=true"
        var text = " ! tee name=split split. ! \(queue)" + (isRaw ? " ! identity name=overlay" : "")
        if let stills = video.stills {
            text += isRaw ? " ! tee name=shown ! \(stream) shown." : " ! \(stream) split."
            text +=
                branch("shutter", stills.rateHz)
                + " ! videoscale ! video/x-raw,width=\(stills.width),height=\(stills.height)"
                + " ! videoconvert ! jpegenc quality=\(stills.quality)"
                + " ! appsink name=stills \(sink)"
        } else {
            text += " ! \(stream)"
        }
        guard video.peopleHz > 0 else { return text }
        return text + " split." + branch("gate", video.peopleHz)
            + " ! videoconvert ! video/x-raw,format=RGB ! appsink name=samples \(sink)"
    }

    /// GStreamer element that decodes a camera's H.264 pictures.
    private static var decoder: String {
        let names = ["v4l2h264dec", "avdec_h264", "openh264dec"]
        return names.first { cv_has_element($0) } ?? "openh264dec"
    }

    /// Quotes a string for gst-launch's notation.
    static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"" + String(escaped) + "\""
    }
}
