import FoundationEssentials
import GimbalCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Aerie
@testable import WebServing

@Suite("Aerie, the server for HawkSight", .timeLimit(.minutes(2)))
struct AerieServerTests {
    private static let pose = DevicePose(at: Vector3(0.5, 1.4, 2), heading: 0.3, pitch: -0.1)
    private static let people = [
        Skeleton(hips: Vector3(-0.5, 0.95, -1.5), heading: 1),
        Skeleton(hips: Vector3(-1.8, 0.9, -3)),
    ]

    @Test("HawkSight can connect, authenticate, send frames and receive people, in this order")
    func hawkSight() throws {
        try withAerie { server in
            try withWorker(server, DrawnPeople(scenes: [1: (Self.people, Self.pose)])) {
                let phone = try HawkSight(port: server.port)
                let answer = try phone.authenticate()
                #expect(answer.success)
                #expect(answer.error == nil)
                #expect(UUID(uuidString: try #require(answer.sessionId)) != nil)
                for id in 1...3 {
                    try phone.send(frame: id, pose: Self.pose, axes: .arkit)
                    let broadcast = try phone.receive(.poseBroadcast, as: PoseBroadcast.self)
                    #expect(abs(broadcast.timestamp - AerieClock.now()) < 5)
                    #expect(broadcast.poses.map(\.personId) == ["1", "2"])
                    for (person, pose) in zip(Self.people, broadcast.poses) {
                        #expect(pose.sourceDevice == phone.device)
                        #expect(pose.confidence == 0.95)
                        #expect(Set(pose.joints.map(\.type)) == Set(JointType.allCases))
                        for joint in pose.joints {
                            let p = person.world(joint.type)
                            let error =
                                Vector3(
                                    Double(joint.position[0]) - p.x,
                                    Double(joint.position[1]) - p.y,
                                    Double(joint.position[2]) - p.z
                                ).norm
                            #expect(error < 0.02)
                        }
                    }
                }
                #expect(server.counters.frames == 3)
                #expect(server.counters.broadcasts == 3)
            }
        }
    }

    @Test(
        "with the axes that the app assumes, the app's projection puts the joints on their pixels"
    )
    func projection() throws {
        try withAerie({
            $0.acceptsLegacyToken = true
            $0.axes = .pinhole
        }) { server in
            try withWorker(server, DrawnPeople(scenes: [1: (Self.people, Self.pose)])) {
                let phone = try HawkSight(port: server.port)
                try phone.authenticate()
                try phone.send(frame: 1, pose: Self.pose, axes: .pinhole)
                let poses = try phone.receive(.poseBroadcast, as: PoseBroadcast.self).poses
                let matrix = Self.pose.matrix(axes: .pinhole)
                var drawn = 0
                for (person, pose) in zip(Self.people, poses) {
                    let body = person.seen(from: Self.pose)
                    for joint in pose.joints {
                        guard
                            let pixel = HawkSight.pixel(joint, matrix, Skeleton.intrinsics),
                            let point = body.joints[joint.type]
                        else { continue }
                        drawn += 1
                        #expect(abs(Double(pixel.x) - point.u) < 0.5)
                        #expect(abs(Double(pixel.y) - point.v) < 0.5)
                    }
                }
                #expect(drawn >= 20)
            }
        }
    }

    @Test("a broadcast goes to every authenticated phone, and to no other connection")
    func everyone() throws {
        try withAerie { server in
            try withWorker(server, DrawnPeople(scenes: [1: (Self.people, Self.pose)])) {
                let sender = try HawkSight(port: server.port, device: "sender")
                let watcher = try HawkSight(port: server.port, device: "watcher")
                let stranger = try HawkSight(port: server.port, device: "stranger")
                try sender.authenticate()
                try watcher.authenticate()
                try sender.send(frame: 1, pose: Self.pose, axes: .arkit)
                let seen = try watcher.receive(.poseBroadcast, as: PoseBroadcast.self)
                #expect(seen.poses.map(\.sourceDevice) == ["sender", "sender"])
                try stranger.send("heartbeat", ["a": 1])
                let first = try JSONDecoder().decode(
                    Message.self, from: Data(try stranger.socket.message().utf8))
                #expect(first.type == .heartbeat)
            }
        }
    }

    @Test("a heartbeat is answered, even before authentication")
    func heartbeat() throws {
        try withAerie { server in
            let phone = try HawkSight(port: server.port)
            try phone.send("heartbeat", [String: Int]())
            let message = try JSONDecoder().decode(
                Message.self, from: Data(try phone.socket.message().utf8))
            #expect(message.type == .heartbeat)
            #expect(String(decoding: message.payload, as: UTF8.self) == #"{"pong": true}"#)
        }
    }

    @Test(
        "errors are sent as authResponse with the texts of the original server; the connection stays open"
    )
    func errors() throws {
        try withAerie { server in
            let phone = try HawkSight(port: server.port)
            func refused(_ error: String) throws {
                #expect(try phone.response() == AuthResponse(success: false, error: error))
            }
            try phone.send(frame: 1, pose: Self.pose, axes: .arkit)
            try refused("Device not authenticated")
            for token in ["", "c2hvcnQ=", String(repeating: "a", count: 260), "no base64 at all!"] {
                #expect(
                    try phone.authenticate(token: token)
                        == AuthResponse(success: false, error: "Invalid authentication token"))
            }
            for text in [
                "hello", "{}", "[1]", #"{"type":"authRequest","timestamp":1,"payload":"e30="}"#,
                #"{"type":"song","timestamp":1,"payload":"e30="}"#,
                #"{"type":"heartbeat","timestamp":1,"payload":"!"}"#,
            ] {
                try phone.socket.send(message: text)
                let isMissing = text == "{}" || text.contains(#"authRequest"#)
                try refused(
                    isMissing
                        ? "The data couldn’t be read because it is missing."
                        : "The data couldn’t be read because it isn’t in the correct format.")
            }
            try phone.socket.send(WebClient.frame(2, [1, 2]))
            try refused("Invalid message encoding")
            #expect(try phone.authenticate().success)
            #expect(server.counters.malformed == 6)
            #expect(server.counters.unauthenticated == 5)
        }
    }

    @Test("an unusable frame is answered with the reason, and counted")
    func unusable() throws {
        try withAerie { server in
            try withWorker(server, DrawnPeople(scenes: [1: (Self.people, Self.pose)])) {
                let phone = try HawkSight(port: server.port)
                try phone.authenticate()
                let good = CameraFrame(
                    frameId: "1", timestamp: 0, imageData: "AQ==",
                    devicePose: Self.pose.matrix(axes: .arkit), intrinsics: Skeleton.intrinsics)
                let changes: [(String, (inout CameraFrame) -> Void)] = [
                    (
                        "devicePose is not a 4 x 4 matrix of a rotation and a translation",
                        { $0.devicePose = [[1, 2]] }
                    ),
                    ("imageData is not base64", { $0.imageData = "%" }),
                    ("imageData is not base64", { $0.imageData = "" }),
                    ("imageData cannot be processed", { $0.imageData = "Bw==" }),
                    ("intrinsics are not plausible for a camera", { $0.intrinsics.fx = 0 }),
                ]
                for (reason, change) in changes {
                    var frame = good
                    change(&frame)
                    try phone.send("cameraFrame", frame)
                    #expect(try phone.response().error?.hasPrefix(reason) == true)
                }
                try phone.send("cameraFrame", ["frameId": "2"])
                #expect(try phone.response().error == AerieDevice.Problem.missing)
                #expect(server.counters.unusable == 6)
                try phone.send("cameraFrame", good)
                #expect(try phone.receive(.poseBroadcast, as: PoseBroadcast.self).poses.count == 2)
            }
        }
    }

    @Test("the stored description of a phone is short and free of control characters")
    func description() throws {
        try withAerie { server in
            let phone = try HawkSight(port: server.port)
            let info = DeviceInfo(
                model: "\u{1b}[31miPhone\n\u{202e}14" + String(repeating: "x", count: 100_000),
                osVersion: "17\u{7f}", hasLiDAR: true)
            try phone.send(
                "authRequest",
                AuthRequest(
                    deviceId: phone.device, token: String(repeating: "abcd", count: 8),
                    deviceInfo: info))
            #expect(try phone.response().success)
            let stored = try #require(server.admitted.first?.info)
            #expect(stored.model.hasPrefix("[31miPhone14xxx"))
            #expect(stored.model.count == 64)
            #expect(stored.osVersion == "17")
        }
    }

    @Test(
        "a phone that authenticates again keeps its session for an hour; later, or after a disconnection, it gets a new one"
    )
    func sessions() throws {
        let now = Mutex(1_800_000_000.0)
        try withAerie({
            $0.acceptsLegacyToken = true
            $0.now = { now.withLock { $0 } }
        }) { server in
            var phone = try HawkSight(port: server.port)
            let first = try #require(try phone.authenticate().sessionId)
            now.withLock { $0 += 3599 }
            #expect(try phone.authenticate().sessionId == first)
            now.withLock { $0 += 2 }
            let second = try #require(try phone.authenticate().sessionId)
            #expect(second != first)
            // The same phone connects again: the newer connection keeps the session.
            let again = try HawkSight(port: server.port)
            #expect(try again.authenticate().sessionId == second)
            #expect(try phone.socket.frame().code == 1008)
            #expect(wait { server.phones == 1 })
            try again.socket.send(WebClient.frame(8, [3, 0xe8]))
            #expect(wait { server.phones == 0 })
            phone = try HawkSight(port: server.port)
            #expect(try phone.authenticate().sessionId != second)
        }
    }

    @Test("a phone stays admitted until its connection ends, although its session has ended")
    func admission() throws {
        let now = Mutex(1_800_000_000.0)
        try withAerie({
            $0.acceptsLegacyToken = true
            $0.now = { now.withLock { $0 } }
        }) { server in
            let phone = try HawkSight(port: server.port)
            try phone.authenticate()
            now.withLock { $0 += 3601 }
            try phone.send(frame: 1, pose: Self.pose, axes: .arkit)
            #expect(wait { server.counters.frames == 1 })
            #expect(server.phones == 1 && server.counters.unauthenticated == 0)
        }
    }

    @Test("a connection that does not authenticate in time is closed with 1008")
    func late() throws {
        try withAerie({
            $0.acceptsLegacyToken = true
            $0.authentication = 0.3
        }) { server in
            let silent = try HawkSight(port: server.port, device: "silent")
            let phone = try HawkSight(port: server.port, device: "phone")
            try phone.authenticate()
            let frame = try silent.socket.frame()
            #expect(frame.opcode == 8)
            #expect(frame.code == 1008)
            usleep(200_000)
            try phone.send("heartbeat", [1])
            #expect(try phone.socket.message().contains("heartbeat"))
        }
    }

    @Test(
        "without accept_legacy_token, only a signed token with a timestamp is valid, once, within 60 s"
    )
    func tokens() throws {
        let time = 1_800_000_000.0
        try withAerie({
            $0.secret = Array("a secret".utf8)
            $0.now = { time }
        }) { server in
            let phone = try HawkSight(port: server.port)
            let refused = AuthResponse(success: false, error: "Invalid authentication token")
            #expect(try phone.authenticate(secret: "a secret") == refused)
            for stamp in ["1799999939.9", "1800000060.1", "nan", "inf", "soon", ""] {
                #expect(try phone.authenticate(secret: "a secret", timestamp: stamp) == refused)
            }
            #expect(try phone.authenticate(secret: "another", timestamp: "1800000000") == refused)
            // The token belongs to another device.
            let other = HawkSight.token(
                device: "other", timestamp: "1800000000", secret: "a secret")
            #expect(try phone.authenticate(token: other, timestamp: "1800000000") == refused)
            #expect(try phone.authenticate(secret: "a secret", timestamp: "1799999940").success)
            // The same token again: an eavesdropper could replay it.
            #expect(try phone.authenticate(secret: "a secret", timestamp: "1799999940") == refused)
            #expect(try phone.authenticate(secret: "a secret", timestamp: "1800000059.5").success)
        }
    }

    @Test("used tokens are forgotten after they expire")
    func memory() {
        var check = TokenCheck(secret: Array("s".utf8), acceptsLegacy: false)
        let info = DeviceInfo(model: "m", osVersion: "o", hasLiDAR: false)
        for second in 0..<1000 {
            let text = "\(second)"
            let token = HawkSight.token(device: "d", timestamp: text, secret: "s")
            let request = AuthRequest(
                deviceId: "d", token: token, deviceInfo: info, timestamp: text)
            let now = Double(second)
            let valid = (0..<2).map { _ in check.isValid(request, device: "d", now: now) }
            #expect(valid == [true, false])
            #expect(check.remembered <= 62)
        }
    }

    @Test("the server has the HTTP pages of the original server")
    func pages() throws {
        try withAerie { server in
            let phone = try HawkSight(port: server.port)
            try phone.authenticate()
            _ = try HawkSight(port: server.port, device: "second")
            let client = try WebClient(port: server.port)
            #expect(try client.request("GET", "/").text == "FalconEye Aerie Server - Running")
            let page = try client.request("GET", "/status")
            #expect(page.headers["content-type"] == "application/json; charset=utf-8")
            let text = page.text
            for part in [
                #""running":true"#, #""activeSessions":1"#, #""authenticatedConnections":1"#,
                #""totalConnections":"#, #""timestamp":"20"#,
            ] { #expect(text.contains(part)) }
            #expect(try client.request("GET", "/other").status == 404)
            let wrong = [
                "/ws/connect/", "/ws/connect/a/b", "/ws/other",
                "/ws/connect/" + String(repeating: "x", count: 129),
            ]
            for path in wrong {
                #expect(try WebClient(port: server.port).upgrade(path).status == 404)
            }
        }
    }

    @Test("a phone's name with characters that control a terminal is refused")
    func controlCharacters() throws {
        try withAerie { server in
            // CSI, OSC, the line separator and a change of the text direction, in UTF-8.
            for name in ["a%C2%9B2J", "%C2%9D0;x", "a%E2%80%A8b", "%E2%80%AEa"] {
                let answer = try WebClient(port: server.port).upgrade("/ws/connect/\(name)")
                #expect(answer.status == 404, "\(name)")
            }
            let named = try WebClient(port: server.port).upgrade("/ws/connect/J%C3%BCrg%202")
            #expect(named.status == 101)
        }
    }

    @Test("a new phone replaces a connection without authentication, but no admitted phone")
    func strangers() throws {
        try withAerie({
            $0.acceptsLegacyToken = true
            $0.web.limits.connections = 5
        }) { server in
            let phones = try (0..<3).map { index in
                let phone = try HawkSight(port: server.port, device: "phone-\(index)")
                try phone.authenticate()
                return phone
            }
            let strangers = try (0..<2).map { index in
                try HawkSight(port: server.port, device: "stranger-\(index)", host: 2)
            }
            let new = try HawkSight(port: server.port, device: "new", host: 3)
            #expect(try new.authenticate().success)
            #expect(throws: WebClient.Failure.closed) { try strangers[0].socket.frame() }
            #expect(server.phones == 1 + phones.count)
            #expect(server.connections?.refusals == [.connections: 1])
        }
    }
}
