import CMathShim
import Testing

@testable import GimbalCore

/// The gyroscope's bias at rest, while motors turn the camera and when a motion begins.
@Suite("Rest of a camera with joints")
struct RestWithJointsTests {
    /// Camera with joints on a handle that can turn.
    struct Camera {
        /// Angles of the joints, rad.
        var angles: (Double) -> AxisVector = { _ in .zero }
        var source = JointSource.encoders
        /// Rate of the handle, handle frame, rad/s.
        var handleRate: (Double) -> Vector3 = { _ in .zero }
        /// Bias of the gyroscope, rad/s.
        let bias = Vector3(0.8, -0.5, 0.3) * degree
        /// Sensitivity of the gyroscope's x axis to rates about y; true value 0.
        var crossAxis = 0.0
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
                let turn = angles(time + dt) - angles(time)
                time += dt
                joints.update(angles(time), dt: dt)
                let relative = JointKinematics.attitude(joints: joints.angles)
                let rate =
                    relative.inverseRotate(handleRate(time))
                    + joints.kinematics.relativeRate(jointRates: turn * (1 / dt))
                estimator.update(
                    gyro: rate + Vector3(crossAxis * rate.y, 0, 0) + bias,
                    accel: (handle * relative).inverseRotate(Vector3(0, 0, -9.80665)), dt: dt)
                // The stabilizer observes the joints after the samples of a tick.
                let isKnown = source.differs(from: .assumed)
                estimator.relativeMotion = RelativeMotion(
                    joints: isKnown ? joints.angles : .zero,
                    rate: isKnown ? joints.relativeRate : .zero, source: source, drive: drive)
            }
        }
    }

    @Test(
        "the bias is known within a second after the motors have turned the camera on a still handle",
        arguments: [30.0, 90])
    func turnOfCamera(degrees: Double) {
        var camera = Camera()
        camera.angles = { t in
            let share = t < 1.5 ? 0.5 - 0.5 * cm_cos(.pi * t / 1.5) : 1
            return AxisVector(yaw: 0, roll: 0, pitch: degrees * degree * share)
        }
        camera.run(until: 1.5, drive: .commanded)
        camera.run(until: 2.5, drive: .held)
        #expect(camera.biasError < 0.05)
        #expect(camera.estimator.biasSigma.largest / degree < 0.25)
    }

    @Test(
        "a bias that misalignment has falsified during a turn does not look accurate, whenever the turn ends",
        arguments: [2.9, 3, 3.1, 3.2])
    func misalignment(end: Double) {
        var camera = Camera()
        camera.crossAxis = 0.01
        camera.angles = { t in AxisVector(yaw: 0, roll: 0, pitch: 60 * degree * min(t, end)) }
        camera.run(until: end, drive: .commanded)
        for step in 1...20 {
            camera.run(until: end + 0.05 * Double(step), drive: .held)
            let error = camera.estimator.bias - camera.bias
            let sigma = camera.estimator.biasSigma
            #expect(abs(error.x) < 3 * sigma.x && abs(error.y) < 3 * sigma.y)
        }
    }

    @Test("a jolt of the joints at power-on delays the measurement of the bias by less than 0.1 s")
    func jolt() {
        var camera = Camera()
        camera.angles = { t in AxisVector(yaw: 0, roll: 0, pitch: 3 * degree * min(t, 0.01)) }
        camera.run(until: 0.8, drive: .unknown)
        #expect(camera.biasError < 0.05)
    }

    @Test("a pan and a tilt of the camera at the same time do not change the bias")
    func panAndTilt() {
        var camera = Camera()
        camera.run(until: 2, drive: .held)
        camera.angles = { t in
            let turn = 10 * degree * max(0, t - 2)
            return AxisVector(yaw: turn, roll: 0, pitch: turn)
        }
        for tenth in 21...70 {
            camera.run(until: Double(tenth) / 10, drive: .commanded)
            #expect(camera.biasError < 0.05)
        }
    }

    @Test("a vibration of the camera at a multiple of the filter's rate does not change the bias")
    func vibration() {
        var camera = Camera()
        camera.angles = { t in
            let turn = 0.3 * degree * min(t, 2) + 0.02 * degree * cm_sin(2 * .pi * 100 * t)
            return AxisVector(yaw: 0, roll: 0, pitch: turn)
        }
        camera.run(until: 6, drive: .held)
        #expect(camera.biasError < 0.01)
    }

    @Test(
        "joint angles that are first known during a rest are not evidence of a motion",
        arguments: [0.5, 1, 2, 20])
    func firstAngles(degrees: Double) {
        var camera = Camera()
        camera.angles = { _ in AxisVector(yaw: 0, roll: 0, pitch: degrees * degree) }
        camera.source = .assumed
        camera.run(until: 2, drive: .unknown)
        camera.source = .encoders
        camera.run(until: 6, drive: .held)
        #expect(camera.biasError < 0.001)
        #expect(camera.estimator.biasSigma.largest / degree < 0.05)
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
        camera.angles = { t in AxisVector(yaw: 0, roll: 0, pitch: 0.3 * degree * min(t, 6)) }
        camera.run(until: 6, drive: .held)
        #expect(camera.estimator.biasSigma.largest / degree < 0.04)
        camera.handleRate = { t in Vector3(0, 0, rate * degree * max(0, t - 6)) }
        camera.run(until: 7, drive: .held)
        #expect(camera.biasError < 0.01)
        #expect(camera.estimator.biasSigma.largest / degree < 0.04)
    }
}
