import Client
import Glibc

@testable import Aerie

/// Pose source that returns the people that a test places in front of the camera.
struct DrawnPeople: PoseSource {
    /// People in each image; the first byte of the image is the key.
    var scenes: [Int: (people: [Skeleton], pose: DevicePose)]
    /// Time to examine one image, s.
    var duration = 0.0

    func bodies(in jpeg: [UInt8], quarterTurns: Int) throws -> (
        width: Int, height: Int, bodies: [Body]
    ) {
        usleep(UInt32(duration * 1e6))
        guard let scene = scenes[Int(jpeg[0])] else { throw AerieWorker.Unusable("not a JPEG") }
        return (1920, 1440, scene.people.map { $0.seen(from: scene.pose) })
    }
}

/// Runs `body` while another thread examines frames.
func withWorker(
    _ server: AerieServer, _ source: DrawnPeople,
    report: @escaping @Sendable (String, [PhonePerson]) -> Void = { _, _ in },
    _ body: () throws -> Void
) rethrows {
    let thread = CompanionThread()
    thread.start("aerie-worker") {
        var worker = AerieWorker(server, source, report: report)
        while !thread.mustEnd { worker.step(within: 0.02) }
    }
    defer { thread.stop() }
    try body()
}

/// Runs `body` with a server on a free local port.
func withAerie(
    _ change: (inout AerieOptions) -> Void = { $0.acceptsLegacyToken = true },
    _ body: (AerieServer) throws -> Void
) throws {
    var options = AerieOptions(listen: "127.0.0.1:0")
    change(&options)
    let server = AerieServer(options)
    try server.start()
    defer { server.stop() }
    try body(server)
}

/// Waits at most 5 s until a condition is true; returns whether it became true.
func wait(_ condition: () -> Bool) -> Bool {
    for _ in 0..<500 where !condition() { usleep(10_000) }
    return condition()
}
