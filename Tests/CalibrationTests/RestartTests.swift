import Calibration
import Configuration
import GimbalCore
import Logging
import Persistence
import Policy
import Port
import Realtime
import Simulation
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Calibrations after a restart")
struct RestartTests {
    /// Parts of the daemon that a restart creates again, with a state directory.
    struct Life {
        let tuning: Tuning
        let store: LogStore

        init(_ directory: FilePath) {
            let logStore = LogStore(isJournal: true)
            store = logStore
            let log = Logger(label: "test") { _ in StoreLogHandler(store: logStore) }
            let stateOwner = StateOwner(directory: directory.string, log: log)
            let parameters = stateOwner.load(into: LoadedConfiguration())
            let stabilizer = parameters.settings.stabilizerParameters(
                calibrated: stateOwner.calibrations)
            let assembly = GimbalRuntime.assemble(
                parameters: stabilizer,
                bus: SimulatedBus(
                    parameters: SimulatedGimbal.Parameters(), motion: BaseMotion(.still, seed: 1),
                    seed: 1))
            tuning = Tuning(
                store: parameters, source: ConfigurationSource(), stateOwner: stateOwner,
                correction: stabilizer.correction, mailbox: assembly.tuning,
                commander: Commander(
                    ring: assembly.commands, bootMode: .inactive, rules: Commander.Rules()),
                log: log
            ) { logStore.setMinimum($0.logLevel) }
        }

        func apply(_ record: CalibrationRecord) throws {
            try awaited { tuning.apply(record, by: "test", $0) }
        }

        func undo() throws -> CalibrationKind { try awaited { tuning.undo(nil, by: "test", $0) } }
    }

    static func gyro(_ x: Double) -> CalibrationRecord {
        CalibrationRecord(
            kind: .gyro, values: [x, 0, 0], sigma: 2e-4, residual: 2e-4, date: WallClock.seconds,
            temperature: nil)
    }

    @Test("a saved calibration takes effect again, with a larger uncertainty")
    func survives() throws {
        try withTemporaryDirectory { directory in
            let first = Life(directory)
            try first.apply(Self.gyro(0.01))
            #expect(first.tuning.correction.gyroBias.sigma == 2e-4)
            let second = Life(directory)
            let prior = second.tuning.correction.gyroBias
            #expect(prior.bias == Vector3(0.01, 0, 0))
            #expect(prior.sigma > 2e-4)
            // The uncertainty is small enough to start without a rest phase.
            #expect(prior.sigma < AttitudeEstimator.Parameters().convergedBiasSigma)
        }
    }

    @Test("undo restores the previous calibration, even after a restart")
    func undo() throws {
        try withTemporaryDirectory { directory in
            let first = Life(directory)
            try first.apply(Self.gyro(0.01))
            try first.apply(Self.gyro(0.02))
            let second = Life(directory)
            #expect(try second.undo() == .gyro)
            #expect(second.tuning.correction.gyroBias.bias.x == 0.01)
            let third = Life(directory)
            #expect(third.tuning.correction.gyroBias.bias.x == 0.01)
            #expect(throws: Refusal.self) { _ = try third.undo() }
        }
    }

    @Test("a calibration of one sensor does not change the other sensors")
    func others() throws {
        try withTemporaryDirectory { directory in
            let life = Life(directory)
            try life.apply(Self.gyro(0.01))
            let prior = life.tuning.correction.gyroBias
            try life.apply(
                CalibrationRecord(
                    kind: .mounting, values: [0, 1, 0, 0], sigma: 0.01, residual: 0, date: 0,
                    temperature: nil))
            #expect(life.tuning.correction.gyroBias == prior)
            #expect(life.tuning.correction.mounting == Quaternion(w: 0, x: 1, y: 0, z: 0))
        }
    }

    @Test("an implausible result is refused, and nothing is saved")
    func implausible() throws {
        try withTemporaryDirectory { directory in
            let life = Life(directory)
            #expect(throws: Refusal.self) { try life.apply(Self.gyro(3)) }
            #expect(life.tuning.calibrations == ActiveCalibrations())
        }
    }

    @Test("a result that cannot be written does not take effect")
    func readOnly() {
        let life = Life("/proc/airframe-nowhere")
        #expect(throws: Refusal.self) { try life.apply(Self.gyro(0.01)) }
        #expect(!life.tuning.correction.gyroBias.isKnown)
    }
}
