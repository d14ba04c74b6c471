import CVideo
import Client
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Eyes

@Suite("airframe-eyes as a program", .serialized, .timeLimit(.minutes(1)))
struct ProgramTests {
    /// Free port of this computer.
    private func freePort() throws -> UInt16 {
        try StreamServer(host: "127.0.0.1", port: 0, path: "/x", maximumClients: 1).port
    }

    private func eyes(
        in directory: FilePath, port: UInt16, _ extra: [String] = [], config: String? = nil
    ) throws -> RunningProgram {
        var arguments = [
            "--set", "rtsp.listen=127.0.0.1:\(port)", "--set",
            "gimbal.socket=\"\(directory)/s.sock\"",
        ]
        if let config { arguments += ["--config", config] }
        for text in extra { arguments += ["--set", text] }
        return try RunningProgram("airframe-eyes", arguments, in: directory)
    }

    private func daemon(in directory: FilePath) throws -> RunningProgram {
        let settings = [
            "diagnostics.socket=\(directory)/s.sock", "persistence.directory=\(directory)/state",
            "hardware.simulation.motion=walking", "bluetooth.enabled=false",
            "loop.lock_memory=false", "imu.timeout_ms=1000",
        ]
        return try RunningProgram(
            "airframed", settings.flatMap { ["--set", $0] }, in: directory)
    }

    /// Waits until the motors of the daemon are on.
    private func expectEnabled(_ daemon: RunningProgram, in directory: FilePath) throws {
        try #require(
            eventually(within: 20) { (try? status(directory))?.isEnabled == true },
            "\(daemon.log)")
    }

    private func status(_ directory: FilePath) throws -> Status {
        try DaemonClient(path: "\(directory)/s.sock", timeout: 5).request("status")
    }

    @Test(
        "the daemon shows the stream's health, and continues unaffected when airframe-eyes is killed"
    )
    func killed() throws {
        #expect(isVideoReady)
        try withTemporaryDirectory { directory in
            let daemon = try daemon(in: directory)
            try expectEnabled(daemon, in: directory)
            let port = try freePort()
            let url = "rtsp://127.0.0.1:\(port)/stream"
            var eyes: RunningProgram? = try self.eyes(
                in: directory, port: port, ["video.source=test"])
            #expect(eyes?.says("The stream is at") == true)
            do {
                let player = try Player(url, over: .tcp)
                #expect(try player.first(within: 8) != nil)
                // Each report covers one second, and a pause of the computer affects only one.
                var companion: CompanionStatus?
                let isHealthy = try eventually(within: 15) {
                    _ = try player.pictures(for: 0.5)
                    companion = try status(directory).companions.first
                    guard let companion, let rate = companion.report.values["rate_hz"]?.value,
                        let latency = companion.report.values["latency_ms"]?.value
                    else { return false }
                    return companion.check.level == .ok
                        && companion.check.finding.contains("1 client") && rate > 25
                        && latency < 100
                }
                #expect(isHealthy, "\(companion as Any)")
                let isShown = try eventually(within: 10) {
                    let checks: [DoctorCheck] = try DaemonClient(
                        path: "\(directory)/s.sock", timeout: 5
                    ).request("doctor")
                    return checks.contains { $0.name == "eyes" && $0.level == .ok }
                }
                #expect(isShown)
            }
            let before = try status(directory)
            kill(try #require(eyes).process, SIGKILL)
            #expect(eyes?.wait(seconds: 5) == -SIGKILL)
            #expect(try eventually(within: 5) { try status(directory).companions.isEmpty })
            // A pause of the computer omits ticks in one interval; a loop that is slow now omits
            // ticks in all of them.
            var earlier = before
            let hasRate = try eventually(within: 10) {
                usleep(500_000)
                let later = try status(directory)
                defer { earlier = later }
                let ticks = Double(later.loop.ticks - earlier.loop.ticks)
                let seconds = later.t.value - earlier.t.value
                return ticks >= 0.9 * seconds * later.loop.rateHz.value
            }
            #expect(hasRate)
            let after = try status(directory)
            #expect(after.isEnabled)
            #expect(after.inhibitions.isEmpty)
            #expect(after.faults.busErrors == before.faults.busErrors)

            eyes = try self.eyes(in: directory, port: port, ["video.source=test"])
            #expect(eyes?.says("The stream is at") == true)
            let player = try Player(url, over: .udp)
            #expect(try player.first(within: 8) != nil)
        }
    }

    @Test("the reported largest latency covers the same second as the mean latency")
    func largestLatency() throws {
        #expect(isVideoReady)
        try withTemporaryDirectory { directory in
            let daemon = try daemon(in: directory)
            try expectEnabled(daemon, in: directory)
            let port = try freePort()
            // At 5 Hz, an interval of 0.1 s contains at most one of the five pictures of a second.
            let eyes = try eyes(
                in: directory, port: port, ["video.source=test", "video.rate_hz=5"])
            #expect(eyes.says("The stream is at"))
            let player = try Player("rtsp://127.0.0.1:\(port)/stream", over: .tcp)
            #expect(try player.first(within: 8) != nil)
            var means: Set<Double> = []
            let areEnough = try eventually(within: 20) {
                _ = try player.pictures(for: 0.5)
                let values = try status(directory).companions.first?.report.values ?? [:]
                guard let mean = values["latency_ms"]?.value else { return false }
                means.insert(mean)
                #expect(try #require(values["latency_max_ms"]).value >= mean)
                return means.count >= 5
            }
            #expect(areEnough, "\(means)")
        }
    }

    @Test("SIGHUP applies a changed file while a client watches; SIGTERM ends the program")
    func signals() throws {
        #expect(isVideoReady)
        try withTemporaryDirectory { directory in
            let port = try freePort()
            let file = directory.appending("eyes.toml")
            try write("[video]\nsource = \"test\"\n", to: file)
            let eyes = try eyes(in: directory, port: port, config: file.string)
            #expect(eyes.says("The stream is at"))
            let player = try Player("rtsp://127.0.0.1:\(port)/stream", over: .tcp)
            #expect(try player.first(within: 8) { $0.width == 640 } != nil)

            try write("[video]\nsource = \"test\"\nwidth = 320\nheight = 240\n", to: file)
            kill(eyes.process, SIGHUP)
            #expect(try player.first(within: 5) { $0.width == 320 } != nil)

            try write("[video]\nwidth = 9\n", to: file)
            kill(eyes.process, SIGHUP)
            #expect(eyes.says("video.width = 9 is outside 160...1920"))
            #expect(eyes.says("No setting has changed."))
            #expect(try player.first(within: 5) { $0.width == 320 } != nil)

            try write("[video]\nsource = \"test\"\n[rtsp]\npath = \"/other\"\n", to: file)
            kill(eyes.process, SIGHUP)
            #expect(eyes.says("These need a restart: rtsp.path."))

            kill(eyes.process, SIGTERM)
            #expect(eyes.wait(seconds: 3) == 0)
        }
    }

    @Test("a measurement of the latency without an end is refused", arguments: ["nan", "inf", "0"])
    func endlessLatency(seconds: String) throws {
        try withTemporaryDirectory { directory throws in
            let eyes = try RunningProgram(
                "airframe-eyes", ["latency", "--seconds", seconds], in: directory)
            #expect(eyes.wait(seconds: 5) == 64)
            #expect(eyes.says("--seconds must be a number in 0.1...3600"))
        }
    }

    @Test("a bad configuration and a port in use end the program with their exit codes")
    func failures() throws {
        #expect(isVideoReady)
        try withTemporaryDirectory { directory in
            let bad = try eyes(in: directory, port: 18555, ["video.width=1"])
            #expect(bad.wait(seconds: 5) == 78)
            #expect(bad.log.contains("--set: video.width = 1 is outside 160...1920."))
            let server = try StreamServer(
                host: "127.0.0.1", port: 0, path: "/x", maximumClients: 1)
            let second = try eyes(in: directory, port: server.port)
            #expect(second.wait(seconds: 5) == 69)
            #expect(second.log.contains("Does another program use the port?"))
        }
    }
}
