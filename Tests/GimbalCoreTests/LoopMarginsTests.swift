import GimbalCore
import Testing

@Suite("Loop margins")
struct LoopMarginsTests {
    @Test("a proportional rate loop with a delay has the textbook margins")
    func textbook() {
        var rate = PIDController.Parameters()
        rate.kp = 100
        rate.ki = 0
        rate.kd = 0
        let margins = LoopMargins(
            attitudeGain: 1e-9, rate: rate, inertia: rate.inertia, delay: 0.005)
        // L = 100/s e^(-0.005 s): crossover 100 rad/s, 90° - 28.65°, -180° at π/2 / 0.005 = 314
        // rad/s, 9.94 dB.
        #expect(abs(margins.crossover - 100) < 0.5)
        #expect(abs(margins.phaseDegrees - 61.35) < 0.3)
        #expect(abs(margins.increaseDecibels - 9.94) < 0.05)
    }

    @Test("the default tuning keeps 6 dB and 45° on the default plant with a delay of 3.5 ms")
    func defaults() {
        let margins = LoopMargins(
            of: AttitudeController.Parameters(), axis: .pitch, inertia: 2.5e-3, delay: 0.0035,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(margins.areHealthy, "\(margins)")
    }

    @Test("twice the assumed inertia halves the loop gain")
    func inertia() {
        let p = AttitudeController.Parameters()
        let right = LoopMargins(
            of: p, axis: .pitch, inertia: 2.5e-3, delay: 0.0035,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        let heavy = LoopMargins(
            of: p, axis: .pitch, inertia: 5e-3, delay: 0.0035,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(abs(heavy.increaseDecibels - right.increaseDecibels - 6.02) < 0.05)
        #expect(abs(right.decreaseDecibels - heavy.decreaseDecibels - 6.02) < 0.05)
    }
}
