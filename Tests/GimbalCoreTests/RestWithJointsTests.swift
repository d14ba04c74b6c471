import CMathShim
import Testing

@testable import GimbalCore

/// The gyroscope's bias at rest, while motors turn the camera and when a motion begins.
@Suite("Rest of a camera with joints")
struct RestWithJointsTests {
    /// Camera on a pitch joint. The handle can turn.
    struct Camera {
        /// Angle of the joint, rad.
        var pitch: (Double) -> Double = { _ in 0 }
        /// Rate of the handle, handle frame, rad/s.
        var handleRate: (Double) -> Vector3 = { _ in .zero }
        /// Bias of the gyroscope, rad/s.
        let bias = Vector3(0.8, -0.5, 0.3) * degree
        var estimator = AttitudeEstimator(parameters: AttitudeEstimator.Parameters())
        private var handle = Quaternion.identity
        private var joints = JointMotion()
        private var time = 0.0

        init() {}

        /// Error of the estimated bias, °/s.
        var biasError: Double { (estimator.bias - bias).norm / degree }

        mutating func run(until end: Double, drive: JointDrive) {
            let dt = 1e-3
            while time < end {
                handle = (handle * Quaternion(rotationVector: handleRate(time) * dt)).normalized
                let turn = pitch(time + dt) - pitch(time)
                time += dt
                joints.update(AxisVector(yaw: 0, roll: 0, pitch: pitch(time)), dt: dt)
                let relative = JointKinematics.attitude(joints: joints.angles)
                let rate = relative.inverseRotate(handleRate(time)) + Vector3(0, turn / dt, 0)
                estimator.relativeMotion = RelativeMotion(
                    joints: joints.angles,
                    rate: joints.kinematics.relativeRate(jointRates: joints.rates), drive: drive)
                estimator.update(
                    gyro: rate + bias,
                    accel: (handle * relative).inverseRotate(Vector3(0, 0, -9.80665)), dt: dt)
            }
        }
    }

    @Test(
        "the bias is known within a second after the motors have turned the camera on a still handle",
        arguments: [30.0, 90])
    func turnOfCamera(degrees: Double) {
        var camera = Camera()
        camera.pitch = { t in
            degrees * degree * (t < 1.5 ? 0.5 - 0.5 * cm_cos(.pi * t / 1.5) : 1)
        }
        camera.run(until: 1.5, drive: .commanded)
        camera.run(until: 2.5, drive: .held)
        #expect(camera.biasError < 0.05)
    }

    @Test(
        "the beginning of a motion does not change a bias that was measured at rest",
        arguments: [0.2, 0.3, 0.5, 1])
    func beginningOfMotion(rate: Double) {
        var camera = Camera()
        camera.handleRate = { t in Vector3(0, rate * degree * max(0, t - 5) / 0.3, 0) }
        camera.run(until: 5, drive: .unknown)
        let before = camera.estimator.bias
        camera.run(until: 8, drive: .unknown)
        #expect((camera.estimator.bias - before).norm / degree < 0.001)
    }

    @Test(
        "the beginning of a turn does not discard a bias that was measured while the joints moved",
        arguments: [0.5, 1, 2, 4])
    func turnAfterCreep(rate: Double) {
        var camera = Camera()
        camera.pitch = { t in 0.3 * degree * min(t, 6) }
        camera.run(until: 6, drive: .held)
        #expect(camera.estimator.biasSigma.largest / degree < 0.04)
        camera.handleRate = { t in Vector3(0, 0, rate * degree * max(0, t - 6)) }
        camera.run(until: 7, drive: .held)
        #expect(camera.biasError < 0.01)
        #expect(camera.estimator.biasSigma.largest / degree < 0.04)
    }
}
