import GimbalCore
import Simulation
import Testing

@Suite("IMU model")
struct IMUModelTests {
    static let feedRate = 8000.0
    static let gravity = Vector3(0, 0, -9.81)

    /// Takes `count` samples, one for every eighth simulation step, with a constant true motion.
    static func samples(
        _ imu: inout IMUModel, count: Int, rate: Vector3 = .zero, force: Vector3 = gravity
    ) -> [IMUSample] {
        (0..<count).map { i in
            for _ in 0..<8 { imu.feed(rate: rate, specificForce: force) }
            return imu.sample(time: Instant(nanoseconds: Int64(i) * 1_000_000))
        }
    }

    @Test("the ideal sensor measures the true values")
    func ideal() {
        var imu = IMUModel(parameters: .ideal, feedRate: Self.feedRate, seed: 1)
        let truth = Vector3(0.1, -0.2, 0.3)
        let sample = Self.samples(&imu, count: 1, rate: truth)[0]
        #expect(sample.gyro == truth && sample.accel == Self.gravity)
        #expect(imu.samplePeriod == 1e-3)
    }

    @Test("the noise has the density of the data sheet: 0.014 °/s/√Hz and 160/190 µg/√Hz")
    func noiseDensity() {
        var p = IMUModel.Parameters.ideal
        let sheet = IMUModel.Parameters()
        p.gyroNoiseDensity = sheet.gyroNoiseDensity
        p.accelNoiseDensity = sheet.accelNoiseDensity
        p.gyroBandwidthHz = sheet.gyroBandwidthHz
        p.accelBandwidthHz = sheet.accelBandwidthHz
        var imu = IMUModel(parameters: p, feedRate: Self.feedRate, seed: 5)
        // Means of 50 samples are limited to a band far below the filters, so their variance is d²
        // / (2 * 0.05 s).
        let n = 50
        let groups = 600
        var gyro = 0.0
        var x = 0.0
        var z = 0.0
        for _ in 0..<groups {
            let block = Self.samples(&imu, count: n)
            let g = block.reduce(0) { $0 + $1.gyro.x } / Double(n)
            let ax = block.reduce(0) { $0 + $1.accel.x } / Double(n)
            let az = block.reduce(0) { $0 + $1.accel.z + 9.81 } / Double(n)
            gyro += g * g
            x += ax * ax
            z += az * az
        }
        func density(_ sum: Double) -> Double { (sum / Double(groups) * 2 * 0.05).squareRoot() }
        #expect(abs(density(gyro) * 180 / .pi / 0.014 - 1) < 0.1)
        #expect(abs(density(x) / 9.81 / 160e-6 - 1) < 0.1)
        #expect(abs(density(z) / 9.81 / 190e-6 - 1) < 0.1)
    }

    @Test("values are quantized in steps of 2000 °/s / 32768 and limited to full scale")
    func quantisation() {
        var p = IMUModel.Parameters.ideal
        p.isQuantized = true
        var imu = IMUModel(parameters: p, feedRate: Self.feedRate, seed: 1)
        let bit = 2000 * Double.pi / 180 / 32768
        var sample = Self.samples(&imu, count: 1, rate: Vector3(10.4 * bit, -0.6 * bit, 0))[0]
        #expect(abs(sample.gyro.x - 10 * bit) < 1e-12 && abs(sample.gyro.y + bit) < 1e-12)
        sample =
            Self.samples(
                &imu, count: 1, rate: Vector3(90, -90, 0), force: Vector3(0, 0, -200))[0]
        #expect(abs(sample.gyro.x - 32767 * bit) < 1e-9)
        #expect(abs(sample.gyro.y + 32768 * bit) < 1e-9)
        #expect(abs(sample.accel.z + 6 * 9.81) < 1e-9)
    }

    @Test("the gyroscope's filter delays a ramp by √2 / (2π 230 Hz) = 0.98 ms")
    func filterDelay() {
        var p = IMUModel.Parameters.ideal
        p.gyroBandwidthHz = 230
        var imu = IMUModel(parameters: p, feedRate: Self.feedRate, seed: 1)
        for i in 0...8000 {
            imu.feed(rate: Vector3(Double(i) / 8000, 0, 0), specificForce: Self.gravity)
        }
        let late = 1 - imu.sample(time: Instant(nanoseconds: 0)).gyro.x
        #expect(abs(late - 0.98e-3) < 0.02e-3)
    }

    @Test("the spread of bias and clock rate between sensors is that of the data sheet")
    func parts() {
        var bias = 0.0
        var slowest = 1.0
        var fastest = 0.0
        for seed in 0..<200 {
            let imu = IMUModel(
                parameters: .init(), feedRate: Self.feedRate, seed: UInt64(seed))
            bias += imu.gyroBias.squaredNorm / 3
            slowest = max(1e-3 / imu.samplePeriod, slowest)
            fastest = max(imu.samplePeriod / 1e-3, fastest)
        }
        #expect(abs((bias / 200).squareRoot() * 180 / .pi - 0.5) < 0.05)
        #expect(slowest < 1.0101 && slowest > 1.005 && fastest < 1.0102 && fastest > 1.005)
    }

    @Test("the offset wanders slowly with the configured standard deviation")
    func wander() {
        var p = IMUModel.Parameters.ideal
        p.gyroBiasWander = 0.01
        p.wanderTime = 0.1
        var imu = IMUModel(parameters: p, feedRate: 1000, seed: 9)
        var sum = 0.0
        var largest = 0.0
        var last = imu.gyroBias.x
        for i in 0..<40_000 {
            _ = imu.sample(time: Instant(nanoseconds: Int64(i)))
            sum += imu.gyroBias.x * imu.gyroBias.x
            largest = max(largest, abs(imu.gyroBias.x - last))
            last = imu.gyroBias.x
        }
        #expect(abs((sum / 40_000).squareRoot() / 0.01 - 1) < 0.15)
        #expect(largest < 0.01)
    }
}
