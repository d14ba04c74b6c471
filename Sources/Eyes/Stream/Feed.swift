import CVideo

/// Running GStreamer pipeline of a camera. One thread opens the pipeline, waits for its end and
/// closes it. While the pipeline runs, a `Painter` can pass pictures to the pipeline from a second
/// thread. The class is `@unchecked Sendable`, because GStreamer allows calls from several threads.
final class Feed: @unchecked Sendable {
    private let handle: OpaquePointer
    // Reference that keeps the server open while the feed exists.
    private let server: StreamServer

    /// Starts a pipeline.
    ///
    /// - Parameters:
    ///   - pipeline: Description of the pipeline.
    ///   - server: Server of the stream.
    ///   - frameNanoseconds: Longest time between two pictures of the pipeline, ns. A longer time
    ///     counts as lost pictures.
    /// - Throws: The reason why the pipeline cannot be started.
    init(
        _ pipeline: FeedPipeline, to server: StreamServer, frameNanoseconds: Int64
    ) throws(VideoError) {
        self.server = server
        let (handle, text) = withErrorText {
            cv_feed_open(pipeline.text, server.handle, frameNanoseconds, $0)
        }
        guard let handle else { throw VideoError(text) }
        self.handle = handle
    }

    deinit { cv_feed_close(handle) }

    /// Waits at most `seconds` for the end of the pipeline.
    ///
    /// - Returns: Reason why the pipeline has ended; nil while it runs.
    func ended(within seconds: Double) -> String? {
        let (outcome, text) = withErrorText { cv_feed_wait(handle, Int64(seconds * 1e9), $0) }
        return switch outcome {
        case CV_RUNNING: nil
        case CV_ENDED: "the camera has ended its stream"
        default: text
        }
    }

    /// Changes a property of the running encoder.
    ///
    /// - Returns: True if the encoder has accepted the value.
    func setEncoder(_ property: String, _ value: String) -> Bool {
        cv_feed_set(handle, "encoder", property, value)
    }

    /// Changes a property of an element while the pipeline runs. The call has no effect if the
    /// pipeline has no element with this name.
    func set(_ element: String, _ property: String, _ value: String) {
        _ = cv_feed_set(handle, element, property, value)
    }

    /// Copies the newest picture for the models, in RGB format.
    ///
    /// - Returns: True if a picture arrived within 50 ms.
    func sample(into target: UnsafeMutableBufferPointer<UInt8>, _ info: inout cv_sample) -> Bool {
        cv_feed_sample(handle, target.baseAddress, target.count, &info, 50_000_000)
    }

    /// Copies the newest JPEG picture.
    ///
    /// - Returns: True if a picture arrived within 50 ms.
    func still(into target: UnsafeMutableBufferPointer<UInt8>, _ info: inout cv_still) -> Bool {
        cv_feed_still(handle, target.baseAddress, target.count, &info, 50_000_000)
    }

    /// Draws shapes over the stream's pictures.
    ///
    /// - Parameters:
    ///   - shapes: Shapes to draw, in the coordinates of the picture.
    ///   - until: Time at which the shapes disappear, ns on CLOCK_MONOTONIC.
    func overlay(_ shapes: [cv_shape], until: Int64) {
        cv_feed_overlay(handle, shapes, shapes.count, until)
    }

    /// Passes a test picture to the pipeline. `exposed` is the picture's time of exposure, ns on
    /// CLOCK_MONOTONIC.
    func draw(_ bytes: [UInt8], exposed: Int64) {
        // The pipeline drops pictures that arrive before its start or after its end.
        _ = cv_feed_draw(handle, bytes, bytes.count, exposed)
    }

    /// Starts to record at the next key frame; nil ends the recording.
    func record(_ recorder: Recorder?) { cv_feed_record(handle, recorder?.handle) }

    /// Counters of the pipeline since its start.
    var counters: cv_feed_stats { cv_feed_read(handle) }
}
