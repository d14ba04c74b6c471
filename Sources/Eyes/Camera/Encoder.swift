import CVideo

/// H.264 encoder: one of GStreamer's elements.
public enum Encoder: String, Sendable, Equatable {
    /// The hardware encoder of the board.
    case v4l2 = "v4l2h264enc"
    /// Software encoder on the CPU.
    case x264 = "x264enc"

    /// Chooses an encoder; nil if none is installed.
    ///
    /// - Parameters:
    ///   - choice: The setting `video.encoder`.
    ///   - isInstalled: Function that returns whether GStreamer has an element with the given name.
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

    /// Elements of the pipeline that convert raw pictures to H.264, in gst-launch's notation; the
    /// encoder's element is named `encoder`.
    ///
    /// The encoders make no B-frames, because an encoder of B-frames must wait for later pictures.
    /// A player that has lost packets recovers at the next key frame, which comes once a second.
    /// The description states the H.264 level for the hardware encoder, because the encoder's
    /// driver otherwise refuses larger pictures.
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

    /// Property of the encoder's element that changes the bit rate of the running encoder, and the
    /// property's value.
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
