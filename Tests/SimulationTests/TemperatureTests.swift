import GimbalCore
import Simulation
import Testing

@Suite("The sensor's temperature")
struct TemperatureTests {
    @Test("the simulated sensor warms up, says so in steps of 0.125 K, and its offset drifts")
    func warmUp() {
        var parameters = IMUModel.Parameters()
        parameters.gyroBiasWander = 0
        parameters.accelBiasWander = 0
        parameters.sampleRate = 10
        parameters.warmUp = 10
        var imu = IMUModel(parameters: parameters, feedRate: 10, seed: 1)
        let cold = imu.gyroBias
        var sample = imu.sample(time: Instant(nanoseconds: 0))
        #expect(sample.contents.contains(.temperature))
        #expect(sample.temperature == 25)
        for tick in 1...1800 as ClosedRange<Int64> {
            sample = imu.sample(time: Instant(nanoseconds: tick * 100_000_000))
        }
        // One time constant of the way to ten kelvin more.
        #expect(abs(sample.temperature - 31.32) < 0.15)
        #expect((sample.temperature / 0.125).rounded() == sample.temperature / 0.125)
        let drift = Angle.radians((imu.gyroBias - cold).norm / 3.0.squareRoot()).degrees
        #expect(abs(drift - 0.015 * 6.32) < 0.002)
    }

    /// One still sample a millisecond, from a sensor at this temperature, °C.
    private func started(calibratedAt then: Double, now: Double) -> StabilizerSnapshot {
        var parameters = Stabilizer.Parameters()
        parameters.correction.gyroBias.sigma = 1e-4
        parameters.correction.gyroBias.temperature = then
        var stabilizer = Stabilizer(parameters: parameters)
        for tick in 1...20 as ClosedRange<Int64> {
            let time = Instant(nanoseconds: tick * 1_000_000)
            var sample = IMUSample(
                time: time, gyro: Vector3(1e-4 * Double(tick % 3), 0, 0),
                accel: Vector3(0, 0, -9.81))
            if !now.isNaN {
                sample.temperature = now
                sample.contents.insert(.temperature)
            }
            stabilizer.integrate(sample)
            _ = stabilizer.step(now: time)
        }
        return stabilizer.snapshot
    }

    @Test(
        "a saved bias starts as uncertain as the sensor's temperature differs, and 10 K where it tells none",
        arguments: [(20.0, 20.0, 0.0), (20, 40, 20), (40, 25, 15), (20, .nan, 10), (.nan, 40, 0)])
    func widened(then: Double, now: Double, kelvin: Double) {
        let snapshot = started(calibratedAt: then, now: now)
        let drift = Angle.degrees(0.015 * kelvin).radians
        let expected = (drift * drift + 1e-8).squareRoot()
        #expect(abs(snapshot.biasSigma.z - expected) < 0.1 * expected)
    }

    @Test("a temperature that no chip can have is ignored, the sample is not")
    func nonsense() {
        for value in [Double.infinity, -300, 1e9] {
            let snapshot = started(calibratedAt: 20, now: value)
            #expect(snapshot.temperature.isNaN)
            #expect(snapshot.samples.accepted == 20)
        }
    }
}
