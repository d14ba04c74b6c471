import GimbalCore
import Testing

@Suite("Sensor correction in the stabilizer")
struct SensorCorrectionTests {
    static let level = Vector3(0, 0, -9.80665)

    /// Stabilizer that gets a raw sample of the sensor every 1 ms.
    struct Rig {
        var stabilizer: Stabilizer
        var tick = 0
        var flicker = 1e-6

        init(_ parameters: Stabilizer.Parameters) {
            stabilizer = Stabilizer(parameters: parameters)
        }

        var now: Instant { Instant(nanoseconds: Int64(tick) * 1_000_000) }
        var angles: AxisVector { EulerZXY.angles(stabilizer.snapshot.attitude) * (180 / .pi) }

        mutating func run(seconds: Double, gyro: Vector3, accel: Vector3) {
            for _ in 0..<Int(seconds * 1000 + 0.5) {
                tick += 1
                flicker = -flicker
                stabilizer.integrate(
                    IMUSample(
                        time: now, gyro: gyro + Vector3(flicker, 0, 0),
                        accel: accel + Vector3(flicker * 1e-5, 0, 0)))
                _ = stabilizer.step(now: now)
            }
        }
    }

    @Test("a level camera with a rotated sensor reads level through the mounting")
    func mounting() {
        var parameters = Stabilizer.Parameters()
        let mounting = Quaternion.aboutZ(.pi / 2) * Quaternion.aboutX(0.7)
        parameters.correction.mounting = mounting
        var rig = Rig(parameters)
        rig.run(seconds: 1, gyro: .zero, accel: mounting.inverseRotate(Self.level))
        #expect(abs(rig.angles.pitch) < 0.01)
        #expect(abs(rig.angles.roll) < 0.01)
        #expect((rig.stabilizer.snapshot.accel - Self.level).norm < 1e-9)
        let raw = mounting.inverseRotate(Self.level)
        #expect((rig.stabilizer.snapshot.rawAccel - raw).norm < 1e-9)
    }

    @Test("a turn about the camera's yaw axis with a rotated sensor is measured as yaw")
    func mountedGyroscope() {
        var parameters = Stabilizer.Parameters()
        parameters.bootMode = .inactive
        let mounting = Quaternion.aboutY(.pi / 2)
        parameters.correction.mounting = mounting
        var rig = Rig(parameters)
        rig.run(seconds: 1, gyro: .zero, accel: mounting.inverseRotate(Self.level))
        rig.run(
            seconds: 0.5, gyro: mounting.inverseRotate(Vector3(0, 0, 1)),
            accel: mounting.inverseRotate(Self.level))
        #expect(abs(rig.angles.yaw - 28.65) < 0.5, "\(rig.angles.yaw)")
    }

    @Test("offset and scale are corrected before the estimate")
    func accelerometer() {
        var parameters = Stabilizer.Parameters()
        parameters.correction.accel.offset = Vector3(0.5, -0.3, 0.2)
        parameters.correction.accel.rowX = Vector3(0.98, 0, 0)
        var rig = Rig(parameters)
        rig.run(seconds: 2, gyro: .zero, accel: Self.level + Vector3(0.5, -0.3, 0.2))
        #expect(abs(rig.angles.pitch) < 0.01)
        #expect(abs(rig.angles.roll) < 0.01)
    }

    @Test("a new mounting rotates attitude and bias without restarting the estimate")
    func liveMounting() {
        var parameters = Stabilizer.Parameters()
        parameters.bootMode = .inactive
        var rig = Rig(parameters)
        let bias = Vector3(0.004, -0.003, 0.002)
        rig.run(seconds: 3, gyro: bias, accel: Self.level)
        let sigma = rig.stabilizer.snapshot.inclinationSigma
        parameters.correction.mounting = .aboutX(0.2)
        rig.stabilizer.apply(parameters)
        rig.run(seconds: 0.001, gyro: bias, accel: Self.level)
        // The sensor is level, so the camera's roll is the negative of the mounting's roll.
        #expect(abs(rig.angles.roll + 0.2 * 180 / .pi) < 0.1, "\(rig.angles.roll)")
        #expect(rig.stabilizer.snapshot.inclinationSigma < 2 * sigma)
        let turned = Quaternion.aboutX(0.2).rotate(bias)
        #expect((rig.stabilizer.snapshot.bias - turned).norm < 2e-4)
    }

    @Test(
        "if the gyroscope's bias is known, the outputs start without waiting for rest",
        arguments: [false, true])
    func knownBias(isKnown: Bool) {
        let bias = Vector3(0.01, -0.008, 0.012)
        var parameters = Stabilizer.Parameters()
        if isKnown {
            parameters.correction.gyroBias.bias = bias
            parameters.correction.gyroBias.sigma = 0.15 * .pi / 180
        }
        var rig = Rig(parameters)
        var seconds = 0.0
        while seconds < 5, rig.stabilizer.snapshot.phase == .off {
            rig.run(seconds: 0.01, gyro: bias, accel: Self.level)
            seconds += 0.01
        }
        if isKnown {
            #expect(seconds < 0.25, "\(seconds) s")
        } else {
            #expect(seconds > 0.4, "\(seconds) s")
        }
    }

    @Test("a bias that has changed since its calibration is learned again")
    func changedBias() {
        var parameters = Stabilizer.Parameters()
        parameters.bootMode = .inactive
        parameters.correction.gyroBias.bias = .zero
        parameters.correction.gyroBias.sigma = 0.15 * .pi / 180
        var rig = Rig(parameters)
        let bias = Vector3(0.004, -0.004, 0.005)
        rig.run(seconds: 5, gyro: bias, accel: Self.level)
        #expect((rig.stabilizer.snapshot.bias - bias).norm < 2e-4)
    }

    @Test("a new calibration of the bias takes effect at once")
    func liveBias() {
        var parameters = Stabilizer.Parameters()
        parameters.bootMode = .inactive
        var rig = Rig(parameters)
        rig.run(seconds: 0.2, gyro: .zero, accel: Self.level)
        parameters.correction.gyroBias.bias = Vector3(0.01, 0, 0)
        parameters.correction.gyroBias.sigma = 1e-4
        rig.stabilizer.apply(parameters)
        rig.run(seconds: 0.001, gyro: Vector3(0.01, 0, 0), accel: Self.level)
        #expect((rig.stabilizer.snapshot.bias - Vector3(0.01, 0, 0)).norm < 1e-5)
    }

    @Test("a calibration ramps the outputs off, and they restart without a recovery time")
    func calibrating() {
        var parameters = Stabilizer.Parameters()
        var rig = Rig(parameters)
        rig.run(seconds: 3, gyro: .zero, accel: Self.level)
        #expect(rig.stabilizer.snapshot.phase == .active)
        parameters.isCalibrating = true
        rig.stabilizer.apply(parameters)
        rig.run(seconds: 0.1, gyro: .zero, accel: Self.level)
        #expect(rig.stabilizer.snapshot.phase == .stopping)
        rig.run(seconds: 0.2, gyro: .zero, accel: Self.level)
        #expect(rig.stabilizer.snapshot.phase == .off)
        #expect(rig.stabilizer.snapshot.conditions.intersects(.calibrating))
        parameters.isCalibrating = false
        rig.stabilizer.apply(parameters)
        rig.run(seconds: 0.01, gyro: .zero, accel: Self.level)
        #expect(rig.stabilizer.snapshot.phase == .starting)
    }
}
