import Configuration
import GimbalCore
import Persistence
import Policy
import Port
import TestSupport
import Testing
import Wire

@testable import Daemon

// Tests of the set-up's steps.
extension TuningTests {
    @Test("the values that a step of the set-up has saved can be removed after a new beginning")
    func undoAfterAgain() throws {
        try withTemporaryDirectory { directory throws in
            let tuning = try Bench(directory).tuning
            let reversed = SettingUpdate(\.motors.direction, AxisVector(yaw: -1, roll: 1, pitch: 1))
            try awaited { tuning.finishSetup("motors", "restart", [reversed], by: "test", $0) }
            try awaited { tuning.forgetSetup(by: "test", $0) }
            #expect(tuning.setupSteps["motors"]?.state == "open")
            #expect(tuning.standing.store.hasWaitingWiring)
            try awaited { tuning.undoSetup(["motors"], by: "test", $0) }
            #expect(!tuning.standing.store.hasWaitingWiring)
        }
    }

    @Test("the undo of a step removes its earlier values, also if the step was then skipped")
    func undoAfterSkip() throws {
        try withTemporaryDirectory { directory throws in
            let tuning = try Bench(directory).tuning
            let reversed = SettingUpdate(\.motors.direction, AxisVector(yaw: -1, roll: 1, pitch: 1))
            try awaited { tuning.finishSetup("motors", "restart", [reversed], by: "test", $0) }
            try awaited { tuning.forgetSetup(by: "test", $0) }
            try awaited { tuning.finishSetup("motors", "skipped", [], by: "test", $0) }
            #expect(tuning.standing.store.hasWaitingWiring)
            try awaited { tuning.undoSetup(["motors"], by: "test", $0) }
            #expect(!tuning.standing.store.hasWaitingWiring)
        }
    }

    @Test("the undo of a set-up that runs again restores the values of the earlier set-up")
    func undoSecondRun() throws {
        try withTemporaryDirectory { directory throws in
            let tuning = try Bench(directory).tuning
            func direction(_ yaw: Double) -> SettingUpdate {
                SettingUpdate(\.motors.direction, AxisVector(yaw: yaw, roll: -1, pitch: 1))
            }
            try awaited { tuning.finishSetup("motors", "restart", [direction(-1)], by: "test", $0) }
            try awaited { tuning.forgetSetup(by: "test", $0) }
            try awaited { tuning.finishSetup("motors", "restart", [direction(1)], by: "test", $0) }
            try awaited { tuning.undoSetup(["motors"], by: "test", $0) }
            let saved = tuning.standing.store.savedOverlay["motors.direction"]
            #expect(saved == "[-1, -1, 1]")
        }
    }

    @Test("the rest pose that a step of the set-up saves takes effect at once")
    func restPose() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            func pitch() -> Double { bench.taken().modes.retractJoints.pitch }
            #expect(abs(pitch() - Angle.degrees(-90).radians) < 1e-9)
            let range = AxisRanges(
                lower: AxisVector(yaw: -170, roll: -45, pitch: -60),
                upper: AxisVector(yaw: 170, roll: 45, pitch: 60))
            let updates = [
                SettingUpdate(\.joints.rangeDeg, range),
                SettingUpdate(\.retract.jointsDeg, AxisVector(yaw: 0, roll: 0, pitch: -50)),
            ]
            try awaited { bench.tuning.finishSetup("joints", "restart", updates, by: "test", $0) }
            #expect(bench.tuning.settings.retract.jointsDeg.pitch == -50)
            #expect(abs(pitch() - Angle.degrees(-50).radians) < 1e-9)
        }
    }

    @Test(
        "a save keeps the wiring that a step has just written to the disk", .timeLimit(.minutes(1)))
    func saveDuringStep() throws {
        try withTemporaryDirectory { directory throws in
            let gate = GatedDisk()
            let bench = try Bench(directory, calls: gate.calls)
            let tuning = bench.tuning
            try bench.set(.int(90))
            gate.shut(true)
            tuning.storeBaseline("first", by: "test") { _ in }
            try gate.waitForWrite()
            let reversed = SettingUpdate(\.motors.direction, AxisVector(yaw: -1, roll: 1, pitch: 1))
            // The disk writes the second baseline and the step together. The save begins between
            // this write and the commit of the step.
            try awaited { (answer: @escaping Later<String>) in
                tuning.storeBaseline("second", by: "test") { _ in
                    tuning.save(by: "test", answer)
                }
                tuning.finishSetup("motors", "restart", [reversed], by: "test") { _ in }
                gate.shut(false)
            }
            let saved = tuning.stateOwner.saved.parameters
            #expect(saved == [Self.key: "90", "motors.direction": "[-1, 1, 1]"])
            #expect(tuning.standing.store.hasWaitingWiring)
        }
    }
}
