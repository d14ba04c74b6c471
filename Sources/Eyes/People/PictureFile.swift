import CVideo
import People

/// Reader of an image or video file: returns one picture for a photo, and every picture for a
/// video. A `PictureFile` is used by one thread only.
final class PictureFile {
    private let handle: OpaquePointer

    /// Opens a file in any format that GStreamer supports.
    ///
    /// - Parameter path: Path of the file.
    /// - Throws: The reason why the file cannot be opened.
    init(_ path: String) throws(VideoError) {
        let text =
            "filesrc location=\(FeedPipeline.quoted(path)) ! decodebin ! videoconvert"
            + " ! video/x-raw,format=RGB"
            + " ! appsink name=pictures sync=false max-buffers=2"
        let (handle, problem) = withErrorText { cv_player_open(text, $0) }
        guard let handle else { throw VideoError("\(path) cannot be opened: \(problem)") }
        self.handle = handle
    }

    deinit { cv_player_close(handle) }

    /// Returns the next picture; nil at the end of the file.
    ///
    /// - Throws: The reason why the file cannot be read.
    func next() throws(VideoError) -> RGBPicture? {
        var picture = cv_picture()
        let (outcome, text) = withErrorText { cv_player_next(handle, &picture, 10_000_000_000, $0) }
        if outcome == CV_ENDED { return nil }
        guard outcome == CV_RUNNING else { throw VideoError(text) }
        guard let result = RGBPicture(picture) else {
            throw VideoError("the file contains no picture")
        }
        return result
    }
}

extension RGBPicture {
    /// Copies an RGB picture. GStreamer pads each row to a multiple of four bytes. The result is
    /// nil if `picture` is empty.
    init?(_ picture: cv_picture) {
        guard let bytes = picture.bytes, picture.height > 0 else { return nil }
        let (row, stride) = (3 * Int(picture.width), picture.size / Int(picture.height))
        guard stride >= row else { return nil }
        let all = UnsafeBufferPointer(start: bytes, count: picture.size)
        var packed: [UInt8] = []
        packed.reserveCapacity(row * Int(picture.height))
        for line in 0..<Int(picture.height) {
            packed.append(contentsOf: all[(line * stride)..<(line * stride + row)])
        }
        self.init(width: Int(picture.width), height: Int(picture.height), bytes: packed)
    }
}
