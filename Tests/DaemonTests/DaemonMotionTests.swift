import SystemPackage
import Testing
import Wire

@Suite("The camera, moved from the command line") struct DaemonMotionTests {
    @Test("goes soft and off when it is told to be inactive, and says why it does not move")
    func inactive() throws {
        try withDaemon { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            #expect(try daemon.control("mode", "inactive").status == 0)
            let status = try daemon.status("off") { $0["enabled"]?.bool == false }
            #expect(status["mode"]?.string == "inactive")
            #expect(status.inhibitions.contains("inactive_mode"))

            let refused = try daemon.control("point", "--pitch", "-30")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("airframectl mode locked"))
        }
    }

    @Test("moves one motor by hand only when the loop does not, and says how")
    func motorTest() throws {
        try withDaemon(["--set", "motors.type=servo"]) { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            let refused = try daemon.control("motor", "test", "yaw", "--yes")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("airframectl mode inactive"))
            #expect(try daemon.control("mode", "inactive").status == 0)
            try daemon.status("off") { $0["enabled"]?.bool == false }
            let moved = try daemon.control("motor", "test", "yaw", "--yes", "--duration", "0.5")
            #expect(moved.status == 0, "\(moved.errors)")
            try daemon.status("off again") { $0["enabled"]?.bool == false }
        }
    }

    @Test(
        "moves a robot's motor within its limits, and looks for home only where there is a switch")
    func step() throws {
        let settings = ["robot.motors=simulated", "robot.y.maximum=50"]
        try withDaemon(settings.flatMap { ["--set", $0] }) { daemon throws in
            #expect(try daemon.control("step", "x", "--to", "-20").status == 0)
            #expect(try daemon.control("step", "y", "--to", "4000").status == 0)
            try daemon.status("there, or at the limit") { status in
                let motors = status["robot"]?["motors"]?.array ?? []
                return motors.compactMap { $0["position_steps"]?.int } == [0, -20, 50]
                    && motors.allSatisfy { $0["homing"]?.string == "none" }
            }
            let refused = try daemon.control("step", "slider", "--home")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("robot.home_line"))
        }
    }

    @Test("says which lines are missing when a robot's motors are asked for")
    func missingLines() throws {
        let settings = ["robot.motors=gpio", "robot.gpio_chip=/dev/there-is-none"]
        try withDaemon(settings.flatMap { ["--set", $0] }) { daemon throws in
            try daemon.status("tried") { $0["robot"]?["problem"]?.string != nil }
            let refused = try daemon.control("step", "x", "--to", "5")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("No such file or directory; check robot.gpio_chip"))
            #expect(try daemon.control("step", "x").status == 0, "to stand is no motion")
        }
    }

    @Test("turns to where it is pointed; negative angles are numbers, not options")
    func point() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let status = try arrival(of: daemon, pitch: -30, yaw: -20)
            #expect(abs(status.number("attitude", "roll_deg")) < 0.5)
            // The handle is still and upright: the innermost joint has made the whole way.
            #expect(abs(status.number("joints", "angle_deg", "pitch") + 30) < 1)
        }
    }

    /// Points the camera and waits until it looks there. Asks again when a test machine has held
    /// the daemon up for so long that its motors went off and came back: it starts level then.
    private func arrival(of daemon: RunningDaemon, pitch: Int, yaw: Int) throws -> JSONValue {
        for _ in 0..<5 {
            let answer = try daemon.control("point", "--pitch", "\(pitch)", "--yaw=\(yaw)")
            #expect(answer.status == 0, "\(answer.errors)")
            let status = try? daemon.status(within: 3, "there") { status in
                abs(status.number("attitude", "pitch_deg") - Double(pitch)) < 0.1
                    && abs(status.number("attitude", "yaw_deg") - Double(yaw)) < 0.1
            }
            if let status { return status }
        }
        throw Trouble("never at pitch \(pitch) and yaw \(yaw): \(try daemon.ask("status").text)")
    }

    @Test("turns right at a positive yaw rate while the command goes on, then stands")
    func rate() throws {
        try withDaemon { daemon throws in
            let start = try daemon.status("following") { $0.isFollowing }
                .number("setpoint_deg", "yaw")
            let answer = try daemon.control("rate", "--yaw", "20", "--duration", "0.5")
            #expect(answer.status == 0, "\(answer.errors)")
            let status = try daemon.status("standing still again") {
                abs($0.number("rate_dps", "yaw")) < 0.5
            }
            // Half a second at 20 degrees per second, less the way to and from that rate.
            let turned = status.number("setpoint_deg", "yaw") - start
            #expect((5...20).contains(turned), "\(turned)")
            #expect(abs(status.number("attitude", "yaw_deg") - start - turned) < 0.5)
            #expect(status["holder"]?.string == nil, "the connection is gone, and control with it")
        }
    }

    @Test("stops for good in an emergency, until somebody resets it and asks for a mode")
    func emergencyStop() throws {
        try withDaemon { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            #expect(try daemon.control("stop").status == 0)
            let stopped = try daemon.status("off") { $0["enabled"]?.bool == false }
            #expect(stopped.inhibitions.first == "emergency_stop")
            // A reload changes nothing about it.
            #expect(try daemon.control("reload").status == 0)

            let refused = try daemon.control("mode", "locked")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("stop --reset"))

            #expect(try daemon.control("stop", "--reset").status == 0)
            let reset = try daemon.status("reset") { !$0.inhibitions.contains("emergency_stop") }
            #expect(reset["enabled"]?.bool == false)
            #expect(reset.inhibitions == ["inactive_mode"])
            #expect(try daemon.control("mode", "locked").status == 0)
            try daemon.status("enabled again") { $0["enabled"]?.bool == true }
        }
    }

    @Test("stops in an emergency although another client floods it with rates")
    func stopInAFlood() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let flooder = try SocketClient(daemon.socket)
            let line = #"{"id":1,"method":"rate","params":{"yaw":5}}"# + "\n"
            try flooder.send(Array(String(repeating: line, count: 1000).utf8))
            let answer = try daemon.ask("stop")
            #expect(
                answer["sentence"]?.string?.hasPrefix("Emergency stop:") == true, "\(answer.text)")
            let status = try daemon.status("off") { $0["enabled"]?.bool == false }
            #expect(status.inhibitions.first == "emergency_stop")
        }
    }

    @Test("refuses what makes no sense, each time with a sentence and without moving")
    func refusals() throws {
        try withDaemon { daemon throws in
            try daemon.status("level") {
                $0.isFollowing && abs($0.number("setpoint_deg", "pitch")) < 0.01
            }
            #expect(try daemon.control("mode", "sideways").errors.contains("locked"))
            #expect(try daemon.control("mode", "sideways").status == 1)
            #expect(try daemon.control("point", "--pitch", "1e9").status == 1)
            #expect(try daemon.control("point").status == 64)
            #expect(try daemon.control("point", "--pitch", "up").status == 64)
            let status = try daemon.status("still there")
            #expect(abs(status.number("setpoint_deg", "pitch")) < 0.1)
        }
    }
}
