import GimbalCore
import Testing

@Suite("The stabilizer with a magnetometer")
struct StabilizerMagnetometerTests {
    /// Simulates 2 s at rest and level at 200 Hz, with the magnetic field of central Europe: 20 µT
    /// to the north and 44 µT down.
    func run(withField: Bool) -> StabilizerSnapshot {
        var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
        for tick in 1...400 {
            let now = Instant(nanoseconds: Int64(tick) * 5_000_000)
            let flicker = 1e-6 * Double(tick % 7)
            var sample = IMUSample(
                time: now, gyro: Vector3(flicker, 0, 0), accel: Vector3(0, 0, -9.80665))
            if withField {
                sample.magneticField = Vector3(20, 0, 44)
                sample.contents.insert(.magneticField)
            }
            stabilizer.integrate(sample)
            _ = stabilizer.step(now: now)
        }
        return stabilizer.snapshot
    }

    @Test("learns the heading, and leaves attitude, bias and inclination bit-identical")
    func heading() {
        let without = run(withField: false)
        let with = run(withField: true)
        #expect(with.headingSigma < 0.2)
        #expect(without.headingSigma > 1)
        #expect(with.attitude == without.attitude)
        #expect(with.bias == without.bias)
        #expect(with.inclinationSigma == without.inclinationSigma)
    }

    @Test("the first field is one measurement, however long the computer has been running")
    func firstField() {
        var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
        for tick in 1...20 {
            let now = Instant(nanoseconds: 100_000_000_000_000 + Int64(tick) * 5_000_000)
            var sample = IMUSample(
                time: now, gyro: Vector3(1e-6 * Double(tick % 7), 0, 0),
                accel: Vector3(0, 0, -9.80665))
            sample.magneticField = Vector3(20, 0, 44)
            sample.contents.insert(.magneticField)
            stabilizer.integrate(sample)
            _ = stabilizer.step(now: now)
        }
        #expect(stabilizer.snapshot.headingSigma > 0.03, "\(stabilizer.snapshot.headingSigma)")
    }

    @Test("the snapshot keeps the field of an earlier sample, for the calibration")
    func olderField() {
        var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
        // Two samples per tick; the magnetometer measures with each tenth sample.
        for number in 1...100 {
            let now = Instant(nanoseconds: Int64(number) * 1_000_000)
            var sample = IMUSample(
                time: now, gyro: Vector3(1e-6 * Double(number % 7), 0, 0),
                accel: Vector3(0, 0, -9.80665))
            if number % 10 == 5 {
                sample.magneticField = Vector3(Double(number), 0, 44)
                sample.contents.insert(.magneticField)
            }
            stabilizer.integrate(sample)
            if number % 2 == 0 { _ = stabilizer.step(now: now) }
        }
        #expect(stabilizer.snapshot.rawMagneticField == Vector3(95, 0, 44))
        #expect(stabilizer.snapshot.magneticTime == Instant(nanoseconds: 95_000_000))
    }
}
