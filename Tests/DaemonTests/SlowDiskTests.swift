import CLinuxShim
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Daemon on a disk with slow fsync")
struct SlowDiskTests {
    /// Runs `body` with a daemon on a slow disk. A save calls fsync twice: for the file and for the
    /// directory.
    private func withSlowDisk(
        _ variables: [String] = [], _ body: (RunningDaemon) throws -> Void
    ) throws {
        let library = try Program.built("libSlowDisk.so")
        try withDaemon(
            through: ["env", "LD_PRELOAD=\(library)", "SLOW_DISK_MS=1000"] + variables, body)
    }

    @Test(
        "a stop is executed before a pending save, even on the same connection; the save is confirmed when it is durable"
    )
    func stops() throws {
        try withSlowDisk { daemon in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            let saver = try SocketClient(daemon.socket)
            let other = try SocketClient(daemon.socket)
            var began = Deadline(seconds: 0)
            var attempt = 0
            let slowest = try repeatingAfterPause(until: { $0 < 0.5 }) {
                if attempt > 0 { #expect(try saver.reply()["id"] == 1) }
                attempt += 1
                _ = try daemon.ask(
                    "set", #"{"key":"control.max_rate_dps","value":\#(100 + attempt)}"#)
                began = Deadline(seconds: 0)
                try saver.send(Array((#"{"id":1,"method":"save"}"# + "\n").utf8))
                var slowest = 0.0
                for _ in 0..<20 {
                    let asked = Deadline(seconds: 0)
                    #expect(try other.ask(#"{"id":2,"method":"stop"}"#)["result"] != nil)
                    slowest = max(slowest, asked.secondsAgo)
                }
                return slowest
            }
            #expect(slowest < 0.5, "a stop took \(slowest) s")
            _ = try other.ask(#"{"id":3,"method":"reset_stop"}"#)
            // The stop is queued behind the save.
            try saver.send(Array((#"{"id":4,"method":"stop"}"# + "\n").utf8))
            try daemon.status(within: 0.5, "the stop is executed before the end of the save") {
                $0.inhibitions.contains("emergency_stop")
            }
            #expect(!saver.hasNews(within: 0))
            #expect(try saver.reply()["id"] == 1)
            #expect(began.secondsAgo > 1.9, "acknowledged after \(began.secondsAgo) s")
            #expect(try saver.reply()["id"] == 4)
        }
    }

    @Test("a recording that restarts while the disk is busy is reported as complete, and continues")
    func restartedRecording() throws {
        try withSlowDisk(["SLOW_DISK_MS=1500"]) { daemon in
            let client = try SocketClient(daemon.socket)
            func ask(_ parameters: String) throws -> JSONValue? {
                try client.ask(#"{"id":1,"method":"record","params":\#(parameters)}"#)["result"]
            }
            _ = try ask(#"{"action":"start"}"#)
            try daemon.status("the recording has a file") {
                $0["recorder"]?["open_file"]?.string != nil
            }
            _ = try ask(#"{"action":"last","seconds":1}"#)
            let stopped = try ask(#"{"action":"stop"}"#)?["requested"]?.int ?? .max
            let restarted = try ask(#"{"action":"start"}"#)
            #expect(restarted?["finished"]?.int ?? .max < stopped, "the disk is busy")
            try daemon.status(within: 20, "the files are complete") {
                $0["recorder"]?["finished"]?.int ?? 0 >= stopped
                    && $0["recorder"]?["recording"]?.bool == true
            }
        }
    }

    @Test("a temporary change that begins during a save still reverts, and the saved value remains")
    func temporaryChange() throws {
        try withSlowDisk { daemon in
            _ = try daemon.ask("set", #"{"key":"control.max_rate_dps","value":100}"#)
            let saver = try SocketClient(daemon.socket)
            try saver.send(Array((#"{"id":1,"method":"save"}"# + "\n").utf8))
            #expect(!saver.hasNews(within: 0.3), "the save waits for the disk")
            _ = try daemon.ask(
                "set", #"{"key":"control.max_rate_dps","value":50,"rollback":3}"#)
            func rate() throws -> String {
                try daemon.control("get", "control.max_rate_dps").output
            }
            let reply = try saver.reply()
            #expect(reply.text.contains("will revert"), "\(reply.text)")
            #expect(try rate() == "50\n")
            try daemon.status(within: 10, "the change reverts") { _ in
                (try? rate()) == "100\n"
            }
        }
    }

    @Test(
        "at the 99th percentile, a stop takes less than 5 ms, or less than three times as long as on an idle disk"
    )
    func unhurried() throws {
        // Alternates between busy and idle periods, so that other load of the machine affects both.
        try withSlowDisk(["SLOW_DISK_MS=100"]) { daemon in
            let (saver, other) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
            /// Duration of one stop, s.
            func stop() throws -> Double {
                let asked = Deadline(seconds: 0)
                #expect(try other.ask(#"{"id":2,"method":"stop"}"#)["result"] != nil)
                return asked.secondsAgo
            }
            func percentile99(_ times: [Double]) -> Double {
                times.sorted()[times.count * 99 / 100]
            }
            /// 99th percentiles of the durations of stops during 20 saves and between them, s.
            func measure() throws -> (worst: Double, usual: Double) {
                var (busy, idle): ([Double], [Double]) = ([], [])
                for round in 0..<20 {
                    _ = try daemon.ask(
                        "set", #"{"key":"control.max_rate_dps","value":\#(100 + round)}"#)
                    try saver.send(Array((#"{"id":1,"method":"save"}"# + "\n").utf8))
                    let limit = Deadline(seconds: 10)
                    repeat {
                        try #require(!limit.hasPassed, "the save does not end")
                        // A stop that ends after the save is counted as busy, too.
                        busy.append(try stop())
                    } while !saver.hasNews(within: 0.004)
                    #expect(try saver.reply()["result"] != nil)
                    for _ in 0..<50 {
                        idle.append(try stop())
                        usleep(4000)
                    }
                }
                #expect(busy.count > 100, "\(busy.count) stops during 20 saves")
                return (percentile99(busy), percentile99(idle))
            }
            let (worst, usual) = try repeatingAfterPause(
                of: 0.003, until: { $0.worst < max(0.005, 3 * $0.usual) }, measure)
            #expect(worst < max(0.005, 3 * usual), "\(worst) s, idle \(usual) s")
        }
    }

    @Test("the watchdog is notified during a save")
    func watchdog() throws {
        try withTemporaryDirectory { directory throws in
            let listener = try NotificationSocket("\(directory)/notify")
            try withSlowDisk([
                "NOTIFY_SOCKET=\(directory)/notify", "WATCHDOG_USEC=800000",
            ]) { daemon in
                let saver = try SocketClient(daemon.socket)
                var rate = 100
                let longest = try repeatingAfterPause(until: { $0 < 0.8 }) {
                    _ = try daemon.ask(
                        "set", #"{"key":"control.max_rate_dps","value":\#(rate)}"#)
                    rate += 1
                    listener.drain()
                    try saver.send(Array((#"{"id":1,"method":"save"}"# + "\n").utf8))
                    var longest = 0.0
                    var last = Deadline(seconds: 0)
                    let limit = Deadline(seconds: 10)
                    while !saver.hasNews(within: 0) {
                        try #require(!limit.hasPassed, "the save does not end")
                        if listener.hears("WATCHDOG=1", within: 0.05) {
                            last = Deadline(seconds: 0)
                        }
                        longest = max(longest, last.secondsAgo)
                    }
                    #expect(try saver.reply()["result"] != nil)
                    return longest
                }
                #expect(longest < 0.8, "the watchdog was not notified for \(longest) s")
            }
        }
    }

    @Test("a save and two baselines are written together, and all reach the disk")
    func together() throws {
        try withSlowDisk { daemon in
            _ = try daemon.ask("set", #"{"key":"control.max_rate_dps","value":100}"#)
            let clients = try (0..<3).map { _ in try SocketClient(daemon.socket) }
            let began = Deadline(seconds: 0)
            try clients[0].send(Array((#"{"id":1,"method":"save"}"# + "\n").utf8))
            for (index, name) in ["one", "two"].enumerated() {
                let line =
                    #"{"id":1,"method":"baseline","params":{"action":"store","name":"\#(name)"}}"#
                try clients[index + 1].send(Array((line + "\n").utf8))
            }
            for client in clients { #expect(try client.reply()["result"] != nil) }
            // One write for the first request, and one for all others.
            #expect(began.secondsAgo < 5.5, "\(began.secondsAgo) s")
            let names = try daemon.ask("baseline")["names"]?.array?.compactMap(\.string)
            #expect(names == ["one", "two"])
        }
    }

    @Test("SIGTERM during a save ends airframed within 4.5 s")
    func ends() throws {
        try withSlowDisk { daemon in
            _ = try daemon.ask("set", #"{"key":"control.max_rate_dps","value":100}"#)
            let saver = try SocketClient(daemon.socket)
            try saver.send(Array((#"{"id":1,"method":"save"}"# + "\n").utf8))
            let (status, seconds) = try daemon.stop()
            #expect(status == 0)
            #expect(seconds < 4.5, "\(seconds) s")
        }
    }
}
