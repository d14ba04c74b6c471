public import Configuration

/// Declaration of one setting of airframe-eyes.
public typealias EyesSetting = CompanionSetting<EyesSettings>

/// All settings of airframe-eyes, each declared once.
public enum EyesSchema {
    /// The settings, in the order of the sample file.
    public static var settings: [EyesSetting] { table.settings }

    /// The text of `etc/airframe-eyes.toml`.
    public static var sampleFile: String {
        table.sampleFile(
            advice:
                "`systemctl reload airframe-eyes` applies live settings without disconnecting clients."
        )
    }

    static let table: CompanionSchema<EyesSettings> = {
        var table = CompanionSchema(
            program: "airframe-eyes", defaults: EyesSettings(),
            tables: [
                ("video", "The camera and its encoder."),
                ("rtsp", "The server that players connect to."),
                (
                    "people",
                    "Detection of people, so that the camera can follow a person."
                ),
                ("framing", "The position of the followed person in the picture."),
                ("pictures", "JPEG pictures of the stream for the page of airframe-web."),
                ("aerie", "The server for phones with HawkSight."),
                ("gimbal", "The connection to airframed."),
            ])
        table.bool(
            "video.enabled", \.video.enabled, .live,
            "If true, clients receive the stream; if false, the camera stays off.")
        table.word(
            "video.source", \.video.source, .live,
            "Source of the pictures; \"auto\" prefers camera modules, then USB cameras, then the test picture; \"file\" plays the photo or video at video.device."
        )
        table.text(
            "video.device", \.video.device, .text(maxLength: 255), .live,
            "Name or path of the camera, as `airframe-eyes cameras` lists it; \"auto\" = the first camera."
        )
        table.integer("video.width", \.video.width, 160...1920, "px", .live, "Width of the stream.")
        table.integer(
            "video.height", \.video.height, 120...1080, "px", .live, "Height of the stream.")
        table.integer(
            "video.rate_hz", \.video.rateHz, 5...60, "Hz", .live, "Frame rate of the stream.")
        table.integer(
            "video.bitrate_kbps", \.video.bitrateKbps, 100...20000, "kbit/s", .live,
            "Bit rate of the stream; a camera that encodes its pictures ignores this setting.")
        table.word(
            "video.encoder", \.video.encoder, .live,
            "Encoder; \"auto\" = the board's hardware encoder (v4l2), or the software encoder (x264) on a board without one."
        )
        table.bool(
            "video.always_on", \.video.alwaysOn, .live,
            "If true, the camera also runs while no client is connected, so that a new client gets its first picture sooner."
        )
        table.bool(
            "video.record", \.video.record, .live,
            "If true, airframe-eyes records the stream as MP4, with the camera's motion as .gcsv for Gyroflow; the camera then also runs while no client is connected."
        )
        table.text(
            "video.record_directory", \.video.recordDirectory, .path(maxLength: 255), .live,
            "Directory of recordings.")
        table.text(
            "rtsp.listen", \.rtsp.listen, .requiredEndpoint, .restart,
            "Address and port of the RTSP server; 0.0.0.0:8554 serves every network.",
            hint: "Anyone who can reach the port can watch: the stream has no password.")
        table.text(
            "rtsp.path", \.rtsp.path, .uriPath(maxLength: 64), .restart,
            "Path of the stream in its address, rtsp://ADDRESS:PORT/PATH.")
        table.integer(
            "rtsp.max_clients", \.rtsp.maxClients, 1...32, nil, .restart,
            "Largest number of clients at a time; further clients are disconnected.")
        addPeople(&table)
        addPictures(&table)
        table.text(
            "aerie.listen", \.aerie.listen, .endpoint, .restart,
            "Address and port of the server for phones with HawkSight; 0.0.0.0:8000 serves every network.",
            hint: "Phones send their pictures without encryption unless aerie.certificate is set.")
        table.text(
            "aerie.secret_file", \.aerie.secretFile, .optionalPath(maxLength: 255), .restart,
            "Path of the file with the secret that signs the phones' tokens; the secret has at least 16 bytes."
        )
        table.bool(
            "aerie.accept_legacy_token", \.aerie.acceptLegacyToken, .restart,
            "If true, the server accepts tokens without a timestamp, as HawkSight sends them. The server cannot check such tokens, so everyone in the network can connect."
        )
        table.word(
            "aerie.camera_axes", \.aerie.cameraAxes, .restart,
            "Axes of the phones' poses: \"arkit\" = the axes of ARKit's camera (y up, z towards the viewer), \"pinhole\" = the axes of HawkSight's projection (y down, z away from the viewer)."
        )
        table.integer(
            "aerie.max_phones", \.aerie.maxPhones, 1...16, nil, .restart,
            "Largest number of phones at a time; further phones are refused.")
        table.integer(
            "aerie.max_frame_kb", \.aerie.maxFrameKb, 16...2000, "kB", .restart,
            "Largest size of a phone's picture; if a picture is larger, the server closes the connection."
        )
        table.integer(
            "aerie.max_rate_hz", \.aerie.maxRateHz, 5...240, "Hz", .restart,
            "Highest rate of a phone's messages; if a phone sends more messages, the server closes the connection."
        )
        table.text(
            "aerie.certificate", \.aerie.certificate, .optionalPath(maxLength: 255), .restart,
            "Path of the certificate chain (PEM) with which phones connect over TLS.")
        table.text(
            "aerie.key", \.aerie.key, .optionalPath(maxLength: 255), .restart,
            "Path of the private key of aerie.certificate (PEM).")
        table.requireTogether("aerie.certificate", "aerie.key", at: "aerie.listen")
        table.text(
            "aerie.directory", \.aerie.directory, .path(maxLength: 255), .restart,
            "Directory for the phones' calibrations.")
        table.text(
            "gimbal.socket", \.gimbal.socket, .optionalPath(maxLength: 107), .restart,
            "Path of airframed's socket, for the test picture and for `airframectl status`.")
        return table
    }()

    private static func addPictures(_ table: inout CompanionSchema<EyesSettings>) {
        table.text(
            "pictures.socket", \.pictures.socket, .optionalPath(maxLength: 107), .restart,
            "Path of the UNIX socket for pictures; airframe-web must use the same path (eyes.socket).",
            hint:
                "The group of airframed's socket can read the pictures. If the value is \"off\", the page shows no pictures."
        )
        table.integer(
            "pictures.rate_hz", \.pictures.rateHz, 1...30, "Hz", .live,
            "Largest number of JPEG pictures per second, made only while a page shows them.")
        table.integer(
            "pictures.width", \.pictures.width, 160...1920, "px", .live,
            "Largest width of the JPEG pictures; larger pictures of the stream are scaled down.")
        table.integer(
            "pictures.quality", \.pictures.quality, 20...95, "%", .live,
            "Quality of the JPEG encoder; a smaller value reduces the amount of data.")
    }

    private static func addPeople(_ table: inout CompanionSchema<EyesSettings>) {
        table.bool(
            "people.enabled", \.people.enabled, .live,
            "If true, the camera can follow a person, after `airframectl track` or after a click in a ground station."
        )
        table.text(
            "people.models", \.people.models, .text(maxLength: 255), .restart,
            "Directory of the models and of the library libLiteRt.so; \"auto\" = the installed directory."
        )
        table.integer(
            "people.rate_hz", \.people.rateHz, 1...30, "Hz", .live,
            "Highest rate at which airframe-eyes searches pictures for people; a lower rate needs less computing time."
        )
        table.integer(
            "people.divisions", \.people.divisions, 1...4, nil, .live,
            "Number of parts into which airframe-eyes divides the shorter edge of the picture to search for people: a higher number finds people who are farther away, but needs more computing time."
        )
        table.integer(
            "people.field_of_view_deg", \.people.fieldOfViewDeg, 10...150, "deg", .live,
            "Angle between the left and the right edge of the picture, from the camera's data sheet; with a wrong angle the camera turns too far or not far enough."
        )
        table.integer(
            "people.patience_s", \.people.patienceS, 2...120, "s", .live,
            "Time after which airframe-eyes stops following a person who is no longer visible.")
        table.bool(
            "people.overlay", \.people.overlay, .live,
            "If true, the stream shows skeletons and a line of text while a person is followed.")
        table.word(
            "framing.place", \.framing.place, .live,
            "Horizontal position of the followed person in the picture: the middle, or one third of the picture's width from the left or the right edge."
        )
        table.integer(
            "framing.head_room_percent", \.framing.headRoomPercent, 0...40, "% of the height",
            .live, "Smallest distance between the head and the upper edge of the picture.")
        table.integer(
            "framing.dead_zone_percent", \.framing.deadZonePercent, 0...30, "% of the width", .live,
            "Dead zone: the camera begins to turn when the person is farther from the configured position than this horizontal distance."
        )
        table.integer(
            "framing.smoothing_ms", \.framing.smoothingMs, 50...3000, "ms", .live,
            "Time constant with which the camera brings the person back to the configured position in the picture; a smaller value is faster."
        )
    }
}
