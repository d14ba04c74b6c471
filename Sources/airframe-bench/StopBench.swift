import GimbalCore
import Glibc
import Realtime
import Wire

/// How long the answer to an emergency stop takes while the disk takes a second for each fsync(2), and while four other clients
/// ask for every setting, 64 KiB at a time.
enum StopBench {
    /// Stops in each of the two runs.
    private static let stops = 500
    /// Clients that ask.
    private static let crowd = 4

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let library = DaemonProcess.neighbour("libSlowDisk.so")
        guard access(library, R_OK) == 0 else {
            return report.fail("\(library) is not there: build the product SlowDisk")
        }
        for crowd in [0, crowd] {
            let label = crowd == 0 ? "slow disk" : "slow disk and \(crowd) clients that ask"
            let process = try DaemonProcess(
                daemon, settings: ["hardware.simulation.motion=walking"], slowDisk: library)
            guard process.status(where: { $0["enabled"]?.bool == true }) != nil,
                let times = times(process.socketPath, crowd)
            else { return report.fail("\(label): the daemon does not answer: \(process.log)") }
            report.show("\(label): a stop, median", median(times) * 1000, "ms")
            report.check(
                "\(label): a stop, 99th percentile", times.sorted()[times.count * 99 / 100] * 1000,
                atMost: 5, "ms")
            _ = process.stop()
        }
    }

    /// How long each stop takes, s; nil when one is not answered.
    private static func times(_ path: String, _ crowd: Int) -> [Double]? {
        guard let client = BenchClient(path), let saver = BenchClient(path) else { return nil }
        let askers = (0..<crowd).compactMap { _ in BenchClient(path) }
        let names = [String](repeating: "\"hardware\"", count: 5900).joined(separator: ",")
        let question = #"{"id":1,"method":"get","params":{"keys":[\#(names)]}}"#
        for asker in askers { _ = asker.send(question) }
        var saves = 0
        var times: [Double] = []
        while times.count < stops {
            if saves == 0 || saver.line(waitMilliseconds: 0) != nil {
                saves += 1
                let value = 100 + saves
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
            times.append(MonotonicClock.now.seconds(since: asked))
            usleep(5000)
        }
        return times
    }
}
