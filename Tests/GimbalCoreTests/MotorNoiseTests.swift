import CMathShim
import Testing

@testable import GimbalCore

@Suite("Motor noise")
struct MotorNoiseTests {
    /// Feeds white noise of `feedback` N·m and a rate to an axis for some seconds at 1 kHz. The
    /// noise decreases with the softening.
    private func run(
        _ noise: inout MotorNoise, feedback: Double, turning: Double = 0, bound: Double,
        isCompensated: Bool = true, seconds: Double
    ) {
        var state: UInt64 = 7
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (Double(state >> 11) / 9_007_199_254_740_992 - 0.5) * 12.squareRoot()
        }
        for tick in 0..<Int(seconds * 1000) {
            let white = random()
            let size = feedback * (1 - 0.75 * noise.softening.pitch)
            let rate = 5e-3 * white + turning * cm_sin(Double(tick) / 1000 * 2 * .pi * 5)
            _ = noise.step(
                feedback: Vector3(0, size * white, 0), rate: Vector3(0, rate, 0),
                bound: AxisVector(repeating: bound), isCompensated: isCompensated, dt: 0.001)
        }
    }

    @Test("a loop without lag compensator is at the full softening at once, with any noise")
    func slowLoop() {
        var noise = MotorNoise()
        run(&noise, feedback: 0.004, bound: 0, isCompensated: false, seconds: 0.01)
        #expect(noise.softening == AxisVector(repeating: 1))
        run(&noise, feedback: 0.004, bound: 0.01, seconds: 20)
        #expect(noise.softening == .zero)
    }

    @Test(
        "the gains of a noisy axis decrease until the noise is within the bound, and other axes keep theirs"
    )
    func bounded() {
        var noise = MotorNoise()
        run(&noise, feedback: 0.02, bound: 0.01, seconds: 20)
        #expect(noise.rms.pitch < 0.0102)
        #expect(noise.rms.pitch > 0.0075)
        #expect(noise.softening.yaw == 0 && noise.softening.roll == 0)
    }

    @Test("an axis with noise below three quarters of the bound returns to its tuned gains")
    func stiffAgain() {
        var noise = MotorNoise()
        run(&noise, feedback: 0.02, bound: 0.01, seconds: 20)
        run(&noise, feedback: 0.004, bound: 0.01, seconds: 20)
        #expect(noise.softening.pitch == 0)
        run(&noise, feedback: 0.02, bound: 0, seconds: 5)
        #expect(noise.softening.pitch == 0)
    }

    @Test("the gains are not reduced if the camera's rate exceeds the gyroscope's noise")
    func shaken() {
        var noise = MotorNoise()
        run(&noise, feedback: 0.02, turning: 0.1, bound: 0.01, seconds: 20)
        #expect(noise.softening.pitch == 0)
    }

    @Test("the loop keeps 6 dB and 45° at every softening", arguments: 0...16)
    func margins(step: Int) {
        let softening = Double(step) / 16
        let share = MotorNoise.Share(softening: softening)
        let controller = AttitudeController.Parameters()
        var rate = PIDController.Parameters()
        rate.kp = controller.rateGain.pitch * share.rate
        rate.ki = controller.rateIntegralGain.pitch * share.integral
        rate.kd = controller.rateDerivativeGain.pitch * share.derivative
        rate.derivativeCutoffHz = controller.derivativeCutoffHz * share.cutoff
        var shape = LoopMargins.Shape()
        shape.attitudeLead = AttitudeEstimator.Parameters().sensorDelay
        shape.compensatedDelay = controller.loopDelay
        shape.period = 0.001
        shape.softening = softening
        let margins = LoopMargins(
            attitudeGain: controller.attitudeGain.pitch * share.attitude, rate: rate,
            inertia: rate.inertia, delay: controller.loopDelay, shape: shape)
        #expect(margins.areHealthy, "\(margins)")
    }
}
