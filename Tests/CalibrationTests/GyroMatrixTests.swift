import Calibration
import Port
import Simulation
import Testing
import Wire

@testable import Daemon
@testable import GimbalCore

/// Tests of the calibration of the gyroscope's scale and cross-axis sensitivity.
@Suite("Calibration of the gyroscope's matrix")
struct GyroMatrixTests {
    typealias Rig = GuidedCalibrationTests.Rig
    static let degrees = 180 / Double.pi

    /// A sensor with the largest cross-axis sensitivity and scale error in the data sheet of the
    /// MPU-6050 (2 %, 3 %), on a board with the given mounting.
    static func sensor(_ seed: UInt64, mounting: Quaternion = .identity) -> PosedSensor {
        PosedSensor(seed: seed, mounting: mounting) {
            $0.gyroMisalignment = 0.012
            $0.gyroScaleError = 0.015
        }
    }

    /// Calibrates the accelerometer on six sides.
    static func layOnSides(_ rig: inout Rig) throws {
        _ = try rig.start(.accelerometer)
        var report = CalibrationReport()
        for face in CameraFace.allCases {
            report = rig.lay(rig.sensor.attitude(face, sloppiness: 0.02), seconds: 2)
        }
        #expect(report.state == "done", "\(report.sentence)")
    }

    /// Turns the camera by hand, and puts it down in the new attitude.
    static func turn(
        _ rig: inout Rig, _ attitude: inout Quaternion, _ turn: Vector3, seconds: Double = 2
    ) -> CalibrationReport {
        var next = attitude
        _ = rig.feed { next = $0.turn(attitude, by: turn, seconds: seconds, deliver: $1) }
        attitude = next
        return rig.lay(attitude, seconds: 2.3)
    }

    /// One half turn about the vertical, and the way to the next side.
    static let tour: [(half: Vector3, side: Vector3)] = [
        (Vector3(0, 0, 3), Vector3(1.57, 0, 0)), (Vector3(0, 3.2, 0), Vector3(0, 0, -1.57)),
        (Vector3(-3.1, 0, 0), Vector3(0, -1.57, 0)), (Vector3(0, 0, -3), .zero),
    ]

    /// Runs the whole calibration, and returns the last report.
    static func calibrate(_ rig: inout Rig) throws -> CalibrationReport {
        _ = try rig.start(.gyroMatrix)
        var attitude = Quaternion.identity
        var report = rig.lay(attitude, seconds: 2)
        for (half, side) in tour {
            report = turn(&rig, &attitude, half)
            guard side.norm > 0 else { break }
            report = turn(&rig, &attitude, side, seconds: 1.5)
        }
        return report
    }

    /// Error of gravity's direction after quick turns of 170° about the vertical by the gyroscope
    /// alone, root mean square of turns in both directions, degrees.
    static func errorAfterTurn(_ sensor: PosedSensor, _ correction: SensorCorrection) -> Double {
        var sensor = sensor
        var up = Vector3.zero
        sensor.samples(.identity, seconds: 0.5) { _, accel in up += correction.accel.apply(accel) }
        up = correction.mounting.rotate(up / up.norm)
        let bias = correction.rate(sensor.imu.gyroBias)
        var squares = 0.0
        for angle in [3.0, -3.0] {
            var estimate = Quaternion.identity
            _ = sensor.turn(.identity, by: Vector3(0, 0, angle), seconds: 1.5) { gyro, _ in
                let step = (correction.rate(gyro) - bias) * PosedSensor.period
                estimate = (estimate * Quaternion(rotationVector: step)).normalized
            }
            var after = Vector3.zero
            let end = Quaternion.aboutZ(angle)
            sensor.samples(end, seconds: 0.5) { _, accel in
                after += correction.accel.apply(accel)
            }
            after = correction.mounting.rotate(after / after.norm)
            squares += (estimate.inverseRotate(up) - after).squaredNorm
        }
        return (squares / 2).squareRoot() * degrees
    }

    /// Compares the whole matrix with the sensor's errors. A common rotation of the axes belongs to
    /// the accelerometer, so only lengths and angles are compared.
    static func checkMatrix(_ rig: Rig) {
        let axes = [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)].map {
            rig.store.correction.rate(
                rig.sensor.imu.reading(ofRate: rig.sensor.mounting.inverseRotate($0)))
        }
        // The accelerometer's cross-axis terms (0.5 %) limit the accuracy.
        for axis in axes { #expect(abs(axis.norm - 1) < 0.01, "scale \(axis.norm)") }
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            #expect(abs(axes[a].dot(axes[b])) < 0.015, "cross-axis \(axes[a].dot(axes[b]))")
        }
    }

    @Test(
        "half turns on three sides reduce the tilt after a turn to less than 0.3°",
        arguments: [Quaternion.identity, .aboutX(0.8) * .aboutZ(2.5)])
    func tilt(board: Quaternion) throws {
        var (before, after) = (0.0, 0.0)
        for seed: UInt64 in 1...6 {
            var rig = Rig(mounting: board)
            rig.sensor = Self.sensor(seed, mounting: board)
            try Self.layOnSides(&rig)
            let uncorrected = Self.errorAfterTurn(rig.sensor, rig.store.correction)
            let report = try Self.calibrate(&rig)
            #expect(report.state == "done", "\(report.sentence)")
            let corrected = Self.errorAfterTurn(rig.sensor, rig.store.correction)
            #expect(corrected < 0.3, "seed \(seed): \(uncorrected)° before, \(corrected)° after")
            Self.checkMatrix(rig)
            before += uncorrected
            after += corrected
        }
        #expect(after < 0.15 * before, "\(before / 6)° before, \(after / 6)° after")
    }

    @Test("the instructions name the side and the half turn, and the report lists what is missing")
    func guide() throws {
        var rig = Rig()
        rig.sensor = Self.sensor(1)
        try Self.layOnSides(&rig)
        _ = try rig.start(.gyroMatrix)
        var attitude = Quaternion.aboutX(1.57)
        #expect(
            rig.lay(attitude, seconds: 2).instruction
                == "Within 15 s, put the camera upright, and hold it still.")
        var report = Self.turn(&rig, &attitude, Vector3(-1.57, 0, 0))
        #expect(report.missing == ["upright_turn", "side_turn", "lens_turn", "check_turn"])
        #expect(
            report.instruction
                == "Within 15 s, turn the camera by half a turn about the vertical, and hold it still. It must again be upright."
        )
        report = Self.turn(&rig, &attitude, Vector3(0, 0, 1.5))
        #expect(report.missing.first == "upright_turn")
        #expect(report.hint.hasPrefix("The camera has turned by 8"))
        report = Self.turn(&rig, &attitude, Vector3(0, 0, -4.5), seconds: 3)
        #expect(report.hint.hasPrefix("The camera has turned by 25"))
        #expect(report.missing.first == "upright_turn")
        report = Self.turn(&rig, &attitude, Vector3(0, 0, 3))
        #expect(report.missing == ["side_turn", "lens_turn", "check_turn"])
        #expect(
            report.instruction
                == "Within 15 s, put the camera on its right side, and hold it still.")
        #expect(report.hint.isEmpty)
        #expect(abs((report.progress.known ?? 0) - 0.25) < 0.05)
    }

    @Test("the calibration needs a calibrated accelerometer, and says so")
    func order() {
        let rig = Rig()
        let refusal = #expect(throws: Refusal.self) { _ = try rig.start(.gyroMatrix) }
        #expect(refusal?.message.contains("airframectl calibrate accelerometer") == true)
        #expect(!rig.store.isCalibrating)
    }

    @Test(
        "a turn that takes too long, or in which samples are missing, does not count",
        .timeLimit(.minutes(1)))
    func interrupted() throws {
        var rig = Rig()
        rig.sensor = Self.sensor(1)
        try Self.layOnSides(&rig)
        _ = try rig.start(.gyroMatrix)
        var attitude = Quaternion.identity
        _ = rig.lay(attitude, seconds: 2)
        var report = Self.turn(&rig, &attitude, Vector3(0, 0, 3), seconds: 21)
        #expect(report.missing.count == 4)
        #expect(report.hint == "The move took too long, so it does not count.")
        var next = attitude
        _ = rig.feed { next = $0.turn(attitude, by: Vector3(0, 0, 1.5), seconds: 2, deliver: $1) }
        // A gap of 60 ms in the middle of a turn.
        rig.nanoseconds += 60_000_000
        report = Self.turn(&rig, &next, Vector3(0, 0, 1.5))
        #expect(report.missing.count == 4)
        #expect(report.hint == "Samples of the sensor are missing, so the move does not count.")
        #expect(Self.turn(&rig, &next, Vector3(0, 0, 3)).missing.count == 3)
    }

    @Test("a result that the last half turn does not confirm is refused, and changes nothing")
    func unconfirmed() throws {
        var rig = Rig()
        rig.sensor = Self.sensor(1)
        try Self.layOnSides(&rig)
        let correction = rig.store.correction
        _ = try rig.start(.gyroMatrix)
        var attitude = Quaternion.identity
        _ = rig.lay(attitude, seconds: 2)
        var report = CalibrationReport()
        for (half, side) in Self.tour.dropLast() {
            _ = Self.turn(&rig, &attitude, half)
            report = Self.turn(&rig, &attitude, side, seconds: 1.5)
        }
        #expect(report.missing == ["check_turn"])
        var next = attitude
        _ = rig.feed { sensor, deliver in
            next = sensor.turn(attitude, by: Vector3(0, 0, 3), seconds: 2) { gyro, accel in
                // The cross-axis sensitivity is no longer that of the earlier turns.
                deliver(gyro + Vector3(0.03 * gyro.z, 0, 0), accel)
            }
        }
        report = rig.lay(next, seconds: 2.3)
        #expect(report.state == "refused")
        #expect(report.sentence.contains("does not confirm the result"), "\(report.sentence)")
        #expect(rig.store.correction == correction)
    }

    @Test("a sensor without errors is calibrated too, and stays accurate")
    func ideal() throws {
        var rig = Rig()
        rig.sensor = PosedSensor(seed: 2) {
            $0.gyroMisalignment = 0
            $0.gyroScaleError = 0
        }
        try Self.layOnSides(&rig)
        let report = try Self.calibrate(&rig)
        #expect(report.state == "done", "\(report.sentence)")
        // The cross-axis terms of the accelerometer limit the accuracy.
        #expect(Self.errorAfterTurn(rig.sensor, rig.store.correction) < 0.3)
    }

    @Test("a new calibration of the accelerometer or of the mounting keeps the sensors aligned")
    func laterCalibrations() throws {
        let board = Quaternion.aboutX(0.04) * .aboutY(-0.04)
        var rig = Rig()
        rig.sensor = Self.sensor(4, mounting: board)
        try Self.layOnSides(&rig)
        let report = try Self.calibrate(&rig)
        #expect(report.state == "done", "\(report.sentence)")
        #expect(Self.errorAfterTurn(rig.sensor, rig.store.correction) < 0.3)
        try Self.layOnSides(&rig)
        #expect(Self.errorAfterTurn(rig.sensor, rig.store.correction) < 0.4)
        _ = try rig.start(.mounting)
        for pose in [Quaternion.identity, .aboutY(-1)] { _ = rig.lay(pose, seconds: 2) }
        #expect(rig.store.calibrations.record(.mounting) != nil)
        #expect(Self.errorAfterTurn(rig.sensor, rig.store.correction) < 0.4)
    }

    @Test("the record is saved and read again; values that no gyroscope has are refused")
    func saved() throws {
        var rig = Rig()
        rig.sensor = Self.sensor(3)
        try Self.layOnSides(&rig)
        _ = try Self.calibrate(&rig)
        let book = rig.store.calibrations
        let (read, damaged) = ActiveCalibrations.read(book.saved)
        #expect(damaged.isEmpty)
        var record = try #require(read.record(.gyroMatrix))
        #expect(record == book.record(.gyroMatrix))
        #expect(record.isPlausible)
        record.values[1] = 0.2
        #expect(!record.isPlausible)
        record.values[1] = 0
        record.values.removeLast()
        #expect(!record.isPlausible)
    }

    @Test("a gyroscope whose scale differs too much is refused")
    func implausible() throws {
        var rig = Rig()
        rig.sensor = PosedSensor(seed: 1) { $0.gyroScaleError = 0.12 }
        try Self.layOnSides(&rig)
        let report = try Self.calibrate(&rig)
        #expect(report.state == "refused")
        #expect(report.sentence.hasPrefix("The turns contradict each other."), "\(report.sentence)")
    }

    @Test("a correction that makes readings smaller lowers the range of the gyroscope alike")
    func range() {
        var parameters = Stabilizer.Parameters()
        let full = parameters.calibratedEstimator(at: .nan).gyroRange
        parameters.correction.gyro.rowY.y = 0.97
        #expect(parameters.calibratedEstimator(at: .nan).gyroRange == 0.97 * full)
        parameters.correction.gyro.rowY.y = 1.03
        #expect(parameters.calibratedEstimator(at: .nan).gyroRange == full)
    }

    @Test("a bias that is known in the sensor frame survives a new matrix")
    func bias() {
        var correction = SensorCorrection()
        correction.mounting = .aboutX(0.7)
        correction.gyro.rowX = Vector3(0.98, 0.01, -0.01)
        correction.gyro.rowZ = Vector3(0.01, -0.02, 1.03)
        let raw = Vector3(0.1, -0.05, 0.08)
        #expect((correction.rawRate(correction.rate(raw)) - raw).norm < 0.002 * raw.norm)
    }

    @Test("a new matrix makes the estimator discard the scale errors that it has learned")
    func estimator() {
        var parameters = Stabilizer.Parameters()
        var stabilizer = Stabilizer(parameters: parameters)
        let before = stabilizer.estimator.frame
        stabilizer.apply(parameters)
        #expect(stabilizer.estimator.frame == before)
        parameters.correction.gyro.rowX.x = 0.98
        stabilizer.apply(parameters)
        #expect(stabilizer.estimator.frame == before &+ 1)
    }
}
