import Configuration
import GimbalCore
import Port
import Testing

@Suite("PID gains of an AirOS app")
struct AirOSScaleTests {
    /// Values over the range of the app's sliders: pitch and roll p 0...5, i 0...1, d 0...0.5; yaw
    /// p 0...3, i 0...0.5, d 0...0.2.
    static func grid(_ p: Double, _ i: Double, _ d: Double) -> [PIDTriple] {
        let steps = [0, 0.25, 0.5, 0.75, 1]
        return steps.flatMap { a in
            steps.flatMap { b in steps.map { PIDTriple(p: a * p, i: b * i, d: $0 * d) } }
        }
    }

    static let tilt = grid(5, 1, 0.5)
    static let pan = grid(3, 0.5, 0.2)
    static let motors = [MotorType.torque, .servo, .field]

    /// The app's defaults, except for pitch.
    static func app(pitch: PIDTriple) -> PerAxis<PIDTriple> {
        PerAxis(yaw: .pan, roll: .tilt, pitch: pitch)
    }

    /// The default tuning of motors of the given type, scaled by an app's numbers.
    static func scaled(
        _ motor: MotorType, by pid: PerAxis<PIDTriple>,
        base: AttitudeController.Parameters = AttitudeController.Parameters()
    ) -> Stabilizer.Parameters {
        var parameters = Stabilizer.Parameters()
        parameters.motorType = motor
        parameters.controller = base
        AirOSScale.apply(pid, to: &parameters)
        return parameters
    }

    /// The factors by which an app's numbers of the pitch axis have multiplied the default tuning.
    static func factors(
        _ motor: MotorType, _ pitch: PIDTriple
    ) -> (p: Double, i: Double, d: Double) {
        let scaled = scaled(motor, by: app(pitch: pitch))
        let base = Stabilizer.Parameters()
        func ratio(_ path: (Stabilizer.Parameters) -> AxisVector) -> Double {
            path(scaled).pitch / path(base).pitch
        }
        return switch motor {
        case .torque:
            (
                ratio(\.controller.rateGain), ratio(\.controller.rateIntegralGain),
                ratio(\.controller.rateDerivativeGain)
            )
        case .servo: (ratio(\.servo.bandwidth), ratio(\.servo.loopGain), ratio(\.servo.lookAhead))
        case .field:
            (
                ratio(\.field.attitudeGain) * ratio(\.field.rateGain),
                ratio(\.field.observerBandwidth), ratio(\.field.rateGain)
            )
        }
    }

    @Test("the app's default gains change nothing, bit for bit", arguments: motors)
    func defaults(_ motor: MotorType) {
        var unchanged = Stabilizer.Parameters()
        unchanged.motorType = motor
        unchanged.controller = AttitudeController.Parameters()
        #expect(Self.scaled(motor, by: PIDTriple.defaults) == unchanged)
    }

    @Test("an app's gains change only the tuning of the configured motors")
    func configured() {
        let most = Self.app(pitch: PIDTriple(p: 5, i: 1, d: 0.5))
        let scaled = Self.scaled(.servo, by: most)
        #expect(scaled.controller == AttitudeController.Parameters())
        #expect(scaled.field == FieldController.Parameters())
        #expect(scaled.servo != ServoController.Parameters())
    }

    @Test(
        "each gain increases strictly over the range of its slider, and p affects no other gain",
        arguments: motors)
    func monotonic(_ motor: MotorType) {
        var before = Self.factors(motor, PIDTriple(p: 0, i: 0, d: 0))
        for step in 1...100 {
            let share = Double(step) / 100
            let next = Self.factors(motor, PIDTriple(p: 5 * share, i: share, d: 0.5 * share))
            #expect(next.p > before.p)
            #expect(next.i > before.i)
            #expect(next.d > before.d)
            before = next
        }
        let alone = Self.factors(motor, PIDTriple(p: 5, i: 0.1, d: 0.05))
        #expect(alone.p > before.p - 1e-9 && alone.p > 1.05 && alone.p <= 1.3)
        #expect(alone.i == 1 && alone.d == 1)
    }

    @Test(
        "for motors without encoders, p scales the stiffness, d the damping and i the observer bandwidth, for each axis"
    )
    func field() {
        func field(_ pitch: PIDTriple) -> FieldController.Parameters {
            Self.scaled(.field, by: Self.app(pitch: pitch)).field
        }
        func stiffness(_ p: FieldController.Parameters) -> Double {
            p.attitudeGain.pitch * p.rateGain.pitch
        }
        let base = FieldController.Parameters()
        let stiff = field(PIDTriple(p: 5, i: 0.1, d: 0.05))
        #expect(stiffness(stiff) > 1.1 * stiffness(base))
        #expect(stiff.rateGain == base.rateGain)
        #expect(stiff.observerBandwidth == base.observerBandwidth)
        #expect(stiff.attitudeGain.yaw == base.attitudeGain.yaw)
        let damped = field(PIDTriple(p: 1.2, i: 0.1, d: 0.5))
        #expect(damped.rateGain.pitch > 1.1 * base.rateGain.pitch)
        #expect(abs(stiffness(damped) / stiffness(base) - 1) < 1e-12)
        let slow = field(PIDTriple(p: 1.2, i: 0, d: 0.05))
        #expect(slow.observerBandwidth.pitch < base.observerBandwidth.pitch)
        #expect(slow.observerBandwidth.roll == base.observerBandwidth.roll)
        #expect(slow.rateGain == base.rateGain && slow.attitudeGain == base.attitudeGain)
    }

    @Test(
        "with the default tuning, every slider position keeps gain margins of 3 dB and a phase margin of 25°"
    )
    func margins() {
        for (tilt, pan) in zip(Self.tilt, Self.pan) {
            let scaled = Self.scaled(.torque, by: PerAxis(yaw: pan, roll: tilt, pitch: tilt))
            for axis in [GimbalAxis.yaw, .pitch] {
                let margins = LoopMargins(
                    of: scaled.controller, axis: axis,
                    lead: AttitudeEstimator.Parameters().sensorDelay)
                #expect(
                    margins.increaseDecibels > 3 && margins.decreaseDecibels > 3
                        && margins.phaseDegrees > 25, "\(axis) \(tilt) \(pan) \(margins)")
            }
        }
    }

    @Test("a loop with small margins stays stable at the highest slider positions")
    func room() {
        var edge = AttitudeController.Parameters()
        edge.rateGain.pitch *= 2.0
        edge.attitudeGain.pitch *= 1.2
        edge.rateIntegralGain.pitch *= 1.5
        let before = LoopMargins(
            of: edge, axis: .pitch, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(before.increaseDecibels < 2)
        let most = PIDTriple(p: 5, i: 1, d: 0.5)
        let scaled = Self.scaled(.torque, by: Self.app(pitch: most), base: edge)
        let after = LoopMargins(
            of: scaled.controller, axis: .pitch, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(after.increaseDecibels > 0 && after.phaseDegrees > 0, "\(before) \(after)")
    }

    @Test("a loop whose notch filter costs most of the margins stays stable at every position")
    func notch() {
        var parameters = Stabilizer.Parameters()
        parameters.rateFilter.pitch = RateFilter.Axis(
            notches: [Notch(hz: 83, q: 4, depth: 30)], lowPassHz: 0, order: 2, sampleRate: 1000)
        let lead = parameters.estimator.sensorDelay
        for pitch in Self.tilt {
            var scaled = parameters
            AirOSScale.apply(Self.app(pitch: pitch), to: &scaled)
            let margins = LoopMargins(
                of: scaled.controller, axis: .pitch, lead: lead, filter: scaled.rateFilter.pitch)
            #expect(
                margins.increaseDecibels > 1 && margins.phaseDegrees > 5, "\(pitch) \(margins)")
        }
    }

    @Test("a value that is negative or not finite counts as zero")
    func nonsense() {
        let zero = Self.scaled(.torque, by: Self.app(pitch: PIDTriple(p: 0, i: 0, d: 0)))
        let bad = Self.scaled(
            .torque, by: Self.app(pitch: PIDTriple(p: .nan, i: -1, d: -.infinity)))
        #expect(bad == zero && zero.controller != AttitudeController.Parameters())
    }
}
