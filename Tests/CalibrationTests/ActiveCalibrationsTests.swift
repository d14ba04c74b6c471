import Calibration
import GimbalCore
import Testing

@Suite("Saved calibrations")
struct ActiveCalibrationsTests {
    static func gyro(_ x: Double, date: Double = 1000) -> CalibrationRecord {
        CalibrationRecord(
            kind: .gyro, values: [x, 0, 0], sigma: 1e-4, residual: 1e-4, date: date,
            temperature: nil)
    }
    static let mounting = CalibrationRecord(
        kind: .mounting, values: [0, 1, 0, 0], sigma: 0.01, residual: 0.02, date: 2000,
        temperature: 31)

    @Test("calibrations and their predecessors survive the state file bit for bit")
    func roundTrip() {
        var book = ActiveCalibrations()
        book.apply(Self.gyro(0.01))
        book.apply(Self.gyro(0.02))
        book.apply(Self.mounting)
        let (read, damaged) = ActiveCalibrations.read(book.saved)
        #expect(read == book)
        #expect(damaged.isEmpty)
        #expect(book.saved.values.allSatisfy { $0.allSatisfy(\.isFinite) })
    }

    @Test("undo reverts the last change first, with one step of history for each sensor")
    func undo() {
        var book = ActiveCalibrations()
        book.apply(Self.gyro(0.01))
        book.apply(Self.mounting)
        book.apply(Self.gyro(0.02))
        #expect(book.undo(nil) == .gyro)
        #expect(book.record(.gyro)?.values[0] == 0.01)
        #expect(!book.canUndo(.gyro))
        #expect(book.undo(nil) == .mounting)
        #expect(book.record(.mounting) == nil)
        #expect(book.undo(nil) == nil)
        #expect(book.undo(.gyro) == nil)
    }

    private func restart(_ book: ActiveCalibrations, with sensor: String) -> ActiveCalibrations {
        ActiveCalibrations.read(book.saved, sensors: book.savedSensors, sensor: sensor).book
    }

    @Test("each sensor keeps its calibrations when other sensors are calibrated")
    func severalSensors() {
        var book = ActiveCalibrations()
        for (sensor, bias) in [("bmi088", 0.01), ("mpu6050", 0.02), ("icm20948", 0.03)] {
            book = restart(book, with: sensor)
            #expect(book.record(.gyro) == nil && book.undo(nil) == nil)
            book.apply(Self.gyro(bias))
        }
        book = restart(book, with: "mpu6050")
        book.apply(Self.gyro(0.04))
        for (sensor, bias) in [("bmi088", 0.01), ("icm20948", 0.03), ("mpu6050", 0.04)] {
            book = restart(book, with: sensor)
            #expect(book.record(.gyro)?.values[0] == bias && book.ignored.isEmpty)
        }
        #expect(book.undo(.gyro) == .gyro)
        #expect(book.record(.gyro)?.values[0] == 0.02)
        #expect(restart(book, with: "bmi088").record(.gyro)?.values[0] == 0.01)
    }

    @Test("files of earlier versions contain another sensor's calibration as the previous one")
    func otherSensorAsPrevious() {
        var earlier = ActiveCalibrations()
        earlier.apply(Self.gyro(0.01))
        earlier.apply(Self.gyro(0.02))
        func read(_ sensor: String) -> ActiveCalibrations {
            ActiveCalibrations.read(
                earlier.saved, sensors: ["gyro": "mpu6050", "gyro.previous": "bmi088"],
                sensor: sensor
            ).book
        }
        var second = read("mpu6050")
        second.apply(Self.gyro(0.03))
        #expect(restart(second, with: "bmi088").record(.gyro)?.values[0] == 0.01)
        #expect(!read("bmi088").canUndo(.gyro))
    }

    @Test(
        "damaged calibrations are ignored and reported",
        arguments: [[Double.nan, 0, 0], [0, 0], [9, 0, 0]])
    func damaged(values: [Double]) {
        var book = ActiveCalibrations()
        book.apply(Self.mounting)
        var saved = book.saved
        saved["gyro.values"] = values
        saved["gyro.sigma"] = [1e-4]
        saved["gyro.residual"] = [0]
        saved["gyro.date_s"] = [0]
        let (read, damaged) = ActiveCalibrations.read(saved)
        #expect(read == book)
        #expect(damaged == ["gyro"])
    }

    @Test(
        "the uncertainty of the bias grows with age and temperature, and is never below the measured one"
    )
    func aging() {
        let degrees = 180 / Double.pi
        let date = GyroBiasAging.firstDate
        var record = Self.gyro(0.01, date: date)
        record.temperature = 20
        func sigma(now: Double, at temperature: Double) -> Double {
            GyroBiasAging.prior(of: record, now: date + now).sigma(at: temperature) * degrees
        }
        let fresh = sigma(now: 0, at: 20)
        let warm = sigma(now: 0, at: 40)
        let unknown = sigma(now: 0, at: .nan)
        let month = sigma(now: 30 * 86400, at: 20)
        #expect(fresh > record.sigma * degrees)
        #expect(fresh < 0.03)
        #expect(abs(warm - 0.3) < 0.01)
        #expect(abs(unknown - 0.15) < 0.01)
        #expect(month > fresh && month < 0.07)
        #expect(sigma(now: -5, at: 20) < 0.03)
        record.temperature = nil
        #expect(abs(sigma(now: 0, at: 20) - 0.15) < 0.01)
    }

    @Test(
        "a calibration with the date of a clock that was not set counts as one day old",
        arguments: [0, 1_700_000_000.0])
    func unsetClock(date: Double) {
        let now = GyroBiasAging.firstDate + 30 * 86400
        let prior = GyroBiasAging.prior(of: Self.gyro(0.01, date: date), now: now)
        let dayOld = GyroBiasAging.prior(of: Self.gyro(0.01, date: now - 86400), now: now)
        #expect(prior.sigma == dayOld.sigma)
        // The bias is known well enough to start without a measurement.
        #expect(prior.sigma < AttitudeEstimator.Parameters().convergedBiasSigma)
    }

    @Test("calibrated values override the configuration; other values come from the configuration")
    func overConfiguration() {
        var configured = SensorCorrection()
        configured.mounting = .aboutZ(0.5)
        var book = ActiveCalibrations()
        book.apply(Self.gyro(0.01))
        let before = book.correction(configured: configured, now: 1000)
        #expect(before.mounting == .aboutZ(0.5))
        #expect(before.gyroBias.bias.x == 0.01)
        book.apply(Self.mounting)
        let after = book.correction(configured: configured, now: 1000)
        #expect(after.mounting == Quaternion(w: 0, x: 1, y: 0, z: 0))
    }

    @Test(
        "a rotation of the board turns all sensors, also in old records, and a small one only the accelerometer",
        arguments: [(1, 0.956), (0.1, 0.0)])
    func rotation(scale: Double, share: Double) {
        let whole = Vector3(0.04, -0.03, 0) * scale
        let turn = Quaternion(rotationVector: whole)
        let mounting = Quaternion.aboutZ(0.5) * .aboutX(3)
        var symmetric = SensorCorrection.Affine()
        symmetric.offset = Vector3(0.1, -0.2, 0.05)
        symmetric.rowX = Vector3(1.01, 0.003, -0.002)
        symmetric.rowY = Vector3(0.003, 0.99, 0.004)
        symmetric.rowZ = Vector3(-0.002, 0.004, 1.02)
        var matrix = symmetric
        for axis in [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)] {
            let column = Vector3(
                symmetric.rowX.dot(axis), symmetric.rowY.dot(axis), symmetric.rowZ.dot(axis))
            let change = turn.rotate(column) - column
            matrix.rowX += axis * change.x
            matrix.rowY += axis * change.y
            matrix.rowZ += axis * change.z
        }
        var book = ActiveCalibrations()
        book.apply(
            CalibrationRecord(
                kind: .accelerometer, values: CalibrationRecord.values(matrix), sigma: 0.01,
                residual: 0.01, date: 0, temperature: nil))
        book.apply(
            CalibrationRecord(
                kind: .mounting, values: [mounting.w, mounting.x, mounting.y, mounting.z],
                sigma: 0.01, residual: 0, date: 0, temperature: nil))
        let correction = book.correction(configured: SensorCorrection(), now: 0)
        #expect(correction.accel.offset == symmetric.offset)
        let common = Quaternion(rotationVector: whole * share)
        let error = (mounting * common).conjugate * correction.mounting
        #expect(error.rotationVector.norm < 1e-4)
        // The corrected specific force does not depend on the share.
        let force = Vector3(3, -4, 8)
        let seen = correction.mounting.rotate(correction.accel.apply(force))
        #expect((seen - mounting.rotate(turn.rotate(symmetric.apply(force)))).norm < 1e-9)
    }

    @Test(
        "a mounting with poses that are parallel or not at rest is damaged", arguments: [9.8, 30])
    func poses(force: Double) {
        var record = Self.mounting
        record.values += [0, 0, force, 0, 0.1, force]
        #expect(!record.isPlausible)
        record.values[7...9] = [force, 0, 0]
        #expect(record.isPlausible == (force < 10))
    }
}
