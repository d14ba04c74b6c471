import Testing

@testable import GimbalCore

@Suite("Joint angles that a servo cannot reach")
struct ServoReachTests {
    @Test("an angle up to 0.2 rad beyond a servo's range is possible; a larger angle is not")
    func tolerance() {
        var parameters = Stabilizer.Parameters()
        parameters.motorType = .servo
        let drive = MotorDrive(parameters)
        let (least, most) = (parameters.servo.minimum, parameters.servo.maximum)
        let (near, far) = (AxisVector(repeating: 0.15), AxisVector(repeating: 0.25))
        let all = AxisSet(yaw: true, roll: true, pitch: true)
        #expect(drive.outOfReach(most + near).isEmpty && drive.outOfReach(least - near).isEmpty)
        #expect(drive.outOfReach(most + far) == all && drive.outOfReach(least - far) == all)
    }
}
