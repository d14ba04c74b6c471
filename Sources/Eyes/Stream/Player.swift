import CVideo

/// RTSP client that decodes a stream and reads the time code of its pictures. A `Player` is used by
/// one thread only.
final class Player {
    /// Transport protocol of the packets.
    enum Transport: String {
        case tcp, udp
    }

    /// Properties of one decoded picture.
    struct Picture {
        let width: Int
        let height: Int
        /// Time from the picture's exposure to the arrival of its last RTP packet, ns; nil without
        /// a time code.
        let packetAge: Int64?
        /// Time from the picture's exposure to the end of its decoding, ns; nil without a time
        /// code.
        let decodedAge: Int64?
    }

    private let handle: OpaquePointer

    /// Creates the client, which connects to the stream in the background.
    ///
    /// - Throws: The reason why the client cannot be created.
    init(_ url: String, over transport: Transport) throws(VideoError) {
        let decoder = cv_has_element("avdec_h264") ? "avdec_h264 max-threads=1" : "openh264dec"
        let text =
            "rtspsrc location=\"\(url)\" protocols=\(transport.rawValue) latency=0"
            + " ! identity name=packets ! rtph264depay ! h264parse ! \(decoder)"
            + " ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=pictures sync=false"
        let (handle, problem) = withErrorText { cv_player_open(text, $0) }
        guard let handle else { throw VideoError(problem) }
        self.handle = handle
    }

    deinit { cv_player_close(handle) }

    /// Waits at most `seconds` for the next picture.
    ///
    /// - Returns: The next picture; nil after the timeout.
    /// - Throws: The reason why the stream has ended.
    func next(within seconds: Double) throws(VideoError) -> Picture? {
        var picture = cv_picture()
        let (outcome, text) = withErrorText {
            cv_player_next(handle, &picture, Int64(seconds * 1e9), $0)
        }
        guard outcome == CV_RUNNING else {
            throw VideoError(outcome == CV_ENDED ? "the stream has ended" : text)
        }
        guard let bytes = picture.bytes else { return nil }
        let luma = UnsafeRawBufferPointer(start: bytes, count: picture.size)
        func age(_ now: Int64) -> Int64? {
            TimeCode.age(
                of: luma, width: Int(picture.width), stride: Int(picture.stride), now: now)
        }
        return Picture(
            width: Int(picture.width), height: Int(picture.height),
            packetAge: picture.arrived > 0 ? age(picture.arrived) : nil,
            decodedAge: age(cv_now()))
    }
}
