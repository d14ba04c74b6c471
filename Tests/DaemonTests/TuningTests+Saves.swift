import Dispatch
import GimbalCore
import Persistence
import Policy
import Realtime
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
}
