import Calibration
import GimbalCore
import Glibc
import Simulation
import Testing

@Suite("Ellipsoid calibration of the magnetometer")
struct MagnetometerCalibrationTests {
    typealias Outcome = CalibrationOutcome<MagnetometerCalibration.Result>

    static var iron: SensorCorrection.Affine {
        var truth = SensorCorrection.Affine()
        truth.offset = Vector3(40, -25, 60)
        truth.rowX = Vector3(1.1, 0.06, -0.04)
        truth.rowY = Vector3(0.06, 0.92, 0.03)
        truth.rowZ = Vector3(-0.04, 0.03, 1.0)
        return truth
    }

    /// Tumbles the sensor for up to 184 s at 50 Hz; `flat` turns it only about the vertical.
    static func run(flat: Bool = false, drift: Double = 0) throws -> Outcome {
        let inverse = try #require(Inverse(iron))
        var random = RandomSource(seed: 5, stream: 1)
        var calibration = MagnetometerCalibration()
        var outcome = Outcome.collecting
        var attitude = Quaternion.identity
        for step in 0..<9200 {
            guard case .collecting = outcome else { break }
            let t = Double(step) / 50
            let rate =
                flat ? Vector3(0, 0, 1) : Vector3(0.9, 1.3 * (t.remainder(dividingBy: 7)) / 3, 0.7)
            attitude = (attitude * Quaternion(rotationVector: rate * 0.02)).normalized
            let field = attitude.inverseRotate(Vector3(20, 0, 44))
            let n = Vector3(random.gaussian(), random.gaussian(), random.gaussian()) * 0.3
            let wander = Vector3(0, drift * t.remainder(dividingBy: 5), 0)
            outcome = calibration.add(field: inverse.raw(field + wander) + n, dt: 0.02)
        }
        return outcome
    }

    @Test("hard and soft iron are corrected: constant strength within 2 %, direction within 1.5°")
    func finds() throws {
        guard case .done(let result) = try Self.run() else {
            Issue.record("refused")
            return
        }
        #expect((result.correction.offset - Self.iron.offset).norm < 1.5)
        #expect(result.residual < 0.02 * result.field)
        // The overall scale of the matrix cannot be measured, and does not affect the direction.
        let inverse = try #require(Inverse(Self.iron))
        for direction in [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0.6, 0.8)] {
            let found = result.correction.apply(inverse.raw(direction * 48))
            #expect(found.cross(direction).norm / found.norm < 0.026)
        }
    }

    @Test("a turn about only one axis is refused, and the missing directions are counted")
    func flat() throws {
        guard case .refused(let reason) = try Self.run(flat: true) else {
            Issue.record("a circle was accepted as an ellipsoid")
            return
        }
        #expect(reason.contains("of 8 directions"))
    }

    @Test("a hand that trembles during a turn about one axis adds no direction", arguments: 1...4)
    func trembling(seed: Int) {
        var random = RandomSource(seed: UInt64(seed), stream: 1)
        var calibration = MagnetometerCalibration()
        var outcome = Outcome.collecting
        for step in 0..<9200 {
            guard case .collecting = outcome else { break }
            let t = Double(step) / 50
            let attitude = Quaternion.aboutZ(t) * Quaternion.aboutX(0.2 * cos(1.3 * t))
            let field = attitude.inverseRotate(Vector3(20, 0, 44))
            let n = Vector3(random.gaussian(), random.gaussian(), random.gaussian()) * 0.3
            outcome = calibration.add(field: field + n, dt: 0.02)
        }
        #expect(calibration.octants == 4)
        guard case .refused(let reason) = outcome else {
            Issue.record("a disc was accepted as an ellipsoid")
            return
        }
        #expect(reason.contains("cover 4 of 8 directions"), "\(reason)")
    }

    @Test("a magnetic field that changes during the calibration is refused")
    func disturbed() throws {
        guard case .refused(let reason) = try Self.run(drift: 6) else {
            Issue.record("a disturbed field was accepted")
            return
        }
        #expect(reason.contains("Move away from iron"), "\(reason)")
    }
}
