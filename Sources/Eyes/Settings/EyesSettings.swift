public import Aerie
import Configuration
public import People

/// Valid settings of airframe-eyes. `EyesSchema` declares each setting with its range.
public struct EyesSettings: Sendable, Equatable {
    /// Choice of the camera.
    public enum Source: String, Sendable, CaseIterable {
        /// The first libcamera camera; otherwise the first V4L2 camera; otherwise the test picture.
        case auto
        /// A libcamera camera, such as a camera module.
        case libcamera
        /// A V4L2 device, for USB cameras.
        case v4l2
        /// The test picture, which shows the gimbal's attitude and a time code.
        case test
        /// A photo or a video, for tests; its path is `video.device`.
        case file
    }

    /// Choice of the encoder.
    public enum EncoderChoice: String, Sendable, CaseIterable {
        /// The hardware encoder if the computer has one, otherwise x264.
        case auto
        /// The board's encoder, `v4l2h264enc`.
        case v4l2
        /// The software encoder on the CPU, `x264enc`.
        case x264
    }

    /// Settings of the pictures (table `video`).
    public struct Video: Sendable, Equatable {
        /// True if the program offers the stream.
        public var enabled = true
        /// Source of the pictures.
        public var source = Source.auto
        /// Name or path of the camera; `auto` means the first camera.
        public var device = "auto"
        /// Width of the pictures, pixels, an even number.
        public var width = 640
        /// Height of the pictures, pixels, an even number.
        public var height = 480
        /// Pictures per second.
        public var rateHz = 30
        /// Bit rate of the encoder, kbit/s.
        public var bitrateKbps = 2000
        /// Choice of the encoder.
        public var encoder = EncoderChoice.auto
        /// True if the camera runs while no client is connected.
        public var alwaysOn = false

        /// True if the stream is recorded.
        public var record = false
        /// Directory of recordings.
        public var recordDirectory = "/var/lib/airframe-eyes"

        /// Frame rate for the models, Hz; 0 without models. The frame rate is not a setting; it is
        /// computed from the table `people`.
        var peopleHz = 0
        /// JPEG pictures in addition to the stream; nil if there are none. These values are
        /// computed from the table `pictures`.
        var stills: Stills?

        /// Size, rate and quality of JPEG pictures.
        struct Stills: Sendable, Equatable {
            var width: Int
            var height: Int
            var rateHz: Int
            var quality: Int
        }

        /// Time from one picture to the next, ns.
        var frameNanoseconds: Int64 { 1_000_000_000 / Int64(max(1, rateHz)) }
    }

    /// Settings of the RTSP server (table `rtsp`).
    public struct RTSP: Sendable, Equatable {
        /// Address and port on which the server listens.
        public var listen = "127.0.0.1:8554"
        /// Path of the stream in its URL.
        public var path = "/stream"
        /// Largest number of simultaneous clients.
        public var maxClients = 8
    }

    /// Settings of the JPEG pictures for airframe-web (table `pictures`).
    public struct Pictures: Sendable, Equatable {
        /// Path of the socket, or `off`.
        public var socket = "/run/airframe-eyes/pictures.sock"
        /// Largest number of pictures per second.
        public var rateHz = 10
        /// Largest width, pixels.
        public var width = 640
        /// Quality of the JPEG encoder, percent.
        public var quality = 75
    }

    /// Settings of the connection to airframed (table `gimbal`).
    public struct Gimbal: Sendable, Equatable {
        /// Path of the daemon's socket, or `off`.
        public var socket = "/run/airframe/airframed.sock"
    }

    /// Settings of the server for phones with HawkSight (table `aerie`).
    public struct Aerie: Sendable, Equatable {
        /// Address and port on which the server listens, or `off`.
        public var listen = "off"
        /// Path of the file with the secret that signs tokens, or `off`.
        public var secretFile = "off"
        /// True if the server accepts HawkSight's unsigned tokens, which it cannot verify.
        public var acceptLegacyToken = false
        /// Meaning of the axes in a phone's pose.
        public var cameraAxes = AerieOptions.CameraAxes.arkit
        /// Largest number of connected phones.
        public var maxPhones = 4
        /// Largest size of a picture, kB.
        public var maxFrameKb = 500
        /// Largest number of messages per second from one phone.
        public var maxRateHz = 60
        /// Path of the certificate chain, or `off`.
        public var certificate = "off"
        /// Path of the certificate's private key, or `off`.
        public var key = "off"
        /// Directory of the phones' calibrations.
        public var directory = "/var/lib/airframe-eyes"

        /// Size of the largest message, bytes: the picture (base64 is applied twice) and the other
        /// values.
        var messageLimit: Int { maxFrameKb * 1000 * 16 / 9 + 8192 }
    }

    /// Settings of the people-detection models (table `people`).
    public struct People: Sendable, Equatable {
        /// True if users can request tracking of a person.
        public var enabled = true
        /// Directory of the models and of the library; `auto` means the installed directory.
        public var models = "auto"
        /// Largest frame rate of the people-detection models, Hz.
        public var rateHz = 10
        /// Number of tiles along the picture's shorter edge, for the detection of distant people.
        public var divisions = 2
        /// Horizontal angle of view of the camera, degrees.
        public var fieldOfViewDeg = 62
        /// Timeout of tracking while the person is not in the picture, s.
        public var patienceS = 15
        /// True if the stream's pictures show people's skeletons and text about the followed
        /// person.
        public var overlay = true
    }

    /// Settings of the followed person's position in the picture (table `framing`).
    public struct FramingSettings: Sendable, Equatable {
        /// Horizontal position of the person in the picture.
        public var place = Framing.Side.centre
        /// Smallest distance of the head from the upper edge, percent of the picture's height.
        public var headRoomPercent = 12
        /// Dead band of the person's position in the picture, percent of the picture's width;
        /// outside the dead band, the camera moves.
        public var deadZonePercent = 0
        /// Time constant of the person's return to the configured position in the picture, ms.
        public var smoothingMs = 250

        /// Settings of the framing, in the units of `Framing`.
        var framing: Framing {
            var framing = Framing()
            framing.side = place
            framing.headRoom = Double(headRoomPercent) / 100
            framing.deadZone = Double(deadZonePercent) / 100
            framing.smoothing = Double(smoothingMs) / 1000
            return framing
        }
    }

    /// Settings of the pictures (table `video`).
    public var video = Video()
    /// Settings of the people-detection models (table `people`).
    public var people = People()
    /// Settings of the followed person's position in the picture (table `framing`).
    public var framing = FramingSettings()
    /// Settings of the server for phones (table `aerie`).
    public var aerie = Aerie()
    /// Settings of the RTSP server (table `rtsp`).
    public var rtsp = RTSP()
    /// Settings of the JPEG pictures for airframe-web (table `pictures`).
    public var pictures = Pictures()
    /// Settings of the connection to airframed (table `gimbal`).
    public var gimbal = Gimbal()

    /// Settings of the stream, of the models' pictures and of the JPEG pictures.
    var feedVideo: Video {
        var video = video
        video.peopleHz = people.enabled ? people.rateHz : 0
        if pictures.socket != "off" {
            let width = min(video.width, pictures.width) / 2 * 2
            video.stills = Video.Stills(
                width: width, height: max(2, video.height * width / video.width / 2 * 2),
                rateHz: pictures.rateHz, quality: pictures.quality)
        }
        return video
    }

    /// Creates the settings with their default values.
    public init() {}
}

extension EyesSettings.RTSP {
    /// Address and port from a setting. The schema ensures that address and port are valid.
    var endpoint: (host: String, port: UInt16) {
        guard let endpoint = NetworkEndpoint(listen) else { return ("127.0.0.1", 8554) }
        return (endpoint.host, endpoint.port)
    }
}
