import GimbalCore
import Testing

@testable import Hardware

@Suite("Three-phase duty cycles")
struct ThreePhaseTests {
    @Test(
        "the line voltages are sines 120° apart, and reach the full supply voltage at strength 1"
    )
    func sines() {
        for step in 0..<360 {
            let angle = Double(step) * .pi / 180
            let duties = ThreePhase.duties(angle: angle, amplitude: 1)
            // The line voltage of a field at this angle leads the phase by 30°.
            #expect(abs(duties.a - duties.b - cosine(angle + .pi / 6)) < 1e-12)
            #expect(abs(duties.b - duties.c - cosine(angle - .pi / 2)) < 1e-12)
            for duty in [duties.a, duties.b, duties.c] {
                #expect((-1e-12...1 + 1e-12).contains(duty))
            }
        }
    }

    @Test("the highest and the lowest duty cycle are equally far from 1 and 0")
    func centred() {
        for step in 0..<100 {
            let duties = ThreePhase.duties(angle: Double(step) * 0.1, amplitude: 0.7)
            let (top, bottom) = (
                max(duties.a, duties.b, duties.c), min(duties.a, duties.b, duties.c)
            )
            #expect(abs(top + bottom - 1) < 1e-12)
        }
    }

    @Test("zero strength and values that are not finite result in equal duty cycles")
    func nothing() {
        for (angle, amplitude) in [(1.0, 0.0), (.nan, 1), (0, .nan), (.infinity, 1)] {
            let duties = ThreePhase.duties(angle: angle, amplitude: amplitude)
            #expect(duties == (0.5, 0.5, 0.5))
        }
    }

    @Test(
        "a field repeats after each electrical turn, even after 100 turns")
    func unwrapped() {
        let once = ThreePhase.duties(angle: 0.3, amplitude: 0.5)
        let often = ThreePhase.duties(angle: 0.3 + 200 * .pi, amplitude: 0.5)
        #expect(abs(once.a - often.a) < 1e-9 && abs(once.b - often.b) < 1e-9)
    }

    @Test(
        "the field is 90 electrical degrees ahead of the rotor, and reversed for a negative torque")
    func torque() {
        let motor = PhaseMotor(polePairs: 7, zero: 0.4, peakTorque: 0.2)
        let forwards = motor.commutate(torque: 0.1, joint: 0.05, share: 1)
        #expect(abs(forwards.angle - (0.35 + 0.4 + .pi / 2)) < 1e-12)
        #expect(abs(forwards.amplitude - 0.5) < 1e-12)
        #expect(
            motor.commutate(torque: -0.1, joint: 0.05, share: 1).amplitude == -forwards.amplitude)
        #expect(motor.commutate(torque: 9, joint: 0, share: 1).amplitude == 1)
    }

    @Test(
        "the motor model produces exactly the requested torque at every joint angle"
    )
    func torqueOfModel() {
        for direction in [1.0, -1] {
            let motor = PhaseMotor(polePairs: 7, direction: direction, zero: 0.4, peakTorque: 0.2)
            for joint in stride(from: -1.0, to: 1, by: 0.07) {
                let field = motor.commutate(torque: 0.05, joint: joint, share: 1)
                // Torque of a synchronous machine on the joint. Its rotor turns against the joint
                // if the direction is -1.
                let load = field.angle - direction * 7 * joint - 0.4
                #expect(abs(direction * 0.2 * field.amplitude * sine(load) - 0.05) < 1e-12)
            }
        }
    }

    @Test("without a joint angle the current is zero")
    func noEncoder() {
        #expect(PhaseMotor(polePairs: 7).commutate(torque: 1, joint: 0, share: 0).amplitude == 0)
        #expect(PhaseMotor(polePairs: 7).commutate(torque: 1, joint: .nan, share: 1).amplitude == 0)
    }

    @Test("counts stay within the chip's twelve bits")
    func counts() {
        #expect(PCA9685Phases.counts(0.5) == 2048)
        #expect(PCA9685Phases.counts(1) == 4095 && PCA9685Phases.counts(-1e-17) == 0)
    }

    private func cosine(_ angle: Double) -> Double { sine(angle + .pi / 2) }

    /// Sine with an error below 1e-15, without a maths library: the Maclaurin series of the wrapped
    /// angle.
    private func sine(_ angle: Double) -> Double {
        let wrapped = angle - (angle / (2 * .pi)).rounded() * 2 * .pi
        var (term, sum) = (wrapped, wrapped)
        for n in 1..<20 {
            term *= -wrapped * wrapped / Double(2 * n * (2 * n + 1))
            sum += term
        }
        return sum
    }
}
