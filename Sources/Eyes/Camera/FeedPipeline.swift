/// Pipeline of a camera and its encoder, in gst-launch's notation. The type is pure.
///
/// Each queue holds two pictures at most and drops the oldest, so a slow encoder loses pictures
/// instead of falling behind.
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
    /// Elements of the pipeline after the encoder, in gst-launch's notation.
    static let end =
        "h264parse config-interval=-1 ! video/x-h264,stream-format=byte-stream,alignment=au"
        + " ! appsink name=frames sync=false max-buffers=4 drop=true"

    /// Creates the pipeline for the chosen camera; nil if the camera needs an encoder and none is
    /// installed.
    init?(_ choice: CameraChoice, _ video: EyesSettings.Video, encoder: Encoder?) {
        switch choice {
        case .camera(let camera, let format):
            let source = Self.source(camera)
            let rate = "framerate=\(format.rateHz)/1"
            let size = "width=\(format.width),height=\(format.height)"
            if format.coding == .h264 {
                self.encoder = nil
                text = "\(source) ! video/x-h264,\(size),\(rate) ! \(Self.end)"
                return
            }
            guard let encoder else { return nil }
            self.encoder = encoder
            let pictures =
                switch format.coding {
                case .jpeg: "image/jpeg,\(size),\(rate) ! \(Self.queue) ! jpegdec"
                case .raw(let name): "video/x-raw,format=\(name),\(size),\(rate) ! \(Self.queue)"
                case .h264: ""
                }
            let scaled =
                format.needsScaling(to: video)
                ? " ! videoscale ! video/x-raw,width=\(video.width),height=\(video.height)" : ""
            text =
                "\(source) ! \(pictures)\(scaled) ! videoconvert ! video/x-raw,format=I420"
                + " ! \(encoder.elements(video)) ! \(Self.end)"
        case .drawn:
            guard let encoder else { return nil }
            self.encoder = encoder
            text =
                "appsrc name=pictures is-live=true format=time block=false max-buffers=2"
                + " leaky-type=downstream max-bytes=0"
                + " caps=video/x-raw,format=I420,width=\(video.width),height=\(video.height),"
                + "framerate=\(video.rateHz)/1"
                + " ! \(encoder.elements(video)) ! \(Self.end)"
        }
    }

    private static func source(_ camera: Camera) -> String {
        switch camera.interface {
        case .libcamera: "libcamerasrc camera-name=\(quoted(camera.path))"
        case .v4l2: "v4l2src device=\(quoted(camera.path))"
        }
    }

    /// Quotes a string for gst-launch's notation.
    static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"" + String(escaped) + "\""
    }
}
