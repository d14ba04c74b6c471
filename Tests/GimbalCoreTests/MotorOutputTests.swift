import Testing

@testable import GimbalCore

@Suite("Motor output")
struct MotorOutputTests {
    @Test(
        "an enabled output that is not finite or exceeds its limit is not sound",
        arguments: [
            (MotorOutput(enabled: true, torque: AxisVector(repeating: 0.25)), true),
            (.off, true),
            (MotorOutput(enabled: false, torque: .unknown), true),
            (MotorOutput(enabled: true, torque: AxisVector(yaw: 0, roll: -0.251, pitch: 0)), false),
            (MotorOutput(enabled: true, torque: AxisVector(yaw: .nan, roll: 0, pitch: 0)), false),
            (
                MotorOutput(enabled: true, angle: AxisVector(yaw: 0, roll: 0, pitch: .infinity)),
                false
            ),
            (MotorOutput(enabled: true, field: .unknown), false),
            (MotorOutput(enabled: true, power: AxisVector(repeating: 1.01)), false),
        ])
    func soundness(output: MotorOutput, expected: Bool) {
        #expect(output.isSound(torqueLimit: AxisVector(repeating: 0.25)) == expected)
    }
}
