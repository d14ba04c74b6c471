import GimbalCore
import Glibc
import Realtime
import Wire

/// Latency of an emergency stop over the socket while each fsync(2) takes a second and four other
/// clients send requests of 64 KiB.
enum StopBench {
    /// Number of emergency stops in each run.
    private static let stops = 500
    /// Number of other clients that send requests.
    private static let crowd = 4

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let library = DaemonProcess.neighbour("libSlowDisk.so")
        guard access(library, R_OK) == 0 else {
            return report.fail("\(library) is missing: build the product SlowDisk")
        }
        for crowd in [0, crowd] {
            let label = crowd == 0 ? "slow disk" : "slow disk, \(crowd) busy clients"
            let process = try DaemonProcess(
                daemon, settings: ["hardware.simulation.motion=walking"], slowDisk: library)
            guard process.status(where: { $0["enabled"]?.bool == true }) != nil,
                let run = measure(process.socketPath, crowd)
            else { return report.fail("\(label): the daemon does not answer: \(process.log)") }
            report.show("\(label): saves during the run", Double(run.saves), "")
            report.show("\(label): wake-up, p99", percentile99(run.delays), "ms")
            report.show("\(label): stop, p50", median(run.times) * 1000, "ms")
            report.check(
                "\(label): stop, p99", percentile99(run.times), atMost: 5, "ms")
            _ = process.stop()
        }
    }

    /// Result of one run of the bench.
    private struct Run {
        /// Latency of each emergency stop, s.
        var times: [Double] = []
        /// Delay of the bench's own wake-ups, s. A busy computer adds this delay to the latency of
        /// an emergency stop.
        var delays: [Double] = []
        /// Number of save requests during the run.
        var saves = 0
    }

    /// The 99th percentile of the latencies, ms.
    private static func percentile99(_ times: [Double]) -> Double {
        times.sorted()[times.count * 99 / 100] * 1000
    }

    /// Sends emergency stops one after the other. The result is nil if the daemon does not reply to
    /// an emergency stop.
    private static func measure(_ path: String, _ crowd: Int) -> Run? {
        guard let client = BenchClient(path), let saver = BenchClient(path) else { return nil }
        let askers = (0..<crowd).compactMap { _ in BenchClient(path) }
        let names = [String](repeating: "\"hardware\"", count: 5900).joined(separator: ",")
        let question = #"{"id":1,"method":"get","params":{"keys":[\#(names)]}}"#
        for asker in askers { _ = asker.send(question) }
        var run = Run()
        while run.times.count < stops {
            if run.saves == 0 || saver.line(waitMilliseconds: 0) != nil {
                run.saves += 1
                let value = 100 + run.saves
                guard
                    client.ask(
                        #"{"id":1,"method":"set","params":{"key":"control.max_rate_dps","value":\#(value)}}"#
                    ) != nil, saver.send(#"{"id":1,"method":"save"}"#)
                else { return nil }
            }
            for asker in askers where asker.line(waitMilliseconds: 0) != nil {
                _ = asker.send(question)
            }
            let asked = MonotonicClock.now
            guard client.ask(#"{"id":1,"method":"stop"}"#) != nil else { return nil }
            let answered = MonotonicClock.now
            run.times.append(answered.seconds(since: asked))
            usleep(5000)
            run.delays.append(MonotonicClock.now.seconds(since: answered) - 0.005)
        }
        return run
    }
}
