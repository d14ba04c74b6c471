import Configuration
import Dispatch
import GimbalCore
import Persistence
import Policy
import Port
import Realtime
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

// Tests of saves that meet other events.
extension TuningTests {
    @Test("a value whose rollback time ends while a save begins is either saved or reverted")
    func expiresDuringSave() throws {
        try withTemporaryDirectory { directory throws in
            var calls = FileCalls.system
            calls.sync = { (_) throws(Errno) in }
            let bench = try Bench(directory, calls: calls)
            let tuning = bench.tuning
            let timer = DispatchQueue(label: "end of the rollback time")
            for round in 0..<400 {
                try bench.set(.int(100 + round), rollback: 30)
                // The rollback time ends at another moment of each save.
                let moment = tuning.clock.now.advanced(bySeconds: Double(round) * 1e-6)
                timer.async {
                    while tuning.clock.now < moment {}
                    tuning.advance(now: moment.advanced(bySeconds: 31))
                }
                _ = try tuning.save(by: "test")
                timer.sync {}
                // A save sends nothing to the loop. Therefore a value that is saved after its
                // rollback differs from the loop's value.
                let rate = bench.taken().controller.maxRate
                #expect(abs(rate - Angle.degrees(bench.value).radians) < 1e-9, "save \(round)")
            }
        }
    }

    @Test("a value that is valid only with a temporary change is discarded with it, alone")
    func validOnlyDuringTrial() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            try bench.set(100)
            _ = try bench.tuning.set(
                key: "commander.dead_man_s", value: 0.2, rollback: 30, by: Self.client)
            _ = try bench.tuning.set(
                key: "commander.release_after_s", value: 0.5, rollback: nil, by: Self.client)
            _ = try bench.tuning.set(
                key: "control.feed_forward", value: 0.5, rollback: nil, by: Self.client)
            // An app's save is based on the values after the end of the temporary change.
            let phone = CommandSource(link: .airos, connection: 1)
            try bench.tuning.save([Self.key], from: phone, by: "phone")
            #expect(bench.tuning.stateOwner.saved.parameters == [Self.key: "100"])

            bench.tuning.advance(now: bench.tuning.clock.now.advanced(bySeconds: 31))
            #expect(bench.tuning.settings.commander.deadManS == 1)
            #expect(bench.tuning.settings.commander.releaseAfterS == 10)
            #expect(bench.tuning.settings.control.feedForward == 0.5)
            #expect(bench.value == 100)
            #expect(bench.tuning.configurationStatus.unsaved == ["control.feed_forward"])
            let last = try #require(bench.tuning.history.entries.last)
            #expect(last.who == "airframed" && last.what.hasPrefix("discarded"), "\(last)")
            #expect(last.what.hasSuffix(": commander.release_after_s"), "\(last)")
        }
    }

    @Test(
        "an assistant does not overwrite a baseline that a person has just stored",
        .timeLimit(.minutes(1)))
    func simultaneousBaselines() throws {
        try withTemporaryDirectory { directory throws in
            let gate = GatedDisk()
            let bench = try Bench(directory, calls: gate.calls)
            let tuning = bench.tuning
            gate.shut(true)
            try bench.set(80)
            tuning.baseline(.store("good"), by: "person") { _ in }
            try gate.waitForWrite()
            try bench.set(90)
            let refusal = #expect(throws: Refusal.self) {
                try awaited { (answer: @escaping Later<BaselineReport>) in
                    tuning.baseline(.store("good"), owner: .assistants, by: "assistant", answer)
                    gate.shut(false)
                }
            }
            #expect(refusal?.code == .permissionDenied && refusal?.field == "name")
            #expect(try tuning.stateOwner.saved.baseline("good") == [Self.key: "80"])
        }
    }

    @Test(
        "a value that is set back during a save is saved by the next save, also by that of a phone",
        .timeLimit(.minutes(1)), arguments: [false, true])
    func setBackDuringSave(isPhone: Bool) throws {
        try withTemporaryDirectory { directory throws in
            let gate = GatedDisk()
            let bench = try Bench(directory, calls: gate.calls)
            let tuning = bench.tuning
            func save(_ answer: @escaping Later<Void>) throws {
                guard isPhone else {
                    return tuning.save(by: "test") { answer($0.map { _ in }) }
                }
                let phone = CommandSource(link: .airos, connection: 1)
                try tuning.save([Self.key], with: [], from: phone, ("phone", "saved"), answer)
            }
            try bench.set(80)
            try awaited(save)
            gate.syncs.withLock { $0 = 0 }
            gate.shut(true)
            try bench.set(90)
            try save { _ in }
            try gate.waitForWrite()
            try bench.set(80)
            try awaited { (answer: @escaping Later<Void>) in
                try save(answer)
                gate.shut(false)
            }
            #expect(bench.value == 80)
            #expect(tuning.stateOwner.saved.parameters == [Self.key: "80"])
        }
    }
}
