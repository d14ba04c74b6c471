import Configuration
import GimbalCore
import Port
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Limits of assistants in the daemon") struct AssistantLimitsTests {
    private let limits = AssistantLimits(Settings())

    private func degrees(_ value: Double) -> Double { Angle.degrees(value).radians }

    @Test(
        "a request for an angle gets the assistant's highest rate, and is refused beyond the permitted travel"
    )
    func point() throws {
        let snapshot = StabilizerSnapshot()
        func target(_ pitch: Double) -> AxisVector {
            AxisVector(yaw: .nan, roll: .nan, pitch: degrees(pitch))
        }
        let granted = try limits.limited(.point(target(80), duration: 0), from: snapshot)
        guard case .camera(.point(let point)) = granted.effect else {
            Issue.record("\(granted)")
            return
        }
        #expect(abs(point.rate - degrees(30)) < 1e-12)
        let far = AxisVector(yaw: degrees(170), roll: .nan, pitch: .nan)
        let refusal = #expect(throws: Refusal.self) {
            try limits.limited(.point(far, duration: 0), from: snapshot)
        }
        #expect(refusal?.field == "yaw")
        #expect(refusal?.message.contains("mcp.max_travel_deg") == true)
    }

    @Test("a turn in the longer direction, which a range requires, counts with its whole angle")
    func longerDirection() throws {
        var settings = Settings()
        settings.motion.rangeDeg.lower.yaw = -170
        settings.motion.rangeDeg.upper.yaw = 170
        settings.mcp.maxTravelDeg = 180
        var snapshot = StabilizerSnapshot()
        let angles = AxisVector(yaw: degrees(160), roll: 0, pitch: degrees(-70))
        snapshot.attitude = EulerZXY.quaternion(angles)
        snapshot.pointing.angles = angles
        for (target, travel) in [
            (AxisVector(yaw: degrees(-160), roll: .nan, pitch: .nan), "yaw is 320 degrees"),
            (AxisVector(yaw: .nan, roll: .nan, pitch: degrees(115)), "pitch is 185 degrees"),
        ] {
            let refusal = #expect(throws: Refusal.self) {
                try AssistantLimits(settings).limited(
                    .point(target, duration: 0), from: snapshot)
            }
            #expect(refusal?.message.contains(travel) == true, "\(refusal?.message ?? "")")
        }
        let near = AxisVector(yaw: degrees(50), roll: .nan, pitch: .nan)
        _ = try AssistantLimits(settings).limited(.point(near, duration: 0), from: snapshot)
    }

    @Test("rates and wheel speeds beyond the limits are refused")
    func rates() throws {
        let slow = AxisVector(yaw: degrees(30), roll: 0, pitch: degrees(-30))
        // Only the effects can be compared, because the request contains NaN for the axis that does
        // not turn.
        #expect(
            try limits.limited(.rate(slow), from: nil).effect == MotionRequest.rate(slow).effect)
        for request in [
            MotionRequest.rate(AxisVector(yaw: 0, roll: 0, pitch: degrees(-31))),
            .track(pan: degrees(31), tilt: .nan), .drive(left: 0, right: -0.31),
            .point(AxisVector(yaw: 0, roll: 0, pitch: 0), duration: 0, rate: degrees(31)),
        ] {
            #expect(throws: Refusal.self) { try limits.limited(request, from: nil) }
        }
        #expect(try limits.limited(.emergencyStop, from: nil) == .emergencyStop)
    }

    @Test(
        "an assistant's changes revert, and an assistant cannot save, reload, or change its own limits"
    )
    func settings() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            _ = try client.ask(
                #"{"id":1,"method":"client","params":{"name":"mcp x","assistant":true}}"#)
            let set = try client.ask(
                #"{"id":2,"method":"set","params":{"key":"tracking.max_rate_dps","value":40}}"#)
            let rollback = try #require(set["result"]?["rollback_s"]?.number)
            #expect(rollback > 50 && rollback <= 60)
            for line in [
                #"{"id":3,"method":"set","params":{"key":"mcp.max_rate_dps","value":360}}"#,
                #"{"id":3,"method":"set","params":{"key":"supervisor.recovery_s","value":0.1}}"#,
                #"{"id":3,"method":"save"}"#, #"{"id":3,"method":"reload"}"#,
                #"{"id":3,"method":"baseline","params":{"action":"delete","name":"x"}}"#,
                #"{"id":3,"method":"controls","params":{"action":"learn"}}"#,
                #"{"id":3,"method":"camera","params":{"action":"set","settings":["a=1"]}}"#,
                #"{"id":3,"method":"pair","params":{"action":"allow"}}"#,
            ] {
                let error = try client.ask(line)["error"]
                #expect(error?["code"] == "permission_denied", "\(line)")
                #expect(error?["message"]?.string?.contains("assistant") == true, "\(line)")
            }
        }
    }

    @Test("an assistant can lower a limit, but cannot raise it above the value of a person")
    func limitsOfMotion() throws {
        try withDaemon { daemon throws in
            #expect(try daemon.control("set", "motion.max_rate_dps", "[40, 40, 40]").status == 0)
            #expect(try daemon.control("baseline", "store", "quick").status == 0)
            #expect(try daemon.control("set", "motion.max_rate_dps", "[20, 20, 20]").status == 0)
            let client = try SocketClient(daemon.socket)
            _ = try client.ask(#"{"id":1,"method":"client","params":{"assistant":true}}"#)
            func set(_ key: String, _ value: String) throws -> JSONValue {
                try client.ask(
                    #"{"id":2,"method":"set","params":{"key":"\#(key)","value":\#(value)}}"#)
            }
            for (key, value) in [
                ("tracking.max_rate_dps", "46"), ("motion.max_rate_dps", "[20, 20, 21]"),
                ("motion.range_deg", "[[-1, 1], [-1, 1], [-1, 1]]"), ("motors.power", "1"),
                ("control.max_rate_dps", "2000"), ("motors.torque_limit_nm", "[20, 20, 20]"),
                ("motors.soft_start_s", "0"), ("retract.joints_deg", "[90, 0, 0]"),
                ("control.watch_oscillation", "false"), ("drive.balance.roll_deg", "20"),
                ("follow.preset", #""sport""#), ("commander.allow_airos", "false"),
            ] {
                let error = try set(key, value)["error"]
                #expect(error?["code"] == "permission_denied", "\(key) \(error?.text ?? "")")
                #expect(error?["message"]?.string?.contains(key) == true)
            }
            let refused = try set("tracking.max_rate_dps", "46")["error"]?["message"]?.string
            #expect(refused?.contains("above 45 deg/s") == true, "\(refused ?? "")")
            for value in ["10", "45"] {
                #expect(try set("tracking.max_rate_dps", value)["result"]?["assistant"] == "lower")
            }
            // The baseline has a higher rate than the person's present value.
            let restored = try client.ask(
                #"{"id":3,"method":"baseline","params":{"action":"restore","name":"quick"}}"#)
            let sentence = restored["result"]?["sentence"]?.string
            #expect(sentence?.contains("motion.max_rate_dps keeps its value") == true)
            let rate = try daemon.control("get", "motion.max_rate_dps").output
            #expect(rate.filter { $0 != " " } == "[20,20,20]\n", "\(rate)")
        }
    }

    /// Time until the temporary change of `tracking.max_rate_dps` reverts, s; nil without a change.
    private func rollback(_ daemon: RunningDaemon) throws -> Double? {
        try daemon.ask("diff").array?
            .first { $0["key"] == "tracking.max_rate_dps" }?["rollback_s"]?.number
    }

    @Test("a baseline neither ends an assistant's rollback nor changes an assistant's limits")
    func baselines() throws {
        try withDaemon { daemon throws in
            // A user stores a baseline with higher limits.
            #expect(try daemon.control("set", "mcp.max_rate_dps", "300").status == 0)
            #expect(try daemon.control("baseline", "store", "wide").status == 0)
            #expect(try daemon.control("set", "mcp.max_rate_dps", "30").status == 0)
            let client = try SocketClient(daemon.socket)
            _ = try client.ask(#"{"id":1,"method":"client","params":{"assistant":true}}"#)
            func ask(_ method: String, _ params: String) throws -> JSONValue {
                try client.ask(#"{"id":2,"method":"\#(method)","params":\#(params)}"#)
            }
            _ = try ask("set", #"{"key":"tracking.max_rate_dps","value":40,"rollback":20}"#)
            #expect(try ask("baseline", #"{"action":"store","name":"mine"}"#)["result"] != nil)
            let overwritten = try ask("baseline", #"{"action":"store","name":"wide"}"#)["error"]
            #expect(overwritten?["code"] == "permission_denied")
            for name in ["mine", "wide"] {
                let restored = try ask("baseline", #"{"action":"restore","name":"\#(name)"}"#)
                #expect(restored["result"] != nil, "\(restored.text)")
                if name == "mine" { #expect((try rollback(daemon) ?? 0) > 30) }
            }
            #expect(try daemon.control("get", "mcp.max_rate_dps").output == "30\n")
            let fast = try ask("point", #"{"pitch":5,"rate":90}"#)
            #expect(fast["error"]?["code"] == "out_of_range", "\(fast.text)")
        }
    }

    @Test(
        "an assistant cannot prolong a user's temporary change; a user's change replaces an assistant's temporary change"
    )
    func sharedRollback() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            _ = try client.ask(#"{"id":1,"method":"client","params":{"assistant":true}}"#)
            let set =
                #"{"id":2,"method":"set","params":{"key":"control.feed_forward","value":0.5}}"#
            func person(_ rate: String) throws -> Int32 {
                try daemon.control("set", "tracking.max_rate_dps", rate, "--rollback", "20s").status
            }
            #expect(try person("50") == 0)
            #expect(try client.ask(set)["error"]?["code"] == "refused")
            #expect(try daemon.control("save").status == 0)
            #expect(try client.ask(set)["result"] != nil)
            #expect(try person("60") == 0)
            let left = try #require(try rollback(daemon))
            #expect(left > 10 && left <= 20)
            // The user's change has reverted the assistant's change.
            #expect(try daemon.control("get", "control.feed_forward").output == "1\n")
        }
    }

    @Test("a user saves, exports and stores settings without an assistant's temporary change")
    func personsSave() throws {
        // In simulated time, a slow disk cannot revert the change early.
        try withLockstep { daemon throws in
            let simulator = try Simulator(daemon)
            try simulator.rest(1)
            func control(_ words: String...) throws -> String {
                let run = try Program.run(
                    [try Program.built("airframectl"), "--socket", daemon.socket] + words,
                    in: daemon.directory)
                #expect(run.status == 0, "\(words) \(run.errors)")
                return run.output
            }
            let client = try SocketClient(daemon.socket)
            _ = try client.ask(#"{"id":1,"method":"client","params":{"assistant":true}}"#)
            let set =
                #"{"id":2,"method":"set","params":{"key":"control.feed_forward","value":0.5,"rollback":2}}"#
            #expect(try client.ask(set)["result"] != nil)
            _ = try control("set", "control.max_rate_dps", "100")
            let exported = try control("export")
            #expect(exported.contains("control.max_rate_dps = 100"))
            #expect(!exported.contains("feed_forward"), "\(exported)")
            _ = try control("baseline", "store", "mine")
            #expect(try control("save").contains("save --assistant"))
            #expect(
                try control("get", "control.feed_forward") == "0.5\n", "the change is still active")
            try simulator.rest(2100)
            #expect(
                try control("get", "control.feed_forward") == "1\n", "the change has reverted")
            #expect(try control("diff").contains("control.max_rate_dps"))
            #expect(try daemon.ask("diff").array?.allSatisfy { $0["unsaved"] == false } == true)
            // The baseline contains the user's value, not the assistant's value.
            _ = try control("set", "control.feed_forward", "0.7")
            _ = try control("baseline", "restore", "mine")
            #expect(try control("get", "control.feed_forward") == "1\n")
            // The user can keep the change.
            #expect(try client.ask(set)["result"] != nil)
            #expect(try control("save", "--assistant").contains("no longer reverts"))
            #expect(try rollback(daemon) == nil)
            try simulator.rest(2100)
            #expect(try control("diff").contains("control.feed_forward"))
        }
    }

    @Test(
        "a user takes control from an assistant at once, but an assistant cannot take control from a user"
    )
    func rank() throws {
        try withDaemon { daemon throws in
            try daemon.status("the motors follow") { $0.isFollowing }
            let (assistant, person) = (
                try SocketClient(daemon.socket), try SocketClient(daemon.socket)
            )
            _ = try assistant.ask(#"{"id":1,"method":"client","params":{"assistant":true}}"#)
            let point = #"{"id":2,"method":"point","params":{"pitch":1}}"#
            #expect(try assistant.ask(point)["result"] != nil)
            #expect(try daemon.ask("status")["holder"]?.string?.hasPrefix("assistant") == true)
            #expect(try person.ask(point)["result"] != nil)
            #expect(try assistant.ask(point)["error"]?["code"] == "not_in_control")
            // Tasks that move the camera, or that need it at rest, also need control.
            for task in [
                #""autotune","params":{"action":"start","axis":"yaw"}"#,
                #""calibrate","params":{"action":"start","what":"gyro"}"#,
            ] {
                let answer = try assistant.ask(#"{"id":3,"method":\#(task)}"#)
                #expect(answer["error"]?["code"] == "not_in_control", "\(answer.text)")
            }
            let recentre = try assistant.ask(#"{"id":5,"method":"recentre"}"#)
            #expect(recentre["error"]?["code"] == "permission_denied", "\(recentre.text)")
            let undo = #"{"id":4,"method":"calibrate","params":{"action":"undo"}}"#
            let refusal = try assistant.ask(undo)["error"]?["message"]?.string ?? ""
            #expect(refusal.contains("a person can"), "\(refusal)")
        }
    }
}
