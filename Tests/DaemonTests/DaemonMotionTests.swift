import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("Motion commands of airframectl") struct DaemonMotionTests {
    @Test("the mode inactive turns the outputs off, and refused requests contain the remedy")
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

    @Test(
        "motor test is refused while the loop controls the motors, and works in the mode inactive"
    )
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
            #expect(moved.output.contains("must have turned right first"), "\(moved.output)")
            try daemon.status("off again") { $0["enabled"]?.bool == false }
        }
    }

    @Test(
        "step moves a robot's motor only within its limits, and refuses homing without a home switch"
    )
    func step() throws {
        let settings = ["robot.motors=simulated", "robot.y.maximum=50"]
        try withDaemon(settings.flatMap { ["--set", $0] }) { daemon throws in
            #expect(try daemon.control("step", "x", "--to", "-20").status == 0)
            #expect(try daemon.control("step", "y", "--to", "4000").status == 0)
            try daemon.status("the camera is at the requested angle, or at the limit") { status in
                let motors = status["robot"]?["motors"]?.array ?? []
                return motors.compactMap { $0["position_steps"]?.int } == [0, -20, 50]
                    && motors.allSatisfy { $0["homing"]?.string == "none" }
            }
            let refused = try daemon.control("step", "slider", "--home")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("robot.home_line"))
        }
    }

    @Test("step reports missing GPIO lines of a robot's motors")
    func missingLines() throws {
        let settings = ["robot.motors=gpio", "robot.gpio_chip=/dev/there-is-none"]
        try withDaemon(settings.flatMap { ["--set", $0] }) { daemon throws in
            try daemon.status("tried") { $0["robot"]?["problem"]?.string != nil }
            let refused = try daemon.control("step", "x", "--to", "5")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("No such file or directory; check robot.gpio_chip"))
            #expect(try daemon.control("step", "x").status == 0, "a rate of zero is not a motion")
        }
    }

    @Test("point turns the camera to the given angles, and accepts negative angles")
    func point() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let status = try arrival(of: daemon, pitch: -30, yaw: -20)
            #expect(abs(status.number("attitude", "roll_deg")) < 0.5)
            // The handle is still and upright, so the pitch joint has turned by the whole angle.
            #expect(abs(status.number("joints", "angle_deg", "pitch") + 30) < 1)
        }
    }

    /// Points the camera, and waits until it reaches the direction. Repeats the request, because a
    /// slow test machine can delay the daemon until its motors turn off, and the camera then starts
    /// level.
    @Test("recentre levels the camera, and turns it to the direction of the handle")
    func recentre() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let away = try arrival(of: daemon, pitch: -10, yaw: 15)
            #expect(away.number("joints", "angle_deg", "yaw") > 10)
            let answer = try daemon.control("recentre")
            #expect(answer.status == 0 && answer.output.contains("direction of the handle"))
            try daemon.status("recentred") { status in
                abs(status.number("joints", "angle_deg", "yaw")) < 1
                    && abs(status.number("attitude", "pitch_deg")) < 1
            }
            #expect(try daemon.control("mode", "fpv").status == 0)
            let refused = try daemon.control("recentre")
            #expect(refused.status == 1 && refused.errors.contains("fpv"), "\(refused.errors)")
        }
    }

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

    @Test(
        "a positive yaw rate turns the camera to the right until the command ends, by default after the dead-man time",
        arguments: [["--duration", "0.5"], []])
    func rate(duration: [String]) throws {
        try withDaemon(["--set", "commander.dead_man_s=0.5"]) { daemon throws in
            // A pause shortens a turn.
            let (turned, error) = try repeatingAfterPause(
                until: { (5...20).contains($0.turned) && abs($0.error) < 0.5 }
            ) { () throws -> (turned: Double, error: Double) in
                let start = try daemon.status("following") { $0.isFollowing }
                    .number("setpoint_deg", "yaw")
                let answer = try daemon.control(["rate", "--yaw", "20"] + duration)
                #expect(answer.status == 0, "\(answer.errors)")
                let status = try daemon.status("the camera is at rest again") {
                    abs($0.number("rate_dps", "yaw")) < 0.5
                }
                #expect(status["holder"]?.string == nil, "control ends with the connection")
                let turned = status.number("setpoint_deg", "yaw") - start
                return (turned, status.number("attitude", "yaw_deg") - start - turned)
            }
            // Half a second at 20 °/s, minus the acceleration and the deceleration.
            #expect((5...20).contains(turned), "\(turned)")
            #expect(abs(error) < 0.5)
        }
    }

    @Test("Ctrl-C stops a turn, and ends the command with exit code 130")
    func interruptedRate() throws {
        try withDaemon { daemon throws in
            try daemon.status("following") { $0.isFollowing }
            let turn = try start(["rate", "--yaw", "20", "--duration", "60"], daemon)
            try daemon.status("the camera turns") { $0.number("rate_dps", "yaw") > 10 }
            kill(turn.processID, SIGINT)
            #expect(try turn.wait() == 130, "\(turn.errors)")
            try daemon.status("the camera is at rest again") {
                abs($0.number("rate_dps", "yaw")) < 0.5
            }
        }
    }

    @Test("Ctrl-C ends `controls learn` with exit code 130, and the controls have an effect again")
    func interruptedLearning() throws {
        try withDaemon { daemon throws in
            let learning = try start(["controls", "learn", "recentre"], daemon)
            var attempts = 0
            while try daemon.ask("controls")["learning"] != true, attempts < 200 {
                _ = learning.hasEnded(within: 0.05)
                attempts += 1
            }
            kill(learning.processID, SIGINT)
            #expect(try learning.wait() == 130, "\(learning.errors)")
            #expect(try daemon.ask("controls")["learning"] == false)
        }
    }

    @Test("take ends with a message and exit code 1 when another client moves the camera")
    func lostControl() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let take = try start(["take"], daemon)
            try daemon.status("in control") { $0["holder"]?.string != nil }
            #expect(try daemon.control("point", "--pitch", "5").status == 0)
            #expect(try take.wait() == 1)
            #expect(take.output.contains("You are in control."), "\(take.output)")
            #expect(take.errors.contains("You have lost control."), "\(take.errors)")
        }
    }

    @Test("rate ends with a message and exit code 1 when another client moves the camera")
    func lostTurn() throws {
        try withDaemon { daemon throws in
            try daemon.status("following") { $0.isFollowing }
            let turn = try start(["rate", "--yaw", "5", "--duration", "60"], daemon)
            try daemon.status("the camera turns") { $0.number("rate_dps", "yaw") > 3 }
            // A request between the last check and the next rate is lost, so it is repeated.
            for _ in 0..<3 where turn.exitStatus == nil {
                #expect(try daemon.control("point", "--pitch", "5", "--yaw", "0").status == 0)
                _ = turn.hasEnded(within: 2)
            }
            #expect(turn.exitStatus == 1)
            #expect(turn.errors.contains("You have lost control."), "\(turn.errors)")
            try daemon.status("the request of the other client is complete") { status in
                abs(status.number("attitude", "pitch_deg") - 5) < 0.5
                    && abs(status.number("attitude", "yaw_deg")) < 0.5
            }
        }
    }

    @Test(
        "take keeps control while no other client moves the camera, also with a short release time",
        arguments: ["5", "0.9"])
    func keptControl(release: String) throws {
        let settings = ["commander.dead_man_s=0.5", "commander.release_after_s=\(release)"]
        try withDaemon(settings.flatMap { ["--set", $0] }) { daemon throws in
            // A pause can be longer than the release time.
            #expect(try repeatingAfterPause(until: { $0 }) { try keepsControl(daemon) })
        }
    }

    /// True if `take` keeps control for 2 s, and releases control at Ctrl-C.
    private func keepsControl(_ daemon: RunningDaemon) throws -> Bool {
        let take = try start(["take"], daemon)
        try daemon.status("in control") { $0["holder"]?.string != nil }
        let hasEnded = take.hasEnded(within: 2)
        let isHeld = try daemon.ask("status")["holder"]?.string != nil
        if !hasEnded { kill(take.processID, SIGINT) }
        let status = try take.wait()
        if status != 0 { print("The command take ended with \(status): \(take.errors)") }
        return !hasEnded && isHeld && status == 0
    }

    @Test("SIGTERM stops a motor test, and ends the command with exit code 143")
    func interruptedMotorTest() throws {
        try withDaemon(["--set", "motors.type=servo", "--set", "mode.boot=inactive"]) {
            daemon throws in
            try daemon.status("samples") { $0.number("imu", "samples") > 0 }
            let test = try start(["motor", "test", "yaw", "--yes", "--duration", "60"], daemon)
            try daemon.status("the motor moves") { $0["enabled"]?.bool == true }
            kill(test.processID, SIGTERM)
            #expect(try test.wait() == 143, "\(test.errors)")
            try daemon.status("off again") { $0["enabled"]?.bool == false }
        }
    }

    /// Starts airframectl with the socket of a daemon.
    private func start(_ arguments: [String], _ daemon: RunningDaemon) throws -> Program {
        try Program(
            [try Program.built("airframectl"), "--socket", daemon.socket] + arguments,
            in: daemon.directory)
    }

    @Test("the answer to release states whether the client was in control")
    func release() throws {
        try withDaemon { daemon throws in
            let idle = try daemon.control("release")
            #expect(idle.output == "You were not in control; nothing has changed.\n")
            let client = try SocketClient(daemon.socket)
            #expect(try client.ask(#"{"id":1,"method":"take"}"#)["error"] == nil)
            let reply = try client.ask(#"{"id":2,"method":"release"}"#)
            #expect(reply["result"]?["sentence"] == "You have released control.")
        }
    }

    @Test("an emergency stop lasts until a user resets it and selects a mode")
    func emergencyStop() throws {
        try withDaemon { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            #expect(try daemon.control("stop").status == 0)
            let stopped = try daemon.status("off") { $0["enabled"]?.bool == false }
            #expect(stopped.inhibitions.first == "emergency_stop")
            // A reload does not reset the stop.
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

    @Test("an emergency stop works while another client floods the daemon with rates")
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

    @Test("invalid requests are refused with a message, and do not move the camera")
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
