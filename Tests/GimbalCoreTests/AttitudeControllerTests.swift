import GimbalCore
import Testing

@Suite("Attitude controller")
struct AttitudeControllerTests {
    static func still(_ attitude: Quaternion) -> Setpoint {
        Setpoint(attitude: attitude, rate: .zero)
    }

    static func step(
        _ controller: inout AttitudeController, attitude: Quaternion, target: Quaternion,
        rate: Vector3 = .zero, joints: AxisVector = .zero, authority: Double = 1
    ) -> AxisVector {
        controller.step(
            ControlInput(
                attitude: attitude, rate: rate, setpoint: still(target), joints: joints,
                authority: authority, dt: 1e-3)
        ).torque
    }

    @Test("at the set-point and at rest the torque is zero")
    func zero() {
        var controller = AttitudeController(parameters: .init())
        let attitude = EulerZXY.quaternion(AxisVector(yaw: 1, roll: 0.2, pitch: -0.8))
        for _ in 0..<100 {
            let torque = Self.step(&controller, attitude: attitude, target: attitude)
            #expect(abs(torque.yaw) + abs(torque.roll) + abs(torque.pitch) < 1e-12)
        }
    }

    @Test("an error about each axis gives a torque about its own joint, towards the set-point")
    func direction() {
        let angle = 0.01
        var controller = AttitudeController(parameters: .init())
        var torque = Self.step(&controller, attitude: .identity, target: .aboutX(angle))
        #expect(torque.roll > 0 && abs(torque.yaw) + abs(torque.pitch) < 1e-9)
        controller.reset()
        torque = Self.step(&controller, attitude: .identity, target: .aboutY(angle))
        #expect(torque.pitch > 0 && abs(torque.yaw) + abs(torque.roll) < 1e-9)
        controller.reset()
        torque = Self.step(&controller, attitude: .identity, target: .aboutZ(angle))
        #expect(torque.yaw > 0 && abs(torque.roll) + abs(torque.pitch) < 1e-9)
    }

    @Test("the camera turns in the shorter direction for both signs of the target quaternion")
    func shortWay() {
        var controller = AttitudeController(parameters: .init())
        let from = Quaternion.aboutZ(170 * .pi / 180)
        let to = Quaternion.aboutZ(-170 * .pi / 180)
        let negative = Quaternion(w: -to.w, x: -to.x, y: -to.y, z: -to.z)
        for target in [to, negative] {
            controller.reset()
            let torque = Self.step(&controller, attitude: from, target: target)
            #expect(torque.yaw > 0)
            #expect(abs(controller.attitudeError.z - 20 * .pi / 180) < 1e-9)
        }
    }

    @Test("clearing the integrals sets them to zero and does not change the attitude error")
    func clearedIntegrals() {
        var controller = AttitudeController(parameters: .init())
        for _ in 0..<500 {
            _ = Self.step(&controller, attitude: .aboutY(0.01), target: .identity)
        }
        let before = controller.attitudeError
        #expect(controller.integralMoment.norm > 0.01)
        controller.clearIntegrals()
        #expect(controller.integralMoment == .zero)
        #expect(controller.attitudeError == before)
    }

    @Test("a saturated motor is reported, and the output stays within the limits")
    func saturation() {
        var controller = AttitudeController(parameters: .init())
        let torque = Self.step(
            &controller, attitude: .identity, target: .aboutY(2), rate: Vector3(20, -30, 4))
        #expect(!controller.saturated.isEmpty)
        #expect(abs(torque.yaw) <= 0.25 && abs(torque.roll) <= 0.25 && abs(torque.pitch) <= 0.25)
    }

    @Test("without authority the output is zero and no integral builds up")
    func authority() {
        var controller = AttitudeController(parameters: .init())
        for _ in 0..<2000 {
            let torque = Self.step(
                &controller, attitude: .identity, target: .aboutY(0.2), authority: 0)
            #expect(torque == .zero)
        }
        #expect(controller.integralMoment == .zero)
    }

    @Test("NaN or infinity in any argument gives zero torque and does not change the state")
    func notANumber() {
        var controller = AttitudeController(parameters: .init())
        var twin = controller
        let bad = Quaternion(w: .nan, x: 0, y: 0, z: 0)
        for _ in 0..<10 {
            #expect(Self.step(&controller, attitude: bad, target: .identity) == .zero)
            #expect(Self.step(&controller, attitude: .identity, target: bad) == .zero)
            #expect(
                Self.step(
                    &controller, attitude: .identity, target: .identity,
                    rate: Vector3(0, .infinity, 0)) == .zero)
            #expect(
                Self.step(
                    &controller, attitude: .identity, target: .identity,
                    joints: AxisVector(yaw: .nan, roll: 0, pitch: 0)) == .zero)
            #expect(
                Self.step(&controller, attitude: .identity, target: .aboutX(0.01))
                    == Self.step(&twin, attitude: .identity, target: .aboutX(0.01)))
        }
    }

    @Test("a torque limit that rises during the search lets the probe measure a heavy camera")
    func raisedLimit() {
        var parameters = AttitudeController.Parameters()
        parameters.findsInertia = true
        parameters.torqueLimit = AxisVector(repeating: 0.005)
        var controller = AttitudeController(parameters: parameters)
        controller.reset()
        parameters.torqueLimit = AxisVector(repeating: 0.25)
        controller.apply(parameters)
        var roll = InertiaIdentifierTests.Axis(inertia: 8e-3)
        var pitch = InertiaIdentifierTests.Axis(inertia: 8e-3)
        var yaw = InertiaIdentifierTests.Axis(inertia: 8e-3)
        for tick in 1...5000 where !controller.isReady {
            let torque = Self.step(
                &controller, attitude: .identity, target: .identity,
                rate: Vector3(roll.rate, pitch.rate, yaw.rate))
            roll.step(torque.roll, tenths: 10, at: Double(tick) * 1e-3)
            pitch.step(torque.pitch, tenths: 10, at: Double(tick) * 1e-3)
            yaw.step(torque.yaw, tenths: 10, at: Double(tick) * 1e-3)
        }
        #expect(controller.isReady)
        for axis in GimbalAxis.allCases {
            #expect(abs(controller.learnedInertia[axis] / 8e-3 - 1) < 0.15)
        }
    }

    @Test("the torque for a pitch error is the same at every pitch from -90° to +90°")
    func pitchIndependent() {
        // The same small error about the camera's own y axis gives the same pitch torque at every
        // pitch.
        var reference = AttitudeController(parameters: .init())
        let expected = Self.step(&reference, attitude: .identity, target: .aboutY(0.01)).pitch
        for degrees in [-90.0, -89.9, -45, 45, 89.9, 90] {
            var controller = AttitudeController(parameters: .init())
            let pitch = degrees * .pi / 180
            let torque = Self.step(
                &controller, attitude: .aboutY(pitch), target: .aboutY(pitch + 0.01),
                joints: AxisVector(yaw: 0, roll: 0, pitch: pitch))
            #expect(abs(torque.pitch - expected) < 1e-9)
            #expect(abs(torque.yaw) + abs(torque.roll) < 1e-9)
        }
    }

    /// Torque about the yaw joint, N·m, of a camera that turns about x and y together with its
    /// set-point. Only the gyroscopic moment contributes.
    static func gyroscopicTorque(findsInertia: Bool, rate: Double) -> Double {
        var tuning = AttitudeController.Parameters()
        tuning.inertia = AxisVector(yaw: 2e-3, roll: 1e-3, pitch: 3e-3)
        tuning.findsInertia = findsInertia
        var controller = AttitudeController(parameters: tuning)
        let turn = Vector3(rate, rate, 0)
        return controller.step(
            ControlInput(
                attitude: .identity, rate: turn,
                setpoint: Setpoint(attitude: .identity, rate: turn), joints: .zero, authority: 1,
                dt: 1e-3)
        ).torque.yaw
    }

    @Test("the gyroscopic moment is fed forward: (3 - 1) * 10^-3 kg·m² at 5 rad/s about both axes")
    func gyroscopic() {
        #expect(abs(Self.gyroscopicTorque(findsInertia: false, rate: 5) - 0.05) < 2e-3)
    }

    @Test("an unknown inertia gives the gyroscopic moment of the lightest possible camera")
    func gyroscopicUnknown() {
        #expect(abs(Self.gyroscopicTorque(findsInertia: true, rate: 5)) < 0.1 * 0.05)
    }

    @Test("a new parameter set keeps the torque that the integral holds")
    func bumpless() {
        var controller = AttitudeController(parameters: .init())
        for _ in 0..<50 {
            _ = Self.step(&controller, attitude: .identity, target: .aboutY(0.001))
        }
        let before = controller.integralMoment
        var tuning = controller.parameters
        tuning.rateIntegralGain = AxisVector(repeating: 100)
        tuning.inertia = AxisVector(repeating: 1e-3)
        controller.apply(tuning)
        #expect((controller.integralMoment - before).norm < 1e-12)
        #expect(before.y > 1e-4)
    }
}
