import TestSupport
import Testing
import Wire

@Suite("Connections of simulators in lockstep") struct LockstepConnectionTests {
    @Test("without a simulator, status contains the socket to connect to")
    func waiting() throws {
        try withLockstep { daemon in
            let status = try daemon.ask("status")
            #expect(status.inhibitions.first == "simulator_missing")
            #expect(status["enabled"]?.bool == false)
            #expect(status["lockstep"]?["state"]?.string == "waiting")
            #expect(status["lockstep"]?["socket"]?.string == "\(daemon.directory)/sim.sock")
            let view = try daemon.control("status")
            #expect(view.output.contains("lockstep"))
            #expect(view.output.contains("waiting for a simulator at \(daemon.directory)/sim.sock"))
        }
    }

    @Test(
        "a disconnected simulator turns the outputs off, and the next simulator starts with a new state"
    )
    func disconnection() throws {
        try withLockstep(["--set", "imu.filter_delay_ms=0"]) { daemon in
            do {
                let simulator = try Simulator(daemon)
                try simulator.restUntilEnabled()
                _ = try daemon.ask("set", #"{"key":"control.max_rate_dps","value":100}"#)
                _ = try daemon.ask("save")
                _ = try daemon.ask("set", #"{"key":"control.feed_forward","value":0.5}"#)
                _ = try daemon.ask("mode", #"{"mode":"inactive"}"#)
                try simulator.rest(1)
                try simulator.socket.send(Array(#"{"t":9,"gy"#.utf8))
            }
            // Another thread notices the end of the connection, so the test waits.
            let status = try daemon.status(within: 5, "the end") {
                $0.inhibitions.contains("simulator_missing")
            }
            #expect(status["enabled"]?.bool == false)
            #expect(status["mode"]?.string == "locked")
            #expect(status["lockstep"]?["state"]?.string == "waiting")

            let simulator = try Simulator(daemon)
            let first = try simulator.ask(#"{"t":-7,"gyro":[0,0,0],"accel":[0,0,-9.81]}"#)
            #expect(first["t"]?.number == -7)
            #expect(first["mode"]?.string == "locked")
            #expect(first["enabled"]?.bool == false)
            #expect(first["attitude"] == [.double(1), .double(0), .double(0), .double(0)])
            #expect(try daemon.setting("control.max_rate_dps") == 100)
            #expect(try daemon.setting("control.feed_forward") == 1)
        }
    }

    @Test("two connections with the same lines get the same replies")
    func sameAgain() throws {
        try withLockstep { daemon in
            var runs: [[String]] = []
            for _ in 0..<2 {
                let simulator = try Simulator(daemon)
                try simulator.restUntilEnabled()
                runs.append(try simulator.rest(100).map(\.text))
            }
            #expect(runs[0] == runs[1])
        }
    }

    @Test("a latched emergency stop survives a reconnection of the simulator")
    func emergencyStop() throws {
        try withLockstep { daemon in
            do {
                let simulator = try Simulator(daemon)
                try simulator.restUntilEnabled()
                _ = try daemon.ask("stop")
                #expect(try daemon.ask("status").inhibitions.contains("emergency_stop"))
                #expect(try simulator.rest(1)[0]["enabled"]?.bool == false)
            }
            let simulator = try Simulator(daemon)
            for reply in try simulator.rest(1500) { #expect(reply["enabled"]?.bool == false) }
            #expect(try daemon.ask("status").inhibitions.contains("emergency_stop"))
            _ = try daemon.ask("reset_stop")
            _ = try daemon.ask("mode", #"{"mode":"locked"}"#)
            try simulator.restUntilEnabled()
        }
    }

    @Test("a second simulator gets one error and is disconnected; the first continues")
    func second() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.rest(1)
            let other = try Simulator(daemon)
            _ = daemon.program.hasEnded(within: 0.05)
            try other.socket.send(Array((other.line() + "\n").utf8))
            #expect(try other.socket.reply().errorCode == "busy")
            #expect(try other.socket.isAtEnd())
            #expect(try simulator.rest(1)[0]["t"]?.number == 0.001)
        }
    }

    @Test("complete lines before the end of the stream are answered, an incomplete line is not")
    func halfClosed() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            let text = "\(simulator.line())\n\(simulator.line())\n{\"t\":"
            try simulator.socket.send(Array(text.utf8))
            simulator.socket.finishSending()
            #expect(try simulator.socket.reply()["t"]?.number == 0)
            #expect(try simulator.socket.reply()["t"]?.number == 0.001)
            #expect(try simulator.socket.isAtEnd())
            try Simulator(daemon).rest(1)
        }
    }

    @Test("missing encoders turn the outputs off gradually; a sensor that appears later is ignored")
    func sensors() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.restUntilEnabled()
            try simulator.rest(600)
            simulator.extra = #""mag":[2e-5,0,4e-5]"#
            #expect(try simulator.rest(1)[0]["enabled"]?.bool == true)
            let status = try daemon.ask("status")
            #expect(status.inhibitions.contains("encoder_missing"))
            #expect(status["lockstep"]?["missing"] == ["joints"])
            #expect(status.number("lockstep", "ignored_values") == 1)
            #expect(try simulator.rest(250).last?["enabled"]?.bool == false)
            simulator.extra = #""joints":[0,0,0]"#
            try simulator.restUntilEnabled()
            #expect(try daemon.ask("status").inhibitions == [])
        }
    }
}
