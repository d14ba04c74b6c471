import FoundationEssentials
import GimbalCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Aerie
@testable import WebServing

@Suite("Aerie under high load and with hostile clients", .timeLimit(.minutes(3)), .serialized)
struct AerieLoadTests {
    @Test(
        "with three phones at 30 frames/s of 60 kB, the newest frame is examined, the others are counted, and memory does not grow"
    )
    func load() throws {
        try withAerie { server in
            let pose = DevicePose(at: Vector3(0, 1.4, 0))
            let scene = (people: [Skeleton(hips: Vector3(0, 0.9, -3))], pose: pose)
            // Each image takes 40 ms, so the worker can examine 25 of the 90 frames per second.
            try withWorker(server, DrawnPeople(scenes: [1: scene], duration: 0.04)) {
                let phones = try (0..<3).map { index in
                    let phone = try HawkSight(port: server.port, device: "phone-\(index)")
                    try phone.authenticate()
                    return phone
                }
                var image = [UInt8](repeating: 0, count: 60_000)
                for index in image.indices { image[index] = UInt8(truncatingIfNeeded: index &* 37) }
                image[0] = 1
                let inner = try JSONEncoder().encode(
                    CameraFrame(
                        frameId: "1", timestamp: 0,
                        imageData: Data(image).base64EncodedString(),
                        devicePose: pose.matrix(axes: .arkit), intrinsics: Skeleton.intrinsics))
                let text =
                    #"{"type":"cameraFrame","timestamp":1,"payload":"\#(inner.base64EncodedString())"}"#
                let frame = WebClient.frame(1, Array(text.utf8))
                var broadcasts = 0
                var sent = 0
                func run(frames: Int) throws {
                    let begin = AerieClock.monotonic()
                    let first = sent
                    while sent < first + frames {
                        let due = first + 3 * Int((AerieClock.monotonic() - begin) * 30)
                        while sent < due {
                            try phones[sent % 3].socket.send(frame)
                            sent += 1
                        }
                        usleep(2000)
                        while try phones[0].socket.hasMessage() {
                            _ = try phones[0].socket.message()
                            broadcasts += 1
                        }
                    }
                }
                try run(frames: 180)
                let before = ProcessSize.resident()
                try run(frames: 720)
                let growth = ProcessSize.resident() - before
                #expect(wait { server.counters.frames == sent })
                let (replaced, taken) = server.examined
                print(
                    "aerie: \(sent) frames, \(taken) examined, \(replaced) replaced, growth \(growth) bytes"
                )
                #expect(sent >= 900)
                #expect(taken > 150)
                #expect(taken + replaced <= sent && taken + replaced >= sent - 3)
                #expect(broadcasts > 150)
                if !Sanitizer.isActive { #expect(growth < 8_000_000) }
                #expect(server.connections?.refusals.isEmpty == true)
            }
        }
    }

    @Test(
        "oversized messages, too many messages, a foreign origin and a foreign host are refused and counted"
    )
    func hostile() throws {
        try withAerie({
            $0.acceptsLegacyToken = true
            $0.web.limits.messagesPerSecond = 50
        }) { server in
            let large = try HawkSight(port: server.port, device: "large")
            try large.socket.send([0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 1, 2, 3, 4])
            #expect(try large.socket.frame().code == 1009)
            let fast = try HawkSight(port: server.port, device: "fast")
            for _ in 0..<120 { try? fast.send("heartbeat", [1]) }
            var frame = try fast.socket.frame()
            while frame.opcode != 8 { frame = try fast.socket.frame() }
            #expect(frame.code == 1008)
            let page = try WebClient(port: server.port)
            #expect(
                try page.upgrade("/ws/connect/x", headers: ["Origin: http://evil.example"]).status
                    == 403)
            let name = try WebClient(port: server.port)
            #expect(
                try name.upgrade("/ws/connect/x", headers: ["Host: evil.example:8000"]).status
                    == 421)
            #expect(
                server.connections?.refusals == [.message: 1, .rate: 1, .origin: 1, .host: 1])
        }
    }

    @Test(
        "after 1,000 phones connect in turn, half of them without a WebSocket close, no session remains"
    )
    func turns() throws {
        try withAerie { server in
            let pose = DevicePose(at: .zero)
            for index in 0..<1000 {
                let phone = try HawkSight(port: server.port, device: "phone-\(index)")
                try phone.authenticate()
                if index % 2 == 0 { try phone.send(frame: 1, pose: pose, axes: .arkit) }
                if index % 4 == 0 { try phone.socket.send(WebClient.frame(8, [])) }
                _ = wait { (server.connections?.connections ?? 0) - index < 4 }
            }
            #expect(wait { server.phones == 0 })
            #expect(server.frames.take(within: 0) == nil)
            let status = try WebClient(port: server.port).request("GET", "/status").text
            #expect(status.contains(#""activeSessions":0"#))
        }
    }
}
