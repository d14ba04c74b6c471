import Configuration
import GimbalCore
import Links
import Policy
import Port
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Autotune in the daemon") struct AutotuneServiceTests {
    private func run(_ bench: BluetoothBench) throws -> AutotuneReport {
        _ = try bench.autotuning.start(
            axes: [.pitch], apply: false, owner: BluetoothBench.laptop, author: ("test", .people),
            now: bench.now)
        let running = AutotuneReport.State.running.rawValue
        let seconds = bench.run(until: { bench.autotuning.status.state != running }, atMost: 120)
        try #require(seconds != nil)
        return bench.autotuning.status
    }

    @Test("results are refused if a temporary change of the tuning ended during the run")
    func changedTuning() throws {
        try withBench { bench, _ throws in
            try bench.start()
            _ = try bench.tuning.set(
                key: "control.feed_forward", value: .double(0.9), rollback: 5, by: "test")
            let report = try run(bench)
            #expect(bench.tuning.settings.control.feedForward == 1)
            #expect(report.state == AutotuneReport.State.refused.rawValue)
            #expect(report.sentence.contains("has changed"), "\(report.sentence)")
            // Without a change, the run has results.
            let next = try run(bench)
            #expect(next.state != AutotuneReport.State.refused.rawValue, "\(next.sentence)")
        }
    }
}
