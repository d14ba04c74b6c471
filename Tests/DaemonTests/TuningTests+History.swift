import GimbalCore
import Policy
import Port
import Realtime
import TestSupport
import Testing
import Wire

@testable import Daemon

// Tests of the history of changes.
extension TuningTests {
    @Test("the history lists every change in order with its author, including automatic reverts")
    func history() throws {
        try withTemporaryDirectory { directory in
            let bench = try Bench(directory)
            try bench.set(.int(90))
            _ = try bench.tuning.save(by: "somebody")
            try bench.set(.int(120), rollback: 1)
            bench.tuning.advance(now: bench.tuning.clock.now.advanced(bySeconds: 2))
            let entries = bench.tuning.history.entries
            #expect(
                entries.map(\.what) == [
                    "set \(Self.key) = 90", "saved the tuning",
                    "set \(Self.key) = 120; reverts after 1 s unless saved",
                    "reverted the last change, which was not saved in time",
                ])
            #expect(entries.map(\.who)[1] == "somebody" && entries.map(\.who)[3] == "airframed")
            let times = entries.compactMap(\.time.known)
            #expect(times == times.sorted() && times.count == 4)
        }
    }

    @Test("the active value of a setting that needs a restart adds no history entry")
    func unchangedHistory() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            _ = try bench.tuning.set(
                key: "hardware.backend", value: "simulated", rollback: nil, by: Self.client)
            #expect(bench.tuning.history.entries.isEmpty)
        }
    }

    @Test("a refused change of the saved state does not lose earlier entries of the history")
    func refusedChange() throws {
        try withTemporaryDirectory { directory throws in
            let first = try Bench(directory)
            try first.set(.int(90))
            #expect(throws: Refusal.self) {
                try awaited { first.tuning.deleteBaseline("missing", by: "test", $0) }
            }
            first.tuning.close()
            let second = try Bench(directory)
            #expect(second.tuning.history.entries.map(\.what) == ["set \(Self.key) = 90"])
        }
    }

    @Test("each save and the regular end of the program store the history for the next start")
    func historyOverRestarts() throws {
        try withTemporaryDirectory { directory in
            let first = try Bench(directory)
            try first.set(.int(90))
            _ = try first.tuning.save(by: "somebody")
            try first.set(.int(120))
            // `first` is not closed, as in a crash: its last change and the history entry of that
            // change are lost.
            let second = try Bench(directory)
            #expect(second.tuning.history.entries == Array(first.tuning.history.entries.prefix(2)))
            try second.set(.int(110))
            second.tuning.close()
            let third = try Bench(directory)
            #expect(
                third.tuning.history.entries.map(\.what) == [
                    "set \(Self.key) = 90", "saved the tuning", "set \(Self.key) = 110",
                ])
            #expect(third.value == 90, "an unsaved change ends with the process")
        }
    }
}
