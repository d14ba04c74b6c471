import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

/// Measures what 20 pages cost the control loop and airframe-web. As in the product, the loop has a
/// real-time priority on the last processor, and airframe-web and its clients use the other
/// processors. Light clients replace the browsers, which would run on other computers.
@Suite(
    "Cost of 20 pages for the control loop", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: getenv("AIRFRAME_BIN") != nil, "a measurement of minutes: run make bench-web"))
struct LoopCostTests {
    /// Number of measurements without pages, and of measurements with pages.
    private static let rounds = 6
    /// Duration of a measurement, s.
    private static let seconds = 5.0
    private static let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Faults and durations of the loop in one measurement.
    private struct Measurement: CustomStringConvertible {
        var late = 0
        var overruns = 0
        /// Quantiles of the delay of the loop's wake-up, and of the time from sample to command, µs.
        var wake = (p50: 0.0, p99: 0.0)
        var total = (p50: 0.0, p99: 0.0)
        var messages = 0

        var description: String {
            func text(_ pair: (p50: Double, p99: Double)) -> String {
                "p50 \(Int(pair.p50)) p99 \(Int(pair.p99)) µs"
            }
            return
                "late samples \(late), overruns \(overruns), wake-up \(text(wake)), sample to command \(text(total)), \(messages) messages/s"
        }
    }

    private static func pin(_ process: pid_t, to processors: String) throws {
        _ = try shell("taskset -a -c -p \(processors) \(process) > /dev/null")
    }

    /// Measures with a new daemon, because the daemon's quantiles begin at its start.
    private func measure(pages: Int, _ rig: Rig, _ cookie: String) throws -> Measurement {
        rig.stopDaemon()
        // A new process inherits the processors of this one, and the loop needs the last one.
        try Self.pin(getpid(), to: "0-\(Self.processors - 1)")
        try rig.startDaemon()
        if Self.processors > 1 { try Self.pin(getpid(), to: "0-\(Self.processors - 2)") }
        let names = ["attitude", "setpoint", "error", "rate", "torque", "joint"].flatMap { group in
            ["yaw", "roll", "pitch"].map { JSONValue.string("\(group).\($0)") }
        }
        let request = Request(
            id: 1, method: "subscribe", params: ["names": .array(names), "rate": 60])
        let clients = try (0..<pages).map { _ in
            let client = try WebClient(port: rig.port)
            try #require(try client.upgrade("/socket", headers: [cookie]).status == 101)
            try client.send(message: String(decoding: request.line, as: UTF8.self))
            return client
        }
        usleep(500_000)
        let before = try #require(try rig.status()["loop"])
        var result = Measurement()
        let end = monotonicNow() + Self.seconds
        while monotonicNow() < end {
            if clients.isEmpty { usleep(50_000) }
            for client in clients {
                _ = try client.message()
                result.messages += 1
            }
        }
        result.messages /= Int(Self.seconds)
        let loop = try #require(try rig.status()["loop"])
        func count(_ name: String) -> Int { (loop[name]?.int ?? 0) - (before[name]?.int ?? 0) }
        (result.late, result.overruns) = (count("late_samples"), count("overruns"))
        func quantiles(_ name: String) -> (p50: Double, p99: Double) {
            let stage = loop["stages"]?.array?.first { $0["name"]?.string == name }
            return (stage?["p50_us"]?.number ?? .nan, stage?["p99_us"]?.number ?? .nan)
        }
        (result.wake, result.total) = (quantiles("wake"), quantiles("imu_to_motor"))
        #expect(loop["achieved_hz"]?.number ?? 0 > 900)
        return result
    }

    @Test("20 pages at 60 Hz: the loop has no more faults, and airframe-web uses at most 30 MB")
    func cost() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            defer { try? Self.pin(getpid(), to: "0-\(Self.processors - 1)") }
            if Self.processors > 1 {
                let web = try #require(rig.web?.process)
                try Self.pin(web, to: "0-\(Self.processors - 2)")
            }
            let cookie = try rig.cookie()
            var (alone, together): ([Measurement], [Measurement]) = ([], [])
            var megabytes = 0.0
            for round in 1...Self.rounds {
                alone.append(try measure(pages: 0, rig, cookie))
                together.append(try measure(pages: 20, rig, cookie))
                megabytes = max(megabytes, try rig.megabytes())
                print("web: round \(round), no page: \(alone[round - 1])")
                print("web: round \(round), 20 pages: \(together[round - 1])")
            }
            func median(_ list: [Measurement], _ value: (Measurement) -> Double) -> Double {
                list.map(value).sorted()[list.count / 2]
            }
            let faults = [alone, together].map { list in
                (
                    sum: list.reduce(0) { $0 + $1.late + $1.overruns },
                    median: median(list) { Double($0.late + $0.overruns) }
                )
            }
            let wakes = [alone, together].map { list in Int(median(list) { $0.wake.p99 }) }
            print(
                """
                web: 20 pages at 60 Hz, load \(Self.load): faults of the loop in \(Int(Double(Self.rounds) * Self.seconds * 1000)) ticks: \
                \(faults[0].sum) without a page, \(faults[1].sum) with 20 pages; p99 of the wake-up \(wakes[0]) and \(wakes[1]) µs; \
                memory \(megabytes) MB (bar 30 MB)
                """)
            #expect(median(together) { Double($0.messages) } > 20 * 50)
            #expect(megabytes <= 30)
            // A difference of 0.1 % of the ticks is not significant on a shared computer.
            #expect(faults[1].median <= faults[0].median + Self.seconds)
        }
    }

    /// Load average of the computer over the last minute.
    private static var load: String {
        let text = (try? bytes(of: "/proc/loadavg")).map { String(decoding: $0, as: UTF8.self) }
        return String(text?.prefix { $0 != " " } ?? "unknown")
    }
}
