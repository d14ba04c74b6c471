import Glibc
import Testing
import Wire

@testable import Daemon

@Suite("Following a person with a companion program")
struct FollowingTests {
    private let report =
        #"{"id":1,"method":"companion","params":{"name":"eyes","following":{"active":false,"people":1,"box":[0.4,0.2,0.6,0.9]}}}"#

    /// Setting of tests that aim for some time. A pause of the machine must not end the tracking.
    private static let patience = ["--set", "tracking.timeout_s=10"]

    private func aim(_ companion: SocketClient, _ yaw: Double, rate: Double = 0) throws -> JSONValue
    {
        let t = try #require(try companion.ask(#"{"id":8,"method":"ping"}"#)["t"]?.number)
        return try companion.ask(
            #"{"id":9,"method":"aim","params":{"yaw":\#(yaw),"pitch":-5,"yaw_rate":\#(rate),"t":\#(t - 0.1)}}"#
        )
    }

    @Test(
        "a choice with airframectl track changes the mode and reaches the companion, and the companion's aim turns the camera"
    )
    func choice() throws {
        try withDaemon(Self.patience) { daemon throws in
            try daemon.status("the motors are on") { $0["enabled"]?.bool == true }
            let companion = try SocketClient(daemon.socket)
            #expect(try companion.ask(self.report)["result"]?["choice"] ?? .null == .null)
            let done = try daemon.control("track", "on")
            #expect(done.status == 0, "\(done)")
            try daemon.status("the mode is tracking") { $0["mode"]?.string == "tracking" }
            let choice = try #require(try companion.ask(self.report)["result"]?["choice"])
            #expect(choice["action"]?.string == "on" && choice["number"]?.int == 1)
            for _ in 0..<30 {
                #expect(try self.aim(companion, 20)["error"] == nil)
                usleep(100_000)
            }
            let status = try daemon.ask("status")
            #expect(abs(try #require(status["attitude"]?["yaw_deg"]?.number) - 20) < 2)
            #expect(abs(try #require(status["attitude"]?["pitch_deg"]?.number) + 5) < 2)
            // A companion repeats its report, without which it counts as hung.
            _ = try companion.ask(self.report)
            // The command selects a person that a phone detects.
            #expect(try daemon.control("track", "person", "7").status == 0)
            let remote = try #require(try companion.ask(self.report)["result"]?["choice"])
            #expect(remote["action"]?.string == "person" && remote["person"]?.string == "7")
            #expect(try daemon.control("track", "person").status != 0)
            #expect(try daemon.control("track", "on", "7").status != 0)
            // Another client moves the camera, so the companion's aim is refused.
            #expect(try daemon.control("mode", "locked").status == 0)
            #expect(try self.aim(companion, 30)["error"]?["code"]?.string == "refused")
            // The choice off is also sent to the companion.
            #expect(try daemon.control("track", "off").status == 0)
            #expect(
                try companion.ask(self.report)["result"]?["choice"]?["action"]?.string == "off")
        }
    }

    @Test("a direction that the companion sends after the choice off does not turn the camera")
    func lateAim() throws {
        try withDaemon { daemon throws in
            try daemon.status("the motors are on") { $0["enabled"]?.bool == true }
            let (companion, user) = (
                try SocketClient(daemon.socket), try SocketClient(daemon.socket)
            )
            for round in 0..<5 {
                _ = try companion.ask(self.report)
                _ = try user.ask(#"{"id":2,"method":"follow","params":{"action":"on"}}"#)
                #expect(try self.aim(companion, 5)["error"] == nil, "\(round)")
                _ = try user.ask(#"{"id":3,"method":"follow","params":{"action":"off"}}"#)
                #expect(try self.aim(companion, 5)["error"]?["code"]?.string == "refused")
                try daemon.status("no program is in control") {
                    $0["mode"]?.string == "locked" && $0["holder"] ?? .null == .null
                }
            }
        }
    }

    @Test("following is refused without a companion that detects people, and in the mode inactive")
    func refused() throws {
        try withDaemon { daemon throws in
            try daemon.status("the motors are on") { $0["enabled"]?.bool == true }
            let alone = try daemon.control("track", "on")
            #expect(alone.status != 0 && alone.errors.contains("airframe-eyes"), "\(alone)")
            let companion = try SocketClient(daemon.socket)
            _ = try companion.ask(self.report)
            _ = try daemon.control("mode", "inactive")
            let off = try daemon.control("track", "next")
            #expect(off.status != 0 && off.errors.contains("inactive"), "\(off)")
            let place = try daemon.control("track", "--x", "2", "--y", "0.5")
            #expect(place.status != 0)
            #expect(
                try companion.ask(
                    #"{"id":4,"method":"companion","params":{"name":"eyes","following":{"active":1}}}"#
                )["error"]?["field"]?.string == "following")
        }
    }

    @Test("the answer of track on names a problem that the companion has reported")
    func problem() throws {
        try withDaemon { daemon throws in
            try daemon.status("the motors are on") { $0["enabled"]?.bool == true }
            let companion = try SocketClient(daemon.socket)
            let broken =
                #"{"id":1,"method":"companion","params":{"name":"people","level":"warn","finding":"A model is missing.","remedy":"Run make deps-eyes.","following":{"active":false,"people":0}}}"#
            #expect(try companion.ask(broken)["error"] == nil)
            let answer = try daemon.control("track", "on")
            #expect(answer.status == 0, "\(answer)")
            #expect(
                answer.output.contains("A model is missing. Run make deps-eyes."),
                "\(answer.output)")
            // A phone detects this person, so the models are not needed.
            let remote = try daemon.control("track", "person", "7")
            #expect(!remote.output.contains("A model is missing."), "\(remote.output)")
        }
    }

    @Test("the camera stops when the companion disconnects")
    func death() throws {
        try withDaemon(Self.patience) { daemon throws in
            try daemon.status("the motors are on") { $0["enabled"]?.bool == true }
            do {
                let companion = try SocketClient(daemon.socket)
                _ = try companion.ask(self.report)
                _ = try daemon.control("track", "on")
                for step in 0..<5 {
                    #expect(try self.aim(companion, Double(step), rate: 10)["error"] == nil)
                    usleep(100_000)
                }
            }
            try daemon.status("the camera is held") {
                $0["mode"]?.string == "locked" && $0["holder"] ?? .null == .null
            }
        }
    }

    @Test("the attitude is available for the last second, but not for other times")
    func attitude() throws {
        try withDaemon { daemon throws in
            try daemon.status("the motors are on") { $0["enabled"]?.bool == true }
            let client = try SocketClient(daemon.socket)
            let t = try #require(try client.ask(#"{"id":1,"method":"ping"}"#)["t"]?.number)
            func ask(_ t: Double) throws -> JSONValue {
                try client.ask(#"{"id":2,"method":"attitude","params":{"t":\#(t)}}"#)
            }
            let q = try #require(try ask(t - 0.2)["result"]?["attitude"]?.array?.map(\.number))
            #expect(q.count == 4)
            let norm = q.compactMap { $0 }.map { $0 * $0 }.reduce(0, +)
            #expect(abs(norm - 1) < 1e-6)
            #expect(try ask(t - 5)["error"]?["code"]?.string != nil)
            #expect(try ask(t + 5)["error"]?["code"]?.string != nil)
        }
    }
}
