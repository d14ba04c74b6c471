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

        init(
            _ directory: FilePath, _ configuration: LoadedConfiguration = LoadedConfiguration()
        ) {
            let logStore = LogStore(isJournal: true)
            store = logStore
            let log = Logger(label: "test") { _ in StoreLogHandler(store: logStore) }
            let stateOwner = StateOwner(directory: directory.string, log: log)
            let parameters = stateOwner.load(into: configuration)
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

        /// Check of the calibrations in `doctor`.
        var check: DoctorCheck? {
            tuning.calibrations.check(of: tuning.settings.calibrationKinds)
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

    @Test(
        "a step of the set-up is open again if undo has removed its only calibration",
        arguments: [([0.01], nil), ([0.01, 0.02], "done")] as [([Double], String?)])
    func setupStep(offsets: [Double], state: String?) throws {
        try withTemporaryDirectory { directory in
            let life = Life(directory)
            for offset in offsets { try life.apply(Self.gyro(offset)) }
            try awaited { life.tuning.finishSetup("gyro", "done", by: "test", $0) }
            #expect(life.tuning.setupSteps["gyro"]?.state == "done")
            #expect(try life.undo() == .gyro)
            #expect(life.tuning.setupSteps["gyro"]?.state == state)
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

    private func configuration(_ chip: String) throws -> LoadedConfiguration {
        try ConfigurationLoader.load(
            ConfigurationSource(
                config: "/dev/null",
                overrides: [
                    "hardware.backend=linux", "motors.type=servo", "loop.rate_hz=200",
                    "hardware.linux.imu=\(chip)",
                ]))
    }

    @Test("a calibration that the configured sensor cannot use is not reported")
    func withoutMagnetometer() throws {
        try withTemporaryDirectory { directory in
            let first = Life(directory, try configuration("mpu9250"))
            try first.apply(
                CalibrationRecord(
                    kind: .magnetometer, values: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], sigma: 1,
                    residual: 1, date: 0, temperature: nil))
            #expect(Life(directory, try configuration("bmi088")).check == nil)
            #expect(Life(directory, try configuration("icm20948")).check != nil)
        }
    }

    @Test(
        "the uncertainty of a saved offset grows by the temperature coefficient of the chip",
        arguments: [("bmi088", 0.015), ("mpu6050", 0.16), ("mpu9250", 0.24), ("icm20948", 0.05)])
    func temperatureCoefficient(chip: String, perKelvin: Double) throws {
        try withTemporaryDirectory { directory in
            let first = Life(directory, try configuration(chip))
            var record = Self.gyro(0.01)
            record.temperature = 20
            try first.apply(record)
            let prior = Life(directory, try configuration(chip)).tuning.correction.gyroBias
            let (same, warmer) = (prior.sigma(at: 20), prior.sigma(at: 40))
            let drift = Angle.radians((warmer * warmer - same * same).squareRoot()).degrees
            #expect(abs(drift - 20 * perKelvin) < 1e-6)
        }
    }

    @Test("a calibration of another sensor is ignored and reported, until its sensor returns")
    func otherSensor() throws {
        try withTemporaryDirectory { directory in
            let first = Life(directory, try configuration("bmi088"))
            try first.apply(Self.gyro(0.01))
            #expect(first.check == nil)

            let second = Life(directory, try configuration("mpu6050"))
            #expect(!second.tuning.correction.gyroBias.isKnown)
            #expect(second.tuning.calibrations.record(.gyro) == nil)
            let check = try #require(second.check)
            #expect(check.finding.contains("bmi088 on /dev/i2c-1, address 0x18"), "\(check)")
            let log = second.store.page(since: 0, limit: 100).lines.map(\.message)
            #expect(log.contains { $0.contains("The saved calibration gyro belongs to another") })
            // A calibration of another kind does not remove the ignored calibration.
            try second.apply(
                CalibrationRecord(
                    kind: .mounting, values: [0, 1, 0, 0], sigma: 0.01, residual: 0, date: 0,
                    temperature: nil))

            let third = Life(directory, try configuration("bmi088"))
            #expect(third.tuning.correction.gyroBias.bias.x == 0.01)
            #expect(third.tuning.correction.mounting == .identity)
        }
    }

    @Test("a calibration of an earlier version, without a sensor, is valid for every sensor")
    func earlierVersion() {
        let record = Self.gyro(0.01)
        var book = ActiveCalibrations()
        book.apply(record)
        let (read, _) = ActiveCalibrations.read(book.saved, sensor: "bmi088 on /dev/i2c-1")
        #expect(read.record(.gyro) == record)
        #expect(read.ignored.isEmpty)
    }

    @Test("an implausible result is refused, and nothing is saved")
    func implausible() throws {
        try withTemporaryDirectory { directory in
            let life = Life(directory)
            #expect(throws: Refusal.self) { try life.apply(Self.gyro(3)) }
            #expect(life.tuning.calibrations.record(.gyro) == nil)
        }
    }

    @Test("a result that cannot be written does not take effect")
    func readOnly() {
        let life = Life("/proc/airframe-nowhere")
        #expect(throws: Refusal.self) { try life.apply(Self.gyro(0.01)) }
        #expect(!life.tuning.correction.gyroBias.isKnown)
    }
}
