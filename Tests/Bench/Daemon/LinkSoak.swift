import GimbalCore
import Glibc
import Realtime
import Wire

/// Soak test of all links: for an hour in real time, a simulated person walks with the gimbal, and
/// every link carries traffic. The bench compares the daemon's resources at the end with the
/// resources at the beginning. `airframe-bench all` does not run this test; `make soak` runs it.
enum LinkSoak {
    /// Values of the daemon, measured at one instant.
    private struct Look {
        var process: ProcessLook
        /// Largest pointing error of an axis while no request turns the axis, degrees.
        var error: Double
        /// Number of the loop's late periods since the previous observation.
        var overruns: Double
        /// Number of late periods of a thread that only waits, since the previous observation. The
        /// computer, not the daemon, causes the late periods of the waiting thread.
        var missed: Double
    }

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let settings = [
            "hardware.simulation.motion=walking", "drive.board=simulated",
            "rider.listen=127.0.0.1:\(LinkChatter.riderPort)",
            "mavlink.listen=127.0.0.1:\(LinkChatter.mavlinkPort)",
        ]
        guard let rig = try RadioRig(daemon, settings: settings, &report) else { return }
        let process = rig.process
        let chatter = LinkChatter(path: process.socketPath, radio: rig.radio)
        let host = try HostWatch()
        defer { host.stop() }
        let minutes = max(10, Int(options.soakMinutes))
        let began = MonotonicClock.now
        var looks: [Look] = []
        var overruns = 0.0
        for millisecond in 1...minutes * 60_000 {
            chatter.advance(millisecond)
            let due = began.advanced(bySeconds: Double(millisecond) * 1e-3)
            let wait = due.seconds(since: MonotonicClock.now)
            if wait > 0 { usleep(UInt32(wait * 1e6)) }
            guard millisecond % 60_000 == 0 else { continue }
            guard let status = process.status(where: { _ in true }) else {
                return report.fail("the daemon no longer answers: \(process.log)")
            }
            let total = status["loop"]?["overruns"]?.number ?? .nan
            looks.append(
                Look(
                    process: ProcessLook(process), error: error(status),
                    overruns: total - overruns, missed: host.takeMissed()))
            overruns = total
        }
        report.show("minutes", Double(looks.count), "")
        for (link, count) in chatter.sent.sorted(by: { $0.key < $1.key }) {
            report.show("sent over \(link)", Double(count), "")
        }
        ProcessLook.judge(looks.map(\.process), &report)
        let errors = SoakTrend(looks.map(\.error))
        report.show("distance from the target at the end, median", errors.end, "°")
        report.check("distance from the target, growth", errors.growth, atMost: 0.05, "°")
        report.show("overruns of the loop", looks.map(\.overruns).reduce(0, +), "")
        report.show(
            "missed periods of a thread that only waits",
            looks.map(\.missed).reduce(0, +), "")
        // On a machine with other busy programs, the loop and the waiting thread can each have
        // hundreds of late periods per minute. Therefore the bench divides the number of the loop's
        // late periods by the number of the waiting thread's late periods.
        let timing = SoakTrend(looks.map { ($0.overruns + 5) / ($0.missed + 5) })
        report.check(
            "overruns / missed periods, end / beginning", timing.ratio, atMost: 2, "x")
        let end = process.stop()
        if end.status != 0 { report.fail("the daemon ended with \(end.status): \(process.log)") }
    }

    private static func error(_ status: JSONValue) -> Double {
        ["yaw", "roll", "pitch"]
            .map { abs(status["error_deg"]?[$0]?.number ?? .nan) }.max() ?? .nan
    }
}
