import TestSupport
import Testing
import Wire

@Suite("Modes of the gimbal over the socket") struct DaemonModeTests {
    /// Sends a request, and returns the whole reply.
    private func reply(_ daemon: RunningDaemon, _ method: String, _ params: String) throws
        -> JSONValue
    {
        try SocketClient(daemon.socket).ask(
            #"{"id":1,"method":"\#(method)","params":\#(params)}"#)
    }

    private func refusal(_ daemon: RunningDaemon, _ method: String, _ params: String) throws
        -> String
    {
        let reply = try reply(daemon, method, params)
        return reply["error"]?["message"]?.string ?? "accepted: \(reply.text)"
    }

    @Test("the mode pan_follow follows the handle, and replies contain the axis that it controls")
    func panFollow() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let answer = try daemon.control("mode", "pan_follow")
            #expect(answer.status == 0, "\(answer.errors)")
            #expect(answer.output.contains("yaw follows the handle"))
            try daemon.status("pan_follow") { $0["mode"]?.string == "pan_follow" }
            // The mode controls yaw, so the request changes only the other axes, and the reply says
            // this.
            let point = try daemon.ask("point", #"{"yaw":0,"roll":0,"pitch":-30,"duration":2}"#)
            #expect(point["sentence"]?.string?.contains("pan_follow controls yaw") == true)
            #expect(point["limited_by"]?.array?.first?.string == "mode")
            #expect(
                try refusal(daemon, "rate", #"{"yaw":10}"#).contains("mode pan_follow controls"))
        }
    }

    @Test("a mode that needs joint angles is refused without encoders, even as the boot mode")
    func missingSensor() throws {
        let arguments = [
            "--set", "hardware.simulation.encoders=false", "--set", "mode.boot=\"fpv\"",
        ]
        try withDaemon(arguments) { daemon throws in
            let status = try daemon.status("running") { $0["state"]?.string == "running" }
            #expect(status["mode"]?.string == "locked")
            #expect(
                status["notices"]?.array?.contains {
                    $0["name"]?.string == "boot_mode_unavailable"
                } == true)
            let answer = try daemon.control("mode", "pan_follow")
            #expect(answer.status == 1)
            #expect(answer.errors.contains("mode pan_follow follows the handle"))
            #expect(answer.errors.contains("encoders"))
            #expect(try daemon.ask("status")["mode"]?.string == "locked")
        }
    }

    @Test("one second without a rate changes the mode from tracking to locked")
    func tracking() throws {
        try withDaemon { daemon throws in
            try daemon.status("following") { $0.isFollowing }
            #expect(
                try refusal(daemon, "track", #"{"pan":10,"tilt":0}"#)
                    .contains("airframectl mode tracking"))
            let client = try SocketClient(daemon.socket)
            _ = try client.ask(#"{"id":1,"method":"mode","params":{"mode":"tracking"}}"#)
            let turn = try client.ask(#"{"id":2,"method":"track","params":{"pan":20,"tilt":10}}"#)
            #expect(turn["error"] == nil, "\(turn.text)")
            let moving = try daemon.status("tracking") { $0["mode"]?.string == "tracking" }
            #expect(moving.number("pointing", "tracking_remaining_s") > 0)
            let status = try daemon.status("locked") { $0["mode"]?.string == "locked" }
            #expect(status.number("setpoint_deg", "yaw") > 5)
            #expect(status.number("setpoint_deg", "pitch") < -2)
            // The mode locked accepts a request that tracking would refuse.
            let point = try client.ask(#"{"id":3,"method":"point","params":{"pitch":0}}"#)
            #expect(point["error"] == nil, "\(point.text)")
        }
    }

    @Test("the reply to point names the joint whose range ends before the requested angle")
    func jointEnds() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let reachable = try daemon.ask("point", #"{"roll":20,"yaw":30}"#)
            #expect(reachable["limited_by"] == nil, "\(reachable.text)")
            let steep = try daemon.ask("point", #"{"roll":60,"yaw":0}"#)
            #expect(steep["limited_by"]?.array?.map(\.string) == ["joints"], "\(steep.text)")
            #expect(
                steep["sentence"]?.string?.contains("these joint angles: roll 45°.") == true,
                "\(steep.text)")
        }
    }

    @Test("the reply to point contains the duration, the limiting factor and the limited target")
    func pointAnswers() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let slow = try daemon.ask("point", #"{"pitch":-30,"rate":10}"#)
            // Time at 10 °/s, including the acceleration and the deceleration.
            #expect(abs(slow.number("duration_s") - 3.05) < 0.06, "\(slow.text)")
            #expect(slow["limited_by"] == nil)
            let hasty = try daemon.ask("point", #"{"yaw":120,"duration":0.1}"#)
            #expect(hasty["limited_by"]?.array?.first?.string == "rate")
            #expect(hasty["sentence"]?.string?.contains("motion.max_rate_dps") == true)
            let far = try daemon.ask("point", #"{"pitch":-150}"#)
            #expect(far["limited_by"]?.array?.first?.string == "range")
            #expect(far["sentence"]?.string?.contains("pitch -120°") == true)
            #expect(
                try refusal(daemon, "point", #"{"pitch":0,"rate":10,"duration":2}"#)
                    .contains("not both"))
            #expect(try daemon.control("point", "--pitch", "0", "--rate", "-5").status == 1)
            let both = try daemon.control("point", "--pitch=0", "--rate=5", "--duration=1")
            #expect(both.status == 64)
        }
    }

    @Test("the reply to rate names the limit that makes the turn slower than requested")
    func rateAnswers() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            #expect(
                try daemon.control("set", "motion.max_acceleration_dps2", "[30, 30, 30]").status
                    == 0)
            // From 20 °/s, the camera can stop within commander.dead_man_s = 1 s.
            let slow = try daemon.ask("rate", #"{"yaw":19}"#)
            #expect(slow["sentence"] != nil && slow["limited_by"] == nil, "\(slow.text)")
            let fast = try daemon.ask("rate", #"{"yaw":21}"#)
            #expect(
                fast["limited_by"]?.array?.map(\.string) == ["acceleration"], "\(fast.text)")
            #expect(fast["sentence"]?.string?.contains("commander.dead_man_s = 1 s") == true)
            let hasty = try daemon.ask("rate", #"{"pitch":-500}"#)
            #expect(
                hasty["limited_by"]?.array?.map(\.string) == ["rate", "acceleration"],
                "\(hasty.text)")
        }
    }

    @Test("a mistyped mode is refused with a suggestion, and the help lists all modes")
    func names() throws {
        try withDaemon { daemon throws in
            let answer = try daemon.control("mode", "pan-folow")
            #expect(answer.status == 1)
            #expect(answer.errors.contains("pan_follow"))
            let help = try daemon.control("mode", "--help")
            for name in [
                "inactive", "locked", "pan_follow", "fpv", "tracking", "neutral", "retract",
            ] {
                #expect(help.output.contains(name))
            }
        }
    }

    @Test("tracking is refused as the boot mode, with the reason")
    func bootIntoTracking() throws {
        let program = try Program.built("airframed")
        try withTemporaryDirectory { directory in
            let result = try Program.run(
                [program, "--set", "mode.boot=tracking", "--check-config"], in: directory)
            #expect(result.status == 78)
            #expect((result.errors + result.output).contains("because no app sends rates"))
        }
    }
}
