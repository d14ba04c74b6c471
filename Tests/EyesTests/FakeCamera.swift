import TestSupport
import Glibc
import SystemPackage
import Synchronization

@testable import Eyes

/// Camera in another process. Killing and restarting the process simulates a cable that is
/// unplugged and plugged in. The pictures come over shared memory; the stream receives an error
/// when the process dies.
final class FakeCamera: Sendable {
    private let socket: String
    private let process = Mutex<pid_t>(0)

    init(_ directory: FilePath) { socket = "\(directory)/camera" }

    deinit { unplug() }

    func plug() throws {
        let text =
            "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=640,height=480,framerate=30/1"
            + " ! shmsink socket-path=\(socket) wait-for-connection=false shm-size=10000000"
        let child = try spawn(
            ["gst-launch-1.0", "-q"] + text.split(separator: " ").map(String.init))
        process.withLock { $0 = child }
        for _ in 0..<100 where access(socket, F_OK) != 0 { usleep(50_000) }
    }

    func unplug() {
        let child = process.withLock { process in
            defer { process = 0 }
            return process
        }
        guard child > 0 else { return }
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
        unlink(socket)
    }

    /// Functions for `FeedSupervisor` that make this camera the only connected camera.
    var dependencies: FeedSupervisor.Dependencies {
        let socket = socket
        let camera = Camera(
            interface: .v4l2, name: "Fake", path: socket,
            modes: [
                CameraMode(
                    coding: .raw("I420"), widths: 640...640, heights: 480...480,
                    rates: [FrameRate(30)...FrameRate(30)])
            ])
        var dependencies = FeedSupervisor.Dependencies()
        dependencies.cameras = { access(socket, F_OK) == 0 ? [camera] : [] }
        dependencies.pipeline = { choice, video, encoder in
            FeedPipeline(choice, video, encoder: encoder)?.replacing(
                "v4l2src device=\"\(socket)\"",
                "shmsrc socket-path=\(socket) is-live=true do-timestamp=true")
        }
        return dependencies
    }
}

extension FeedPipeline {
    /// The pipeline with another source.
    fileprivate func replacing(_ part: String, _ other: String) -> FeedPipeline {
        guard let range = text.firstRange(of: part) else { return self }
        return FeedPipeline(
            text: String(text[..<range.lowerBound]) + other + String(text[range.upperBound...]),
            encoder: encoder)
    }
}
