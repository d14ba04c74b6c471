/// Settings of airframe-eyes, checked. `EyesSchema` declares each with its range.
public struct EyesSettings: Sendable, Equatable {
    /// Choice of the camera.
    public enum Source: String, Sendable, CaseIterable {
        /// The first camera of libcamera, then of V4L2, otherwise the test picture.
        case auto
        /// A camera of libcamera, for camera modules.
        case libcamera
        /// A V4L2 device, for USB cameras.
        case v4l2
        /// A drawn picture of the gimbal's attitude, with a time code.
        case test
    }

    /// Choice of the encoder.
    public enum EncoderChoice: String, Sendable, CaseIterable {
        /// The hardware encoder if the computer has one, otherwise x264.
        case auto
        /// The board's encoder, `v4l2h264enc`.
        case v4l2
        /// The processor, `x264enc`.
        case x264
    }

    /// The picture.
    public struct Video: Sendable, Equatable {
        /// Whether the stream is offered.
        public var enabled = true
        /// Source of the pictures.
        public var source = Source.auto
        /// Name or path of the camera; `auto`: the first.
        public var device = "auto"
        /// Width, pixels; even.
        public var width = 640
        /// Height, pixels; even.
        public var height = 480
        /// Pictures per second.
        public var rateHz = 30
        /// Bit rate, kbit/s.
        public var bitrateKbps = 2000
        /// Choice of the encoder.
        public var encoder = EncoderChoice.auto
        /// Whether the camera runs without a client.
        public var alwaysOn = false

        /// Whether the stream is recorded.
        public var record = false
        /// Directory of recordings.
        public var recordDirectory = "/var/lib/airframe-eyes"

        /// Time from one picture to the next, ns.
        var frameNanoseconds: Int64 { 1_000_000_000 / Int64(max(1, rateHz)) }
    }

    /// The server.
    public struct RTSP: Sendable, Equatable {
        /// Address and port.
        public var listen = "127.0.0.1:8554"
        /// Path of the stream.
        public var path = "/stream"
        /// Largest number of clients.
        public var maxClients = 8
    }

    /// The daemon.
    public struct Gimbal: Sendable, Equatable {
        /// Path of the daemon's socket, or `off`.
        public var socket = "/run/airframe/airframed.sock"
    }

    /// The picture.
    public var video = Video()
    /// The server.
    public var rtsp = RTSP()
    /// The daemon.
    public var gimbal = Gimbal()

    /// Creates the settings with their default values.
    public init() {}
}
