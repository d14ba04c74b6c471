import Configuration
import Logging
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

@Suite("Thread for the state directory") struct StateOwnerTests {
    private typealias Outcome = Mutex<Result<SavedState, any Error>?>

    @Test(
        "waiting changes are written together, in order; an invalid change does not affect the others"
    )
    func together() throws {
        try withTemporaryDirectory { directory throws in
            let gate = GatedDisk()
            let stateOwner = StateOwner(directory: "\(directory)", calls: gate.calls, log: .silent)
            gate.shut(true)
            let order = Mutex<[String]>([])
            func write(_ name: String) {
                stateOwner.write(by: "test", "stored \(name)") {
                    try $0.saveBaseline(name, ["a": name])
                } done: { result in
                    let outcome = (try? result.get()) == nil ? "refused" : "done"
                    order.withLock { $0.append("\(name) \(outcome)") }
                }
            }
            write("first")
            try gate.waitForWrite()
            for name in ["second", "not a name", "third"] { write(name) }
            #expect(order.withLock { $0 }.isEmpty)
            #expect(
                stateOwner.saved.baselineNames.isEmpty,
                "a baseline is listed only after it is on the disk")
            gate.shut(false)
            stateOwner.close(within: 10)
            #expect(
                order.withLock { $0 } == [
                    "first done", "second done", "not a name refused", "third done",
                ])
            // Two writes, each with fsync of the file and the directory.
            #expect(gate.syncs.withLock { $0 } == 4)
            #expect(
                stateOwner.history.entries.map(\.what) == [
                    "stored first", "stored second", "stored third",
                ])
            let again = StateOwner(directory: "\(directory)", log: .silent)
            _ = again.load(into: LoadedConfiguration())
            #expect(again.saved.baselineNames == ["first", "second", "third"])
        }
    }

    @Test(
        "on a blocked disk, the 65th waiting save is refused, and closing waits only for its timeout"
    )
    func hangs() throws {
        try withTemporaryDirectory { directory throws in
            let gate = GatedDisk()
            let stateOwner = StateOwner(directory: "\(directory)", calls: gate.calls, log: .silent)
            gate.shut(true, for: 5)
            let refusals = Mutex<[String]>([])
            func write() {
                stateOwner.write(by: "test", "changed") {
                    $0.mode = "locked"
                } done: { result in
                    if case .failure(let error) = result {
                        refusals.withLock { $0.append(error.message) }
                    }
                }
            }
            write()
            try gate.waitForWrite()
            for _ in 0..<65 { write() }
            #expect(refusals.withLock { $0 }.count == 1)
            #expect(refusals.withLock { $0 }.first?.contains("64 saves wait") == true)
            let began = Deadline(seconds: 0)
            stateOwner.close(within: 0.05)
            #expect(began.secondsAgo < 4)
            gate.shut(false)
        }
    }
}
