import CVideo

/// H.264 encoder, a GStreamer element.
public enum Encoder: String, Sendable, Equatable {
    /// The hardware encoder of the board.
    case v4l2 = "v4l2h264enc"
    /// Software encoder on the CPU.
    case x264 = "x264enc"

    /// Chooses an encoder; nil if none is installed.
    ///
    /// - Parameters:
    ///   - choice: The setting `video.encoder`.
    ///   - isInstalled: Function that returns true if GStreamer has an element with the given name.
    init?(
        _ choice: EyesSettings.EncoderChoice,
        isInstalled: (String) -> Bool = { cv_has_element($0) }
    ) {
        let candidates: [Encoder] =
            switch choice {
            case .auto: [.v4l2, .x264]
            case .v4l2: [.v4l2]
            case .x264: [.x264]
            }
        guard let found = candidates.first(where: { isInstalled($0.rawValue) }) else { return nil }
        self = found
    }

    /// Pipeline elements from raw pictures to H.264, in gst-launch's notation. The encoder's
    /// element is named `encoder`.
    ///
    /// The encoders produce no B-frames, because B-frames would require later pictures. There is a
    /// key frame every second, so that a player can recover from lost packets. The pipeline
    /// description contains the H.264 level for the hardware encoder. Without the level, the
    /// encoder's driver refuses larger pictures.
    func elements(_ video: EyesSettings.Video) -> String {
        switch self {
        case .v4l2:
            "v4l2h264enc name=encoder extra-controls=\"\(controls(video))\""
                + " ! video/x-h264,level=(string)4.2,profile=(string)constrained-baseline"
        case .x264:
            "x264enc name=encoder tune=zerolatency speed-preset=ultrafast bframes=0"
                + " key-int-max=\(video.rateHz) bitrate=\(video.bitrateKbps) vbv-buf-capacity=200"
                + " ! video/x-h264,profile=constrained-baseline"
        }
    }

    /// Name and value of the element's property that changes the bit rate of the running encoder.
    func bitrateChange(_ video: EyesSettings.Video) -> (property: String, value: String) {
        switch self {
        case .v4l2: ("extra-controls", controls(video))
        case .x264: ("bitrate", "\(video.bitrateKbps)")
        }
    }

    private func controls(_ video: EyesSettings.Video) -> String {
        "controls,repeat_sequence_header=1,h264_i_frame_period=\(video.rateHz),"
            + "video_bitrate=\(video.bitrateKbps * 1000)"
    }
}
