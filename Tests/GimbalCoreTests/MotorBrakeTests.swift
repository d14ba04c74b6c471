import Testing

@testable import GimbalCore

@Suite("Brake of torque motors")
struct MotorBrakeTests {
    /// Rate of a free camera that turned at 1 rad/s, after 25 ms of braking, rad/s. The brake's rate
    /// has the loop delay, whose part `wait` (s) is measured, not configured. The true inertia is
    /// `share` times the assumed inertia.
    private static func rateAfterBrake(
        wait: Double = 0, share: Double = 1, findsInertia: Bool = false
    ) -> Double {
        var parameters = Stabilizer.Parameters()
        parameters.controller.findsInertia = findsInertia
        var drive = MotorDrive(parameters)
        drive.sampleWait = wait
        let inertia = drive.torque.learnedInertia.yaw * share
        let delay = Int((drive.loopDelay * 1000).rounded())
        var rates = [Double](repeating: 1, count: delay + 1)
        for _ in 0..<25 {
            let output = drive.step(
                MotorDrive.Brake(
                    rate: Vector3(0, 0, rates[rates.count - 1 - delay]), attitude: .identity,
                    joints: .zero, areJointsMeasured: true, authority: 1, dt: 1e-3),
                after: .off)
            rates.append(rates[rates.count - 1] + output.torque.yaw / inertia * 1e-3)
        }
        return rates[rates.count - 1]
    }

    @Test(
        "the brake slows the camera and does not turn it back, also if the loop delay is longer than configured",
        arguments: [0, 0.005, 0.01, 0.0165])
    func longDelay(wait: Double) {
        let rate = Self.rateAfterBrake(wait: wait)
        #expect(rate > -0.1 && rate < 0.7, "\(rate)")
    }

    @Test(
        "until the inertia is known, the brake does not fling a light camera",
        arguments: [1 / 3.0, 1 / 6.0, 1 / 12.0])
    func lightCamera(share: Double) {
        let rate = Self.rateAfterBrake(share: share, findsInertia: true)
        #expect(rate > -0.1 && rate < 0.7, "\(rate)")
    }
}
