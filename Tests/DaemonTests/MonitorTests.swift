import TestSupport
import Testing
import Wire

@Suite("airframectl monitor at a terminal", .timeLimit(.minutes(2)))
struct MonitorTests {
    @Test(
        "at a low rate, the answer to a key is shown immediately, and the emergency stop reaches a restarted daemon"
    )
    func lowRate() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let monitor = try Terminal([
                try Program.built("airframectl"), "--socket", daemon.socket, "monitor", "--rate",
                "0.1",
            ])
            #expect(monitor.says("space STOP"), "\(monitor.text)")
            monitor.type(" ")
            #expect(monitor.says("until the stop is reset.", within: 5), "\(monitor.text)")
            // The list of the keys replaces the answer after 4 s.
            #expect(monitor.says("space STOP", within: 8), "\(monitor.text)")

            #expect(try daemon.stop().status == 0)
            let next = try RunningDaemon(in: daemon.directory)
            #expect(try !next.ask("status").inhibitions.contains("emergency_stop"))
            monitor.type(" ")
            #expect(monitor.says("until the stop is reset.", within: 5), "\(monitor.text)")
            try next.status("the motors are stopped") {
                $0.inhibitions.contains("emergency_stop")
            }
            monitor.type("q")
            #expect(monitor.end() == 0)
        }
    }
}
