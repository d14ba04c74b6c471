import TestSupport
import Testing
import Wire

@Suite("Lines of the lockstep protocol") struct LockstepLineTests {
    @Test(
        "the daemon waits for the simulator, and answers every line once, in order, in any fragmentation"
    )
    func oneReplyEach() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            #expect(!simulator.socket.hasNews(within: 0.1))
            let long = String(repeating: "x", count: 70_000)
            let codes: [(line: String, code: String?)] = [
                ("", "invalid_json"), (simulator.line(), nil), ("{}", "missing"),
                (long, "line_too_long"), (simulator.line() + "\r", nil), ("\u{1}", "invalid_json"),
                ("[" + simulator.line() + "]", "invalid_json"),
            ]
            let text = codes.map { $0.line + "\n" }.joined()
            try simulator.socket.send(Array(text.utf8))
            for expected in codes {
                #expect(try simulator.socket.reply().errorCode == expected.code)
            }
            for byte in (simulator.line() + "\n").utf8 { try simulator.socket.send([byte]) }
            #expect(try simulator.socket.reply()["t"]?.number == 0.003)
            #expect(!simulator.socket.hasNews(within: 0.05))
        }
    }

    @Test(
        "a reply contains t, torque, attitude and the boot mode; the heading starts at zero")
    func reply() throws {
        try withLockstep(["--set", "mode.boot=inactive"]) { daemon in
            let simulator = try Simulator(daemon)
            let reply = try simulator.ask(
                #"{"t":1763740000.125,"gyro":[0,0,0],"accel":[9.81,0,0],"unknown":{"t":[null]}}"#)
            #expect(reply["t"]?.number == 1_763_740_000.125)
            #expect(reply["enabled"]?.bool == false)
            #expect(reply.torque == [0, 0, 0])
            #expect(reply["mode"]?.string == "inactive")
            // With the camera pointing straight up and heading zero, the attitude is a rotation by
            // 90° about y.
            let attitude = reply["attitude"]?.array?.compactMap(\.number) ?? []
            let half = 0.5.squareRoot()
            for (value, expected) in zip(attitude, [half, 0, half, 0]) {
                #expect(abs(value - expected) < 1e-9)
            }
            #expect(attitude.count == 4)
        }
    }

    @Test(
        "an invalid line gets an error without outputs, causes no tick, and does not affect the next line"
    )
    func badLines() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.rest(3)
            let bad = [
                #"{"t":0.003,"gyro":[0,0,null],"accel":[0,0,-9.81]}"#,
                #"{"t":0.003,"gyro":[0,0,1e999],"accel":[0,0,-9.81]}"#,
                #"{"t":0.003,"gyro":[0,0],"accel":[0,0,-9.81]}"#,
                #"{"t":0.002,"gyro":[0,0,0],"accel":[0,0,-9.81]}"#,
                #"{"t":-1,"gyro":[0,0,0],"accel":[0,0,-9.81]}"#,
            ]
            for line in bad {
                let reply = try simulator.ask(line)
                #expect(reply.errorCode != nil && reply["torque"] == nil && reply["t"] == nil)
                #expect(reply["error"]?["field"]?.string?.isEmpty == false)
            }
            let status = try daemon.ask("status")
            #expect(status.number("lockstep", "lines") == 3)
            #expect(status.number("lockstep", "errors") == 5)
            #expect(status.number("loop", "ticks") == 3)
            #expect(try simulator.ask(simulator.line())["t"]?.number == 0.003)
        }
    }

    @Test(
        "a step below 20 ms is accepted; a gap of 1 s is reported, and the estimate recovers"
    )
    func gaps() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.restUntilEnabled()
            for _ in 0..<20 {
                simulator.t += 0.019
                try simulator.rest(1)
            }
            #expect(try daemon.ask("status").inhibitions == [])
            simulator.t += 1
            let reply = try simulator.ask(simulator.line())
            #expect(reply.errorCode == nil)
            let status = try daemon.ask("status")
            #expect(status.inhibitions.contains("imu_time_fault"))
            #expect(status.number("faults", "rejected_samples", "imu_gap") == 1)
            let attitude = try simulator.rest(1200).last?["attitude"]?.array?.compactMap(\.number)
            #expect(abs(attitude?.first ?? 0) > 0.9999)
            #expect(try daemon.ask("status")["enabled"]?.bool == true)
        }
    }

    @Test("implausible values are reported, and the tick is executed")
    func implausible() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.restUntilEnabled()
            let reply = try simulator.ask(
                #"{"t":\#(simulator.t),"gyro":[1e308,0,0],"accel":[0,0,-9.81],"joints":[1e308,0,0]}"#
            )
            #expect(reply["t"]?.number == simulator.t)
            #expect(reply.torque.count == 3)
            #expect(try daemon.ask("status").inhibitions.contains("imu_implausible"))
            simulator.t += 1e-3
            try simulator.rest(1200)
            #expect(try daemon.ask("status")["enabled"]?.bool == true)
        }
    }

    @Test("identical samples from a simulator without noise do not keep the motors off")
    func withoutNoise() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            var reply = JSONValue.null
            for k in 0..<2000 {
                reply = try simulator.ask(
                    #"{"t":\#(Double(k) / 1000),"gyro":[0,0,0],"accel":[0,0,-9.81],"joints":[0,0,0]}"#
                )
            }
            #expect(reply["enabled"]?.bool == true)
        }
    }

    @Test(
        "samples that become identical after noisy samples are reported as frozen, and turn the outputs off"
    )
    func frozen() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.restUntilEnabled()
            var reply = JSONValue.null
            for k in 1...60 {
                reply = try simulator.ask(
                    #"{"t":\#(simulator.t + Double(k) / 1000),"gyro":[0,0,1e-3],"accel":[0,0,-9.81],"joints":[0,0,0]}"#
                )
            }
            #expect(reply["enabled"]?.bool == false)
            #expect(try daemon.ask("status").inhibitions.contains("imu_frozen"))
        }
    }

    @Test("servos get angles, and their torques are zero")
    func servos() throws {
        try withLockstep(["--set", "motors.type=servo"]) { daemon in
            let simulator = try Simulator(daemon)
            simulator.extra = ""
            #expect(try simulator.rest(1)[0]["angle"]?.array?.count == 3)
            let reply = try simulator.restUntilEnabled()
            #expect(reply["angle"]?.array?.compactMap(\.number).count == 3)
            #expect(reply.torque == [0, 0, 0])
        }
    }

    @Test("the daemon waits for a slow reader, which then receives every reply in order")
    func slowReader() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            let count = 6000
            var text: [UInt8] = []
            for _ in 0..<count { text += (simulator.line() + "\n").utf8 }
            var sent = 0
            while sent < text.count {
                let taken = try simulator.socket.sendSome(text[sent...])
                sent += taken
                // The daemon has stopped reading from this socket, but still serves other clients.
                if taken == 0 {
                    #expect(try daemon.ask("status")["backend"]?.string == "lockstep")
                    while simulator.socket.hasNews(within: 0.1) {
                        _ = try simulator.socket.receiveSome()
                    }
                }
            }
            var last = -1.0
            for _ in 0..<count {
                let t = try simulator.socket.reply()["t"]?.number ?? -2
                #expect(t > last)
                last = t
            }
            #expect(abs(last - Double(count - 1) / 1000) < 1e-9)
        }
    }
}
