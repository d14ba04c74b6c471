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

    /// The app's defaults, except for pitch.
    static func app(pitch: PIDTriple) -> PerAxis<PIDTriple> {
        PerAxis(yaw: .pan, roll: .tilt, pitch: pitch)
    }

    @Test("the app's default gains change nothing, bit for bit")
    func defaults() {
        let torque = AttitudeController.Parameters()
        #expect(torque.scaled(by: PIDTriple.defaults) == torque)
        let servo = ServoController.Parameters()
        #expect(servo.scaled(by: PIDTriple.defaults) == servo)
        let field = FieldController.Parameters()
        #expect(field.scaled(by: PIDTriple.defaults) == field)
        for app in [PIDTriple.pan, .tilt] {
            let scale = AirOSScale(app, relativeTo: app)
            #expect(scale.proportional == 1 && scale.integral == 1 && scale.derivative == 1)
        }
    }

    @Test("each gain increases strictly over the range of its slider, and p affects no other gain")
    func monotonic() {
        for bounds in [AirOSScale.Bounds.torque, .servo, .field] { monotonic(within: bounds) }
    }

    private func monotonic(within bounds: AirOSScale.Bounds) {
        var before = AirOSScale(PIDTriple(p: 0, i: 0, d: 0), relativeTo: .tilt, bounds: bounds)
        for step in 1...100 {
            let share = Double(step) / 100
            let next = AirOSScale(
                PIDTriple(p: 5 * share, i: share, d: 0.5 * share), relativeTo: .tilt,
                bounds: bounds)
            #expect(next.proportional > before.proportional)
            #expect(next.integral > before.integral)
            #expect(next.derivative > before.derivative)
            before = next
        }
        let alone = AirOSScale(
            PIDTriple(p: 5, i: 0.1, d: 0.05), relativeTo: .tilt, bounds: bounds)
        #expect(alone.proportional > before.proportional - 1e-9 && alone.proportional > 1.05)
        #expect(alone.proportional <= bounds.proportional.upperBound)
        #expect(alone.integral == 1 && alone.derivative == 1)
    }

    @Test(
        "on field motors, p sets the stiffness, d the damping and i the observer bandwidth, for each axis"
    )
    func field() {
        let base = FieldController.Parameters()
        func stiffness(_ p: FieldController.Parameters) -> Double {
            p.attitudeGain.pitch * p.rateGain.pitch
        }
        let stiff = base.scaled(by: Self.app(pitch: PIDTriple(p: 5, i: 0.1, d: 0.05)))
        #expect(stiffness(stiff) > 1.1 * stiffness(base))
        #expect(stiff.rateGain == base.rateGain)
        #expect(stiff.observerBandwidth == base.observerBandwidth)
        #expect(stiff.attitudeGain.yaw == base.attitudeGain.yaw)
        let damped = base.scaled(by: Self.app(pitch: PIDTriple(p: 1.2, i: 0.1, d: 0.5)))
        #expect(damped.rateGain.pitch > 1.1 * base.rateGain.pitch)
        #expect(abs(stiffness(damped) / stiffness(base) - 1) < 1e-12)
        let slow = base.scaled(by: Self.app(pitch: PIDTriple(p: 1.2, i: 0, d: 0.05)))
        #expect(slow.observerBandwidth.pitch < base.observerBandwidth.pitch)
        #expect(slow.observerBandwidth.roll == base.observerBandwidth.roll)
        #expect(slow.rateGain == base.rateGain && slow.attitudeGain == base.attitudeGain)
    }

    @Test(
        "with the default tuning, every slider position keeps gain margins of 3 dB and a phase margin of 25°"
    )
    func margins() {
        let base = AttitudeController.Parameters()
        for (tilt, pan) in zip(Self.tilt, Self.pan) {
            let scaled = base.scaled(by: PerAxis(yaw: pan, roll: tilt, pitch: tilt))
            for axis in [GimbalAxis.yaw, .pitch] {
                let margins = LoopMargins(of: scaled, axis: axis)
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
        let before = LoopMargins(of: edge, axis: .pitch)
        #expect(before.increaseDecibels < 2)
        let most = PIDTriple(p: 5, i: 1, d: 0.5)
        let after = LoopMargins(of: edge.scaled(by: Self.app(pitch: most)), axis: .pitch)
        #expect(after.increaseDecibels > 0 && after.phaseDegrees > 0, "\(before) \(after)")
    }

    @Test("a value that is negative or not finite counts as zero")
    func nonsense() {
        let zero = AirOSScale(PIDTriple(p: 0, i: 0, d: 0), relativeTo: .tilt)
        let bad = AirOSScale(PIDTriple(p: .nan, i: -1, d: -.infinity), relativeTo: .tilt)
        #expect(bad == zero)
    }
}
