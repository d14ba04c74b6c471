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

    @Test("the brake of a reversed motor keeps the motor's sign while the camera slows down")
    func reversedMotor() {
        var parameters = Stabilizer.Parameters()
        parameters.controller.findsInertia = false
        parameters.controller.checksInertia = false
        var drive = MotorDrive(parameters)
        var (witness, effect) = (GyroWitness(), MotorEffect())
        let (delay, dt) = (4, 1e-3)
        var torques = [Double](repeating: 0, count: delay)
        var (rate, first, brakes, wrong) = (0.02, 0.0, 0, 0)
        for _ in 0..<500 where brakes < 25 {
            let gyro = Vector3(0, 0, rate)
            _ = witness.accepts(
                rate: gyro, joints: nil, isRepeated: false, motors: effect.motors,
                sensorDelay: 0.003, dt: dt)
            let output: MotorOutput
            if brakes > 0 || rate > 1 {
                if brakes == 0 { first = rate }
                brakes += 1
                let believed = witness.signedRate(gyro: gyro, reversed: AxisSet(.yaw))
                if believed.z * rate > 0 { wrong += 1 }
                output = drive.step(
                    MotorDrive.Brake(
                        rate: believed, attitude: .identity, joints: .zero,
                        areJointsMeasured: true, authority: 1, dt: dt),
                    after: .off)
            } else {
                output = drive.step(
                    ControlInput(
                        attitude: .identity, rate: gyro,
                        setpoint: Setpoint(attitude: .identity, rate: .zero),
                        areJointsMeasured: true, authority: 1, dt: dt))
            }
            effect.exert(
                torques: output.torque, push: drive.state.push, delay: Double(delay) * dt,
                limit: parameters.controller.torqueLimit, inertia: drive.state.inertia,
                kinematics: JointKinematics(joints: .zero), dt: dt)
            torques.append(output.torque.yaw)
            // The motor turns opposite to its commands.
            rate -= torques[torques.count - delay] / drive.torque.learnedInertia.yaw * dt
        }
        #expect(brakes == 25 && wrong == 0, "\(brakes) periods, \(wrong) with the wrong sign")
        #expect(abs(rate) < 0.1 * first, "\(first) rad/s, then \(rate) rad/s")
    }
}
