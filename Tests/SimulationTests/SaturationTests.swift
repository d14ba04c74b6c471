import GimbalCore
import Simulation
import Testing

@Suite("Rotation beyond the range of the gyroscope")
struct SaturationTests {
    /// A sensor that a hand spins about one axis. The motors have no effect; the test only checks
    /// their commands.
    struct Rig {
        var imu: IMUModel
        var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
        var attitude = Quaternion.identity
        var output = MotorOutput.off
        var tick: Int64 = 0
        var isSane = true
        var isNamed = false

        init() {
            var parameters = IMUModel.Parameters()
            parameters.accelRange = 24 * 9.81
            imu = IMUModel(parameters: parameters, feedRate: 1000, seed: 4)
        }

        /// Runs with a body rate that is a function of the time since the start of this call, s.
        mutating func run(_ seconds: Double, rate: (Double) -> Vector3 = { _ in .zero }) {
            for step in 0..<Int(seconds * 1000) {
                tick += 1
                let now = Instant(nanoseconds: tick * 1_000_000)
                let turn = rate(Double(step) * 1e-3)
                attitude = (attitude * Quaternion(rotationVector: turn * 1e-3)).normalized
                imu.feed(
                    rate: turn, specificForce: attitude.inverseRotate(Vector3(0, 0, -9.81)))
                stabilizer.integrate(imu.sample(time: now))
                output = stabilizer.step(now: now)
                let limit = stabilizer.parameters.controller.torqueLimit
                let torque = output.torque
                isSane =
                    isSane && torque.isFinite && torque == torque.clamped(to: limit)
                    && stabilizer.snapshot.attitude.isFinite
                    && stabilizer.snapshot.inclinationSigma.isFinite
                if stabilizer.snapshot.conditions.intersects(.imuSaturated) { isNamed = true }
            }
        }

        /// Angle between the true and the estimated direction of down, degrees.
        var inclinationError: Double {
            let down = Vector3(0, 0, 1)
            let estimate = stabilizer.snapshot.attitude.inverseRotate(down)
            return Angle.radians(estimate.cross(attitude.inverseRotate(down)).norm).degrees
        }
    }

    @Test(
        "saturation for 0.3 s is reported and counted, the outputs stay on, and the tilt error is below 2° after 3 s",
        arguments: [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0.6, 0, 0.8)])
    func spin(axis: Vector3) {
        var rig = Rig()
        rig.run(4)
        #expect(rig.output.enabled && !rig.isNamed)
        // The rate exceeds the full scale on every axis of the rotation: 0.1 s increasing, 0.3 s
        // above full scale, 0.1 s decreasing.
        let speed = Angle.degrees(4500).radians
        rig.run(0.5) { t in axis * (speed * min(1, min(t, 0.5 - t) / 0.1)) }
        #expect(rig.isNamed)
        let snapshot = rig.stabilizer.snapshot
        #expect(snapshot.samples.gyroSaturated > 250)
        #expect(snapshot.samples.implausible == 0)
        #expect(
            rig.output.enabled,
            "a saturated gyroscope is reported, and does not switch the outputs off")
        #expect(snapshot.inclinationSigma > 0.1, "the estimate is reported as uncertain")
        rig.run(3)
        #expect(rig.inclinationError < 2)
        #expect(rig.isSane)
        #expect(!rig.stabilizer.snapshot.conditions.intersects(.imuSaturated))
        #expect(!rig.stabilizer.snapshot.isGyroSaturated)
    }
}
