import Testing

@testable import GimbalCore

@Suite("Camera's inertia from measurements about the joints' axes")
struct JointInertiaTests {
    private static let first = AxisVector(repeating: 2.5e-3)
    private static let truth = AxisVector(yaw: 6e-3, roll: 3e-3, pitch: 2.5e-3)

    /// Estimate after exact measurements by the given joints in a pose, degrees.
    private static func estimate(
        pitch: Double, roll: Double = 0, joints: [GimbalAxis] = GimbalAxis.allCases
    ) -> (values: AxisVector, sigmas: AxisVector) {
        let pose = JointKinematics(
            joints: AxisVector(yaw: 0, roll: roll * .pi / 180, pitch: pitch * .pi / 180))
        var inertia = JointInertia()
        for axis in joints {
            // The torque of one motor alone; the other joints move freely.
            var torques = AxisVector.zero
            torques[axis] = 1
            let moment = pose.moment(torques: torques)
            let acceleration = Vector3(
                moment.x / truth.roll, moment.y / truth.pitch, moment.z / truth.yaw)
            inertia.note(1 / pose.components(of: acceleration)[axis], axis, in: pose)
        }
        return inertia.camera(first: first)
    }

    @Test(
        "each axis is known within 15 % in any pose in which the joints differ",
        arguments: [0, 20, -30, 65, -90], [0, 40, -70])
    func pose(pitch: Int, roll: Int) {
        let (found, sigmas) = Self.estimate(pitch: Double(pitch), roll: Double(roll))
        for axis in GimbalAxis.allCases {
            #expect(abs(found[axis] / Self.truth[axis] - 1) < 0.15, "\(axis) \(found)")
            #expect(sigmas[axis] < 0.3)
        }
    }

    @Test(
        "at 45°, roll and yaw measure the same, so their ratio stays as configured and is uncertain"
    )
    func ambiguous() {
        let (found, sigmas) = Self.estimate(pitch: 45)
        #expect(abs(found.yaw / found.roll - 1) < 0.01)
        let mean = 2 / (1 / Self.truth.yaw + 1 / Self.truth.roll)
        #expect(abs(found.roll / mean - 1) < 0.1)
        #expect(sigmas.roll > 0.3 && sigmas.yaw > 0.3 && sigmas.pitch < 0.2)
    }

    @Test("an axis without measurement has the mean ratio of the others, and is uncertain")
    func unmeasured() {
        let (found, sigmas) = Self.estimate(pitch: 0, joints: [.pitch, .roll])
        let mean = (Self.truth.pitch * Self.truth.roll).squareRoot()
        #expect(abs(found.yaw / mean - 1) < 0.05)
        #expect(sigmas.yaw > 0.45 && sigmas.roll < 0.2)
    }

    @Test("without a measurement, the estimate is the configured inertia")
    func none() {
        let found = Self.estimate(pitch: 0, joints: []).values
        for axis in GimbalAxis.allCases {
            #expect(abs(found[axis] / Self.first[axis] - 1) < 1e-12)
        }
    }
}
