import CVideo
import Client
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Eyes

@Suite("Orders to airframe-eyes as a program", .serialized, .timeLimit(.minutes(1)))
struct CameraOrderProgramTests {
    private func client(_ directory: FilePath) throws -> DaemonClient {
        try DaemonClient(path: "\(directory)/s.sock", timeout: 5)
    }

    private func report(_ directory: FilePath) throws -> CompanionReport? {
        let status: Status = try client(directory).request("status")
        return status.companions.first { $0.report.capture != nil }?.report
    }

    private func flight(_ directory: FilePath) throws -> RecorderStatus {
        try client(directory).request("record")
    }

    /// Sends an order, and waits for its result.
    private func order(_ directory: FilePath, _ action: String, _ settings: [String] = []) throws
        -> CaptureState
    {
        var params: [String: JSONValue] = ["action": .string(action)]
        if !settings.isEmpty { params["settings"] = .array(settings.map(JSONValue.string)) }
        let reply: CameraReply = try client(directory).request("camera", params)
        #expect(
            eventually(within: 10) {
                (try? report(directory))?.capture?.order ?? 0 >= reply.number
            }, "\(action)")
        return try #require(try report(directory)?.capture)
    }

    private func files(_ directory: FilePath, _ ending: String) throws -> Int {
        let list = directory.appending("list")
        _ = try shell("ls \(directory) | grep -c '\(ending)$' > \(list)")
        return Int(
            String(decoding: try bytes(of: list), as: UTF8.self).filter(\.isNumber)) ?? 0
    }

    private func daemon(in directory: FilePath) throws -> RunningProgram {
        let daemon = try RunningProgram(
            "airframed",
            [
                "--set", "diagnostics.socket=\(directory)/s.sock", "--set",
                "persistence.directory=\(directory)/state", "--set", "bluetooth.enabled=false",
                "--set", "loop.lock_memory=false", "--set", "imu.timeout_ms=1000",
            ], in: directory)
        #expect(
            eventually(within: 20) { access("\(directory)/s.sock", F_OK) == 0 }, "\(daemon.log)")
        return daemon
    }

    @Test("a report before the result of an order does not contain the order's number")
    func resultWithNumber() throws {
        try withTemporaryDirectory { directory in
            let daemon = try daemon(in: directory)
            defer { kill(daemon.process, SIGTERM) }
            let link = DaemonLink(socket: "\(directory)/s.sock")
            defer { link.stop() }
            var eyes = CompanionReport(name: "eyes")
            eyes.finding = "streaming"
            eyes.capture = CaptureState()
            eyes.capture?.problem = "the earlier photo has failed"
            link.report(eyes)
            #expect(eventually(within: 10) { (try? report(directory)) != nil }, "\(daemon.log)")
            let reply: CameraReply = try client(directory).request("camera", ["action": "photo"])
            var orders: [CameraOrder] = []
            let isReceived = eventually(within: 10) {
                orders += link.takeOrders()
                return !orders.isEmpty
            }
            #expect(isReceived)
            link.executed(try #require(orders.first))
            // Several reports are sent before the program knows the result.
            usleep(800_000)
            #expect(try report(directory)?.capture?.order == 0)
            eyes.capture?.problem = nil
            link.report(eyes)
            #expect(
                try eventually(within: 10) { try report(directory)?.capture?.order == reply.number }
            )
            #expect(try report(directory)?.capture?.problem == nil)
        }
    }

    @Test(
        "orders take a photo, record and change the size; killing airframe-eyes ends the flight recording"
    )
    func orders() throws {
        try #require(isVideoReady)
        try withTemporaryDirectory { directory in
            let daemon = try daemon(in: directory)
            defer { kill(daemon.process, SIGTERM) }
            let port = try StreamServer(host: "127.0.0.1", port: 0, path: "/x", maximumClients: 1)
                .port
            let videos = directory.appending("videos")
            try makeDirectory(videos)
            let settings = [
                "rtsp.listen=127.0.0.1:\(port)", "gimbal.socket=\"\(directory)/s.sock\"",
                "video.source=test", "video.record_directory=\"\(videos)\"",
                "pictures.socket=\"\(directory)/p.sock\"",
            ]
            let file = directory.appending("eyes.toml")
            try write("[video]\nwidth = 640\n", to: file)
            let eyes = try RunningProgram(
                "airframe-eyes",
                ["--config", file.string] + settings.flatMap { ["--set", $0] }, in: directory)
            #expect(eventually(within: 10) { (try? report(directory)) != nil }, "\(eyes.log)")

            #expect(try order(directory, "photo").problem == nil)
            #expect(
                try eventually(within: 10) { try report(directory)?.capture?.photos == 1 },
                "\(eyes.log)")
            #expect(try files(videos, ".jpg") == 1)

            #expect(try order(directory, "record").problem == nil)
            #expect(
                try eventually(within: 10) { try report(directory)?.capture?.isRecording == true },
                "\(eyes.log)")
            #expect(try eventually(within: 10) { try flight(directory).isRecording })
            // An invalid setting is refused with its range, and the settings do not change.
            let wrong = try order(directory, "set", ["video.width=9"])
            #expect(wrong.problem?.contains("outside 160...1920") == true, "\(wrong)")
            let fixed = try order(directory, "set", ["rtsp.path=\"/y\""])
            #expect(fixed.problem?.contains("only after a restart") == true, "\(fixed)")
            // An error in the file does not prevent the end of the recording.
            try write("[video]\nwidth = 9\n", to: file)
            #expect(try order(directory, "stop").problem == nil)
            try write("[video]\nwidth = 640\n", to: file)
            #expect(
                try eventually(within: 10) { try !flight(directory).isRecording }, "\(eyes.log)")
            #expect(try files(videos, ".mp4") == 1)

            // A failed recording begins when the cause is removed and a user repeats the order.
            let missing = directory.appending("missing")
            _ = try order(directory, "set", ["video.record_directory=\"\(missing)\""])
            _ = try order(directory, "record")
            #expect(
                try eventually(within: 10) {
                    try report(directory)?.capture?.problem?.contains("missing") == true
                })
            try makeDirectory(missing)
            _ = try order(directory, "record")
            #expect(
                try eventually(within: 10) { try report(directory)?.capture?.isRecording == true },
                "\(eyes.log)")
            _ = try order(directory, "stop")

            let player = try Player("rtsp://127.0.0.1:\(port)/stream", over: .tcp)
            #expect(try player.first(within: 8) { $0.width == 640 } != nil)
            let size = ["video.width=320", "video.height=240", "video.rate_hz=15"]
            #expect(try order(directory, "set", size).problem == nil)
            #expect(try player.first(within: 5) { $0.width == 320 } != nil)
            // The file applies again after SIGHUP.
            kill(eyes.process, SIGHUP)
            #expect(try player.first(within: 5) { $0.width == 640 } != nil)

            #expect(try order(directory, "record").problem == nil)
            #expect(try eventually(within: 10) { try flight(directory).isRecording })
            kill(eyes.process, SIGKILL)
            #expect(eyes.wait(seconds: 5) == -SIGKILL)
            #expect(try eventually(within: 5) { try !flight(directory).isRecording })
        }
    }
}
