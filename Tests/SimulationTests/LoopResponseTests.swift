import GimbalCore
import Glibc
import Simulation
import Testing

/// Compares the margins of `LoopMargins` with the simulated loop.
@Suite("Loop response and stability margins")
struct LoopResponseTests {
    /// Gain and phase of the open loop at one frequency. A small probe torque is added to the
    /// controller's output, and the controller's response is compared with the total motor torque.
    static func measured(omega: Double) -> (gain: Double, phase: Double) {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { gimbal, tuning in
            gimbal.plant.friction = .none
            gimbal.plant.imbalance = .zero
            gimbal.plant.cableStiffness = .zero
            gimbal.imu.gyroNoiseDensity = 0
            gimbal.imu.accelNoiseDensity = .zero
            gimbal.imu.isQuantized = false
            gimbal.imu.clockError = 0
            tuning.controller.findsInertia = false
            // The probe is added after the controller, so the controller would learn the probe as
            // friction.
            tuning.controller.frictionLearningRate = 0
        }
        // A whole number of probe periods avoids spectral leakage.
        let period = Int((2 * Double.pi / omega * 1000).rounded())
        let exact = 2 * Double.pi / Double(period)
        let begin = 3000
        var control = (cosine: 0.0, sine: 0.0)
        var total = (cosine: 0.0, sine: 0.0)
        for tick in 1...(begin + 40 * period) {
            let probe = 0.004 * sin(exact * Double(tick))
            var answer = 0.0
            loop.advance()
            loop.drive {
                answer = $0.torque.pitch
                if tick > 2000 { $0.torque.pitch += probe }
            }
            if tick > begin + 20 * period {
                let angle = exact * Double(tick)
                control.cosine += answer * cos(angle)
                control.sine += answer * sin(angle)
                total.cosine += (answer + probe) * cos(angle)
                total.sine += (answer + probe) * sin(angle)
            }
        }
        // answer = -L total; a delay rotates the phasor cosine - j sine backwards.
        let gain = hypot(control.cosine, control.sine) / hypot(total.cosine, total.sine)
        let phase = atan2(-control.sine, control.cosine) - atan2(-total.sine, total.cosine)
        return (gain, remainder(phase + .pi, 2 * .pi))
    }

    /// RMS rate of a still camera on motors without encoders, whose gains are increased by
    /// `decibels`, rad/s.
    static func trembling(decibels: Double) -> Double {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), motor: .field) {
            $0.plant.friction = .none
            $1.field.probesInertia = false
            $1.field.watchesOscillation = false
        }
        loop.run(seconds: 3)
        var tuning = loop.stabilizer.parameters
        tuning.field.rateGain = tuning.field.rateGain * pow(10, decibels / 20)
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 3)
        var sum = 0.0
        loop.run(seconds: 2) { sum += $0.snapshot.rate.squaredNorm }
        return (sum / 2000).squareRoot()
    }

    @Test(
        "the loop without encoders is unstable if its gain increases by more than the computed margin"
    )
    func fieldMargin() {
        let margins = LoopMargins(
            of: FieldController.Parameters(), axis: .pitch,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(margins.areHealthy)
        let calm = Self.trembling(decibels: 0)
        #expect(Self.trembling(decibels: margins.increaseDecibels - 1.5) < 3 * calm)
        #expect(Self.trembling(decibels: margins.increaseDecibels + 1) > 10 * calm)
    }

    /// RMS rate of a still camera on torque motors in a loop of 200 Hz, whose gains are increased by
    /// `decibels`, rad/s.
    static func slowTrembling(decibels: Double) -> Double {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), rateHz: 200) {
            $0.plant.friction = .none
            $1.controller.findsInertia = false
            $1.controller.watchesOscillation = false
        }
        loop.run(seconds: 5)
        var tuning = loop.stabilizer.parameters
        let factor = pow(10, decibels / 20)
        tuning.controller.rateGain = tuning.controller.rateGain * factor
        tuning.controller.rateIntegralGain = tuning.controller.rateIntegralGain * factor
        tuning.controller.rateDerivativeGain = tuning.controller.rateDerivativeGain * factor
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 3)
        var sum = 0.0
        loop.run(seconds: 2) { sum += $0.snapshot.rate.squaredNorm }
        return (sum / 400).squareRoot()
    }

    @Test("a loop too slow for the lag compensator keeps the usual margin of 6 dB")
    func slowLoop() {
        let calm = Self.slowTrembling(decibels: 0)
        #expect(Self.slowTrembling(decibels: 5) < 3 * calm)
        #expect(Self.slowTrembling(decibels: 9) > 10 * calm)
    }

    @Test(
        "the computed open-loop response matches the simulated loop below, at and above the crossover",
        arguments: [100.0, 220, 420])
    func response(omega: Double) {
        let period = (2 * Double.pi / omega * 1000).rounded()
        let exact = 2 * Double.pi / period * 1000
        let found = Self.measured(omega: omega)
        let said = LoopMargins.response(
            of: AttitudeController.Parameters(), axis: .pitch, omega: exact,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(abs(found.gain / said.gain - 1) < 0.08, "\(found.gain) \(said.gain)")
        let difference = remainder(found.phase - said.phase, 2 * .pi) * 180 / .pi
        // Above the crossover, the real loop lags less than a pure delay, so the computed margins
        // are conservative.
        #expect(difference > -6 && difference < 14, "\(difference)")
    }
}
