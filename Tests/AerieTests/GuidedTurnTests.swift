import FoundationEssentials
import GimbalCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Aerie

@Suite("Guided turn with a phone on the camera", .timeLimit(.minutes(1)))
struct GuidedTurnTests {
    /// Gimbal with a phone; the attitudes of both have errors of 0.2°.
    private final class Rig {
        var yaw = 0.0, pitch = 0.0
        var poses = 0
        var waited = 0.0
        var noise = Noise(5)
        let mounting = Quaternion.aboutZ(.pi / 2) * .aboutY(0.2)
        let world = Quaternion.aboutX(.pi / 2) * .aboutY(0.8)
        var isSilent = false
        var slip = 0.0

        private func error() -> Quaternion {
            Quaternion(
                rotationVector: Vector3(noise.next(), noise.next(), noise.next()) * 0.0035)
        }

        func guidedTurn() -> GuidedTurn {
            GuidedTurn(
                .init(
                    turn: { (self.yaw, self.pitch) = ($0 * .pi / 180, $1 * .pi / 180) },
                    camera: { self.camera * self.error() },
                    phone: {
                        if !self.isSilent { self.poses += 1 }
                        let rotation = self.world.conjugate * self.camera * self.mounting
                        let slipped = rotation * .aboutX(self.slip * self.yaw)
                        let position = Vector3(2, 1, -1) + Vector3(0.05 * self.yaw, 0, 0)
                        return (
                            DevicePose(rotation: slipped * self.error(), position: position),
                            self.poses
                        )
                    }, wait: { self.waited += $0 }, log: { _ in }))
        }

        private var camera: Quaternion { .aboutZ(0.4 + yaw) * .aboutY(pitch) }
    }

    @Test("after the turn, the direction to a person is right to 1°")
    func direction() throws {
        let rig = Rig()
        let (result, position) = try rig.guidedTurn().run()
        #expect((position - Vector3(2, 1, -1)).norm < 0.05)
        #expect(rig.yaw == 0 && rig.pitch == 0)
        let alignment = Alignment(device: "phone", result, position: position)
        // A person 4 m away, 30° to the right of north and 10° below the gimbal.
        let (yaw, pitch) = (0.5236, -0.1745)
        let earth = Vector3(cos(pitch) * cos(yaw), cos(pitch) * sin(yaw), -sin(pitch)) * 4
        let point = rig.world.conjugate.rotate(earth) + Vector3(2, 1, -1)
        let angles = try #require(alignment.angles(to: point))
        #expect(abs(angles.yaw - yaw) < 0.0175)
        #expect(abs(angles.pitch - pitch) < 0.0175)
        #expect(alignment.angles(to: position) == nil)
    }

    @Test("a phone that sends nothing, and a phone that slips, are reported; the camera turns back")
    func failures() {
        let silent = Rig()
        silent.isSilent = true
        #expect {
            try silent.guidedTurn().run()
        } throws: { "\($0)".hasPrefix("The phone sends no pictures.") }
        #expect(silent.waited > 4.9 && silent.waited < 5.1)
        let slipping = Rig()
        slipping.slip = 0.6
        #expect {
            try slipping.guidedTurn().run()
        } throws: {
            "\($0)".hasPrefix(
                "The phone's rotation differs from the camera's rotation by ")
        }
        #expect(slipping.yaw == 0)
    }

    @Test("a frame counts as a pose only after its pose was read")
    func poses() throws {
        var options = AerieOptions(listen: "127.0.0.1:0")
        options.acceptsLegacyToken = true
        let server = AerieServer(options, local: LocalPages([]) { _ in })
        try server.start()
        defer { server.stop() }
        let phone = try HawkSight(port: server.port, device: "phone-1")
        try phone.authenticate()
        for id in 1...3 { try phone.send(frame: id, pose: DevicePose(at: .zero), axes: .arkit) }
        let client = try WebClient(port: server.port)
        func state() throws -> LocalPages.PhoneState {
            let answer = try client.request("GET", "/phones")
            return try #require(
                try JSONDecoder().decode([LocalPages.PhoneState].self, from: Data(answer.body))
                    .first)
        }
        #expect(wait { server.counters.frames == 3 })
        #expect(try state().poses == 0)
        var worker = AerieWorker(server, DrawnPeople(scenes: [:]))
        let isExamined = worker.step(within: 5)
        #expect(isExamined)
        #expect(try state().poses == 1)
    }

    @Test(
        "programs on the same computer can read phones and store calibrations; invalid calibrations are refused"
    )
    func pages() throws {
        let saved = Saved()
        let pages = LocalPages([]) { saved.put($0) }
        var options = AerieOptions(listen: "127.0.0.1:0")
        options.acceptsLegacyToken = true
        options.phones = 1
        let server = AerieServer(options, local: pages)
        try server.start()
        defer { server.stop() }
        let phone = try HawkSight(port: server.port, device: "phone-1")
        try phone.authenticate()
        let further = try HawkSight(port: server.port, device: "further")
        #expect(try further.authenticate().error == "Too many devices")
        pages.note(
            [
                PhonePerson(
                    id: "7", device: "phone-1", position: Vector3(0, 0, -3),
                    time: AerieClock.monotonic())
            ], device: "phone-1")
        let client = try WebClient(port: server.port)
        func phones() throws -> [LocalPages.PhoneState] {
            let answer = try client.request("GET", "/phones")
            return try JSONDecoder().decode([LocalPages.PhoneState].self, from: Data(answer.body))
        }
        let before = try #require(try phones().first)
        #expect(before.device == "phone-1")
        #expect(before.model == "iPhone 14 Pro")
        #expect(!before.isAligned)
        #expect(before.people.map(\.id) == ["7"])
        #expect(before.people[0].yaw == nil)
        let result = try Rig().guidedTurn().run().result
        var alignment = Alignment(device: "phone-1", result, position: .zero)
        let text = String(decoding: try JSONEncoder().encode(alignment), as: UTF8.self)
        #expect(try client.request("POST", "/alignment", body: text).status == 200)
        #expect(saved.alignments == [alignment])
        #expect(try phones().first?.people.first?.yaw != nil)
        #expect(pages.find("7")?.angles != nil)
        #expect(pages.find("8") == nil)
        alignment.world = [1, 1, 1, 1]
        let wrong = String(decoding: try JSONEncoder().encode(alignment), as: UTF8.self)
        for body in [wrong, "{}", ""] {
            #expect(try client.request("POST", "/alignment", body: body).status == 400)
        }
        #expect(try client.request("DELETE", "/alignment?device=phone-1").status == 200)
        #expect(try client.request("DELETE", "/alignment?device=phone-1").status == 409)
        #expect(saved.alignments == [])
    }

    @Test("a change of the calibrations that cannot be saved is refused, and has no effect")
    func unsaved() throws {
        struct FullDisk: Error {}
        let result = try Rig().guidedTurn().run().result
        let alignment = Alignment(device: "phone-1", result, position: .zero)
        let pages = LocalPages([alignment]) { _ in throw FullDisk() }
        pages.note(
            [
                PhonePerson(
                    id: "7", device: "phone-1", position: Vector3(0, 0, -3),
                    time: AerieClock.monotonic())
            ], device: "phone-1")
        let server = AerieServer(AerieOptions(listen: "127.0.0.1:0"), local: pages)
        try server.start()
        defer { server.stop() }
        let client = try WebClient(port: server.port)
        let deletion = try client.request("DELETE", "/alignment?device=phone-1")
        #expect(deletion.status == 500)
        #expect(deletion.text.contains("cannot be saved in aerie.directory: FullDisk"))
        #expect(pages.find("7")?.angles != nil)
        var other = alignment
        other.device = "phone-2"
        let text = String(decoding: try JSONEncoder().encode(other), as: UTF8.self)
        #expect(try client.request("POST", "/alignment", body: text).status == 500)
        // The calibration of the second phone was not stored in memory either.
        #expect(try client.request("DELETE", "/alignment?device=phone-2").status == 409)
    }

    @Test(
        "a client with the name of a phone, which is not admitted, does not remove the people of the phone"
    )
    func strangers() throws {
        let pages = LocalPages([]) { _ in }
        var options = AerieOptions(listen: "127.0.0.1:0")
        options.acceptsLegacyToken = true
        let server = AerieServer(options, local: pages)
        try server.start()
        defer { server.stop() }
        // The server ends a connection after many requests.
        func page(_ path: String) throws -> String {
            try WebClient(port: server.port).request("GET", path).text
        }
        func hasConnections(_ count: Int) -> Bool {
            wait {
                (try? page("/status"))?.contains(#""totalConnections":\#(count)"#) == true
            }
        }
        let phone = try HawkSight(port: server.port, device: "phone-1")
        try phone.authenticate()
        // The person was seen in the future, so that the person is not forgotten during the test.
        let person = PhonePerson(
            id: "7", device: "phone-1", position: Vector3(0, 0, -3),
            time: AerieClock.monotonic() + 60)
        pages.note([person], device: "phone-1")
        // A client that was not admitted has the phone's name.
        let stranger = try HawkSight(port: server.port, device: "phone-1")
        #expect(hasConnections(2))
        try stranger.socket.send(WebClient.frame(8, [3, 0xe8]))
        #expect(hasConnections(1))
        #expect(try page("/phones").contains(#""id":"7""#))
    }
}

/// Calibrations of the last save.
private final class Saved: Sendable {
    private let kept = Mutex<[Alignment]>([])
    var alignments: [Alignment] { kept.withLock { $0 } }
    func put(_ alignments: [Alignment]) { kept.withLock { $0 = alignments } }
}
