import CVideo
import Client
import GimbalCore
import Glibc

/// Thread that draws test pictures at the stream's frame rate while no camera delivers pictures.
final class Painter: Sendable {
    private let thread = CompanionThread()

    /// Starts the thread that draws the pictures.
    ///
    /// - Parameters:
    ///   - feed: Receiver of the pictures.
    ///   - video: Size and frame rate of the pictures.
    ///   - notice: Text in the pictures; nil means no text.
    ///   - attitude: Function that returns the camera's current attitude; nil if it is unknown.
    init(
        to feed: Feed, _ video: EyesSettings.Video, notice: String?,
        attitude: @escaping @Sendable () -> AxisVector?
    ) {
        thread.start("eyes-painter") { [thread] in
            var view = TestPicture(width: video.width, height: video.height)
            var next = cv_now()
            while !thread.mustEnd {
                let exposed = cv_now()
                view.draw(attitude(), notice: notice, exposed: exposed)
                feed.draw(view.bytes, exposed: exposed)
                // After a delay of the thread, the missed pictures are not drawn.
                next = max(next + video.frameNanoseconds, cv_now() - video.frameNanoseconds)
                Self.sleep(until: next)
            }
        }
    }

    /// Stops the thread, and waits for its end.
    func stop() { thread.stop() }

    private static func sleep(until time: Int64) {
        var target = timespec(
            tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &target, nil) == EINTR {}
    }
}
