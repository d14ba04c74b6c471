import Testing

@testable import GimbalCore

@Suite("Joint kinematics")
struct JointKinematicsTests {
    static let poses: [AxisVector] = [
        .zero,
        AxisVector(yaw: 0.4, roll: -0.3, pitch: 0.7),
        AxisVector(yaw: -2.9, roll: 0.9, pitch: -1.4),
        AxisVector(yaw: 1, roll: 0.2, pitch: .pi / 2),
        AxisVector(yaw: 0, roll: -1.2, pitch: -3),
    ]

    @Test(
        "the attitude is the product of yaw, roll and pitch, in this order from the handle",
        arguments: poses)
    func order(joints: AxisVector) {
        let expected =
            Quaternion.aboutZ(joints.yaw) * .aboutX(joints.roll) * .aboutY(joints.pitch)
        #expect(JointKinematics.attitude(joints: joints).error(to: expected).norm < 1e-12)
    }

    @Test("converting joint angles to an attitude and back gives the same angles", arguments: poses)
    func roundTrip(joints: AxisVector) {
        let back = JointKinematics.joints(attitude: JointKinematics.attitude(joints: joints))
        #expect(abs(back.yaw - joints.yaw) < 1e-9)
        #expect(abs(back.roll - joints.roll) < 1e-9)
        #expect(abs(back.pitch - joints.pitch) < 1e-9)
    }

    @Test("at roll 90° the conversion preserves the attitude, although yaw and pitch are ambiguous")
    func gimbalLock() {
        for pitch in [-1.0, 0, 2] {
            let attitude = JointKinematics.attitude(
                joints: AxisVector(yaw: 0.5, roll: .pi / 2, pitch: pitch))
            let joints = JointKinematics.joints(attitude: attitude)
            let again = JointKinematics.attitude(joints: joints)
            #expect(attitude.error(to: again).norm < 1e-6)
        }
    }

    @Test(
        "the joint nearest to a camera axis is the other one of yaw and roll if the camera points up or down",
        arguments: [
            (0.0, false), (40.0, false), (50.0, true), (-90.0, true), (90.0, true), (170.0, false),
        ])
    func nearestJoints(angle: Double, isSwapped: Bool) {
        let kinematics = JointKinematics(
            joints: AxisVector(yaw: 1, roll: 0.2, pitch: angle * .pi / 180))
        let (yaw, roll, pitch) = (AxisSet(.yaw), AxisSet(.roll), AxisSet(.pitch))
        #expect(kinematics.joints(nearest: yaw) == (isSwapped ? roll : yaw))
        #expect(kinematics.joints(nearest: roll) == (isSwapped ? yaw : roll))
        #expect(kinematics.joints(nearest: pitch) == pitch)
    }

    @Test("the relative rate is the derivative of the attitude", arguments: poses)
    func rateIsDerivative(joints: AxisVector) {
        let rates = AxisVector(yaw: 0.3, roll: -0.7, pitch: 1.1)
        let h = 1e-6
        let before = JointKinematics.attitude(joints: joints - rates * h)
        let after = JointKinematics.attitude(joints: joints + rates * h)
        let numeric = before.error(to: after) / (2 * h)
        let rate = JointKinematics(joints: joints).relativeRate(jointRates: rates)
        #expect((numeric - rate).norm < 1e-6)
    }

    @Test("converting joint rates to a camera rate and back gives the same rates", arguments: poses)
    func rateRoundTrip(joints: AxisVector) {
        let rates = AxisVector(yaw: 0.3, roll: -0.7, pitch: 1.1)
        let kinematics = JointKinematics(joints: joints)
        let back = kinematics.jointRates(
            relativeRate: kinematics.relativeRate(jointRates: rates))
        #expect(abs(back.yaw - rates.yaw) < 1e-9)
        #expect(abs(back.roll - rates.roll) < 1e-9)
        #expect(abs(back.pitch - rates.pitch) < 1e-9)
    }

    @Test("torques deliver the same power as the moment they exert", arguments: poses)
    func power(joints: AxisVector) {
        let kinematics = JointKinematics(joints: joints)
        let torque = AxisVector(yaw: 0.05, roll: -0.02, pitch: 0.03)
        let rates = AxisVector(yaw: 0.3, roll: -0.7, pitch: 1.1)
        let moment = kinematics.moment(torques: torque)
        let atJoints =
            torque.yaw * rates.yaw + torque.roll * rates.roll + torque.pitch * rates.pitch
        let atCamera = moment.dot(kinematics.relativeRate(jointRates: rates))
        #expect(abs(atJoints - atCamera) < 1e-12)
        let back = kinematics.torques(moment: moment)
        #expect(abs(back.yaw - torque.yaw) < 1e-12)
        #expect(abs(back.roll - torque.roll) < 1e-12)
        #expect(abs(back.pitch - torque.pitch) < 1e-12)
    }

    @Test("near roll ±90° rates and moments stay finite and bounded")
    func singularity() {
        for roll in [Double.pi / 2, -.pi / 2, 1.5707, -1.5708] {
            let kinematics = JointKinematics(joints: AxisVector(yaw: 0, roll: roll, pitch: 0.3))
            let rates = kinematics.jointRates(relativeRate: Vector3(1, 1, 1))
            #expect(rates.isFinite && abs(rates.yaw) < 50 && abs(rates.pitch) < 50)
            let moment = kinematics.moment(torques: AxisVector(repeating: 0.25))
            #expect(moment.isFinite && moment.norm < 20)
        }
    }
}
