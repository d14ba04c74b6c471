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
}
