import FakeBlueZ
import GimbalCore
import Glibc
import Realtime
import Wire

/// Effect of `BadClients` on the control loop. The daemon runs alternately with and without hostile
/// clients. Other load on the machine therefore affects both kinds of runs.
enum BadClientsBench {
    /// UDP ports of the wheels' remote control and of MAVLink.
    private static let ports: [UInt16] = [45021, 45022]
    /// Steps whose durations the bench compares: the steps of the loop, and the transport of the
    /// samples to the loop.
    private static let stages: [Stage] = [.wake, .handover, .estimate, .control, .imuToMotor]

    /// Timing of one run of the daemon.
    private struct Timing {
        var p50: [Stage: Double] = [:]
        var p99: [Stage: Double] = [:]
        var overruns = 0.0
    }

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        var quiet: [Timing] = []
        var bad: [Timing] = []
        var sent = BadClients.Counts()
        for _ in 0..<options.rounds {
            guard let first = try round(daemon, options, isBad: false, &sent, &report) else {
                return
            }
            quiet.append(first)
            guard let second = try round(daemon, options, isBad: true, &sent, &report) else {
                return
            }
            bad.append(second)
        }
        report.show("requests whose replies are never read", Double(sent.requests), "")
        report.show("flooding connections that the daemon closed", Double(sent.dropped), "")
        report.show("incomplete lines", Double(sent.halves), "")
        report.show("writes and malformed calls over Bluetooth", Double(sent.writes), "")
        report.show("datagrams without a frame", Double(sent.datagrams), "")
        report.show("bytes on the serial line outside frames", Double(sent.serialBytes), "")
        for stage in stages {
            compare(
                "\(stage.rawValue), p50", quiet.map { $0.p50[stage] ?? .nan },
                bad.map { $0.p50[stage] ?? .nan }, &report)
            compare(
                "\(stage.rawValue), p99", quiet.map { $0.p99[stage] ?? .nan },
                bad.map { $0.p99[stage] ?? .nan }, &report)
        }
        report.show("overruns, quiet", quiet.map(\.overruns).reduce(0, +), "")
        report.show("overruns, bad clients", bad.map(\.overruns).reduce(0, +), "")
    }

    /// Compares the medians of the runs with and without hostile clients. The differences among the
    /// runs without hostile clients are the noise of the measurement.
    private static func compare(
        _ name: String, _ quiet: [Double], _ bad: [Double], _ report: inout BenchReport
    ) {
        let noise = (quiet.max() ?? .nan) - (quiet.min() ?? .nan)
        report.show("\(name), quiet", median(quiet), "µs")
        report.show("\(name), bad clients", median(bad), "µs")
        // A delay of a tenth of a period at 1 kHz has no noticeable effect on the control.
        report.check(
            "\(name): increase beyond noise", max(0, median(bad) - median(quiet) - noise),
            atMost: 100, "µs")
    }

    /// Runs the daemon once, alone or with hostile clients, and adds the clients' actions to
    /// `counts`.
    private static func round(
        _ daemon: String, _ options: Options, isBad: Bool, _ counts: inout BadClients.Counts,
        _ report: inout BenchReport
    ) throws -> Timing? {
        let line = try BenchSerialLine()
        let settings = [
            "hardware.simulation.motion=walking", "loop.rate_hz=1000", "loop.lock_memory=true",
            "drive.board=simulated", "rider.listen=127.0.0.1:\(ports[0])",
            "mavlink.listen=127.0.0.1:\(ports[1])", "mavlink.serial=\(line.path)",
        ]
        guard let rig = try RadioRig(daemon, settings: settings, &report) else { return nil }
        let (radio, process) = (rig.radio, rig.process)
        let clients = BadClients(process.socketPath, radio, ports: ports, line: line)
        if isBad {
            clients.live(seconds: options.roundSeconds)
            counts.add(clients.counts)
        } else {
            _ = radio.serve(seconds: options.roundSeconds) { false }
        }
        guard let status = process.status(where: { _ in true }) else {
            report.fail("the daemon no longer answers: \(process.log)")
            return nil
        }
        var timing = Timing()
        for entry in status["loop"]?["stages"]?.array ?? [] {
            guard let stage = entry["name"]?.string.flatMap(Stage.init) else { continue }
            timing.p50[stage] = entry["p50_us"]?.number
            timing.p99[stage] = entry["p99_us"]?.number
        }
        timing.overruns = status["loop"]?["overruns"]?.number ?? .nan
        let end = process.stop()
        if end.status != 0 { report.fail("the daemon ended with \(end.status): \(process.log)") }
        return timing
    }
}
