import TestSupport
import Testing
import Wire

@Suite("Simulated time in lockstep") struct LockstepTimeTests {
    private static let key = #""key":"control.max_rate_dps""#

    @Test(
        "the outputs stay off until the start-up checks pass, and then ramp up in simulated time")
    func start() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            for reply in try simulator.rest(200) {
                #expect(reply["enabled"]?.bool == false)
                #expect(reply.torque == [0, 0, 0])
                #expect(reply["mode"]?.string == "locked")
            }
            #expect(try daemon.ask("status").inhibitions.contains("estimate_not_converged"))
            let first = try simulator.restUntilEnabled()
            #expect(first.torque.allSatisfy { abs($0) < 0.01 })
            let status = try daemon.ask("status")
            #expect(status["state"]?.string == "soft start")
            #expect(status.number("t") == first["t"]?.number)
            #expect(status.number("lockstep", "t") == first["t"]?.number)
        }
    }

    @Test("requests take effect at the next line, regardless of their number")
    func requests() throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            try simulator.rest(1)
            // More requests than one real-time tick would execute.
            for _ in 0..<10 { _ = try daemon.ask("mode", #"{"mode":"inactive"}"#) }
            #expect(try daemon.ask("status")["mode"]?.string == "inactive")
            #expect(try simulator.rest(1)[0]["mode"]?.string == "inactive")
            _ = try daemon.ask("mode", #"{"mode":"locked"}"#)
            #expect(try simulator.rest(1)[0]["mode"]?.string == "locked")
        }
    }

    @Test("dead-man timers and rollbacks use simulated time, even while the simulator pauses")
    func timers() throws {
        try withLockstep(["--set", "commander.dead_man_s=0.2"]) { daemon in
            let simulator = try Simulator(daemon)
            try simulator.restUntilEnabled()
            _ = try daemon.ask("set", "{\(Self.key),\"value\":100,\"rollback\":1}")
            // Keeps the connection open, because the rate would end with it.
            let rider = try SocketClient(daemon.socket)
            _ = try rider.ask(#"{"id":1,"method":"rate","params":{"yaw":5,"roll":0,"pitch":0}}"#)
            _ = daemon.program.hasEnded(within: 1.2)
            try simulator.rest(199)
            #expect(!(try daemon.ask("status").notices.contains("command_expired")))
            try simulator.rest(3)
            #expect(try daemon.ask("status").notices.contains("command_expired"))
            try simulator.rest(790)
            #expect(try value(daemon) == 100)
            try simulator.rest(20)
            #expect(try value(daemon) == 360)
        }
    }

    private func value(_ daemon: RunningDaemon) throws -> Double {
        try daemon.setting("control.max_rate_dps")
    }

    @Test(
        "a silent simulator is reported after the timeout; after the next line, the outputs ramp up again"
    )
    func silence() throws {
        try withLockstep(["--set", "hardware.lockstep.timeout=2"]) { daemon in
            let simulator = try Simulator(daemon)
            // A pause makes the silence longer than the timeout.
            let isOn = try repeatingAfterPause(until: { $0 == true }) {
                try simulator.restUntilEnabled()
                try simulator.rest(600)
                _ = daemon.program.hasEnded(within: 1)
                return try simulator.rest(1)[0]["enabled"]?.bool
            }
            #expect(isOn == true)

            let status = try daemon.status(within: 10, "silence") {
                $0.inhibitions.contains("simulator_silent")
            }
            #expect(status["enabled"]?.bool == false)
            #expect(status["lockstep"]?["state"]?.string == "silent")
            let back = try simulator.rest(1)[0]
            #expect(back["enabled"]?.bool == false)
            #expect(try daemon.ask("status").inhibitions == [])
            let on = try simulator.restUntilEnabled()
            #expect(on.torque.allSatisfy { abs($0) < 0.01 })
        }
    }

    @Test(
        "the attitude at a simulator's time is known, and other times are refused",
        arguments: [1_764_000_000.0, 9_300_000_000])
    func largeTimes(start: Double) throws {
        try withLockstep { daemon in
            let simulator = try Simulator(daemon)
            simulator.t = start
            let last = try #require(try simulator.rest(300).last?["t"]?.number)
            let client = try SocketClient(daemon.socket)
            func ask(_ t: Double) throws -> JSONValue {
                try client.ask(#"{"id":1,"method":"attitude","params":{"t":\#(t)}}"#)
            }
            #expect(try ask(last - 0.1)["result"]?["attitude"]?.array?.count == 4)
            for t in [0, last - 5, last + 5, -1e12, 1e12] {
                #expect(try ask(t).errorCode == "refused", "\(t)")
            }
        }
    }

    @Test("the same lines and requests give identical replies, bit for bit")
    func determinism() throws {
        func replies() throws -> [String] {
            var result: [String] = []
            try withLockstep { daemon in
                let simulator = try Simulator(daemon)
                try simulator.restUntilEnabled()
                _ = try daemon.ask("point", #"{"yaw":10,"roll":0,"pitch":-20,"duration":0.5}"#)
                result += try simulator.rest(300).map(\.text)
                _ = try daemon.ask("set", "{\(Self.key),\"value\":90}")
                simulator.t += 0.5
                result += try simulator.rest(300).map(\.text)
            }
            return result
        }
        let first = try replies()
        let second = try replies()
        #expect(first.count == 600)
        #expect(first == second)
    }
}
