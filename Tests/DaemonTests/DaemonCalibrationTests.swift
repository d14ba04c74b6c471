import TestSupport
import Testing
import Wire

@Suite("airframectl calibrate with a running daemon") struct DaemonCalibrationTests {
    @Test(
        "a calibration of the gyroscope at rest is saved, survives a restart, finishes the step of the set-up, and can be undone"
    )
    func gyroAtRest() throws {
        func step(_ daemon: RunningDaemon) throws -> String? {
            let steps = try daemon.ask("setup")["steps"]?.array
            return steps?.first { $0["name"]?.string == "gyro" }?["state"]?.string
        }
        try withTemporaryDirectory { directory in
            let first = try RunningDaemon(in: directory)
            try first.status("enabled") { $0["enabled"]?.bool == true }
            let answer = try first.control("calibrate", "gyro")
            #expect(answer.status == 0, "\(answer.output) \(answer.errors)")
            #expect(answer.output.contains("calibrated, and the result is saved"))
            // The outputs were off during the calibration, and turn on automatically.
            try first.status("enabled again") { $0["enabled"]?.bool == true }
            #expect(try first.stop().status == 0)

            let second = try RunningDaemon(in: directory)
            #expect(try second.control("calibrate").output.contains("gyro  20"))
            #expect(try step(second) == "done")
            let undone = try second.control("calibrate", "undo")
            #expect(undone.output.contains("removed; there is no earlier calibration"))
            #expect(try step(second) == "open")
            let nothing = try second.control("calibrate", "undo")
            #expect(nothing.status == 1)
            #expect(nothing.errors.contains("no calibration to undo"))
        }
    }

    @Test("a calibration of the gyroscope while walking is refused with the reason")
    func gyroWhileWalking() throws {
        try withDaemon(["--set", "hardware.simulation.motion=walking"]) { daemon throws in
            // The simulated walker is at rest for the first four seconds.
            try daemon.status("walking") { $0.number("uptime_s") > 5.5 }
            let answer = try daemon.control("calibrate", "gyro")
            #expect(answer.status == 1)
            #expect(answer.output.contains("The camera shakes"), "\(answer.output)")
            #expect(answer.output.contains("Put the camera down on a firm surface"))
            #expect(try daemon.control("calibrate").output.contains("No sensor is calibrated"))
        }
    }

    @Test(
        "a calibration keeps the outputs off, is shown in status, and ends when its client disconnects"
    )
    func hangUp() throws {
        try withDaemon { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            do {
                let client = try SocketClient(daemon.socket)
                let line =
                    #"{"id":1,"method":"calibrate","params":{"action":"start","what":"accelerometer"}}"#
                #expect(try client.ask(line)["error"] == nil)
                let status = try daemon.status("off") { $0["enabled"]?.bool == false }
                #expect(status.inhibitions.contains("calibrating"))
            }
            try daemon.status("enabled again") { $0["enabled"]?.bool == true }
            let report = try daemon.ask("calibrate")
            #expect(report["state"]?.string == "cancelled", "\(report.text)")
        }
    }
}
