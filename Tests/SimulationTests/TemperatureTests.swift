import GimbalCore
import Simulation
import Testing

@Suite("Temperature of the sensor")
struct TemperatureTests {
    @Test("the simulated sensor warms up, reports steps of 0.125 K, and its offset drifts")
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
        // After one time constant, the sensor has warmed by 63 % of 10 K.
        #expect(abs(sample.temperature - 31.32) < 0.15)
        #expect((sample.temperature / 0.125).rounded() == sample.temperature / 0.125)
        let drift = Angle.radians((imu.gyroBias - cold).norm / 3.0.squareRoot()).degrees
        #expect(abs(drift - 0.015 * 6.32) < 0.002)
    }

    /// Runs a still sensor at the temperature `now` for 20 ms, with a bias that was calibrated at
    /// `then`, °C.
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
        "the uncertainty of a saved bias grows with the temperature difference, or with 10 K if the temperature is unknown",
        arguments: [(20.0, 20.0, 0.0), (20, 40, 20), (40, 25, 15), (20, .nan, 10), (.nan, 40, 0)])
    func widened(then: Double, now: Double, kelvin: Double) {
        let snapshot = started(calibratedAt: then, now: now)
        let drift = Angle.degrees(0.015 * kelvin).radians
        let expected = (drift * drift + 1e-8).squareRoot()
        #expect(abs(snapshot.biasSigma.z - expected) < 0.1 * expected)
    }

    @Test("an estimate that restarts on a warm sensor does not trust a bias from a cold sensor")
    func restart() {
        var parameters = Stabilizer.Parameters()
        parameters.bootMode = .inactive
        parameters.correction.gyroBias.sigma = 1e-4
        parameters.correction.gyroBias.temperature = 20
        var stabilizer = Stabilizer(parameters: parameters)
        var since = 0
        // After 5 s the sensor is warm, and is remounted upside down.
        for tick in 1...15_000 as ClosedRange<Int64> {
            let (time, isWarm) = (Instant(nanoseconds: tick * 1_000_000), tick > 5000)
            var sample = IMUSample(
                time: time, gyro: Vector3(1e-4 * Double(tick % 3), 0, 0),
                accel: Vector3(0, 0, isWarm ? 9.81 : -9.81))
            sample.temperature = isWarm ? 60 : 20
            sample.contents.insert(.temperature)
            stabilizer.integrate(sample)
            _ = stabilizer.step(now: time)
            if stabilizer.snapshot.conditions.intersects(.gravityMismatch) { since += 1 }
            if since == 10 { break }
        }
        #expect(since == 10)
        let drift = Angle.degrees(0.015 * 40).radians
        #expect(abs(stabilizer.snapshot.biasSigma.z - drift) < 0.1 * drift)
    }

    @Test("an impossible temperature is ignored, and the sample is used")
    func nonsense() {
        for value in [Double.infinity, -300, 1e9] {
            let snapshot = started(calibratedAt: 20, now: value)
            #expect(snapshot.temperature.isNaN)
            #expect(snapshot.samples.accepted == 20)
        }
    }
}
