import Glibc
import Testing

@testable import GimbalCore

@Suite("Field controller")
struct FieldControllerTests {
    static let still = Setpoint(attitude: .identity, rate: .zero)

    @Test("the power is proportional to the authority, and zero without authority")
    func power() {
        var parameters = FieldController.Parameters()
        parameters.probesInertia = false
        var controller = FieldController(parameters: parameters)
        let off = controller.step(
            ControlInput(
                attitude: .identity, rate: .zero, setpoint: Self.still, authority: 0, dt: 1e-3))
        #expect(off.power == .zero)
        let half = controller.step(
            ControlInput(
                attitude: .identity, rate: .zero, setpoint: Self.still, authority: 0.5, dt: 1e-3))
        #expect(half.power == AxisVector(repeating: 0.25))
    }

    @Test(
        "during the search at the first start, the fields turn, and their power is proportional to the authority"
    )
    func search() {
        var controller = FieldController(parameters: .init())
        controller.reset()
        var fields: [AxisVector] = []
        for tick in 0...100 {
            let authority = Double(tick) / 200
            let output = controller.step(
                ControlInput(
                    attitude: .identity, rate: .zero, setpoint: Self.still, authority: authority,
                    dt: 1e-3))
            #expect(output.power.roll <= authority && output.power.roll > authority - 0.02)
            fields.append(output.field)
        }
        #expect(zip(fields, fields.dropFirst()).allSatisfy { $0.roll < $1.roll })
        #expect(!controller.isReady)
    }

    @Test("an interrupted search begins again at the next start, unless it has been switched off")
    func interrupted() {
        var controller = FieldController(parameters: .init())
        func turned() -> Double {
            controller.reset()
            for tick in 0...50 {
                _ = controller.step(
                    ControlInput(
                        attitude: .identity, rate: .zero, setpoint: Self.still,
                        authority: Double(tick) / 500, dt: 1e-3))
            }
            return controller.output.field.roll
        }
        let first = turned()
        #expect(first > 5)
        #expect(turned() == first)
        controller.parameters.probesInertia = false
        #expect(abs(turned()) < 0.1)
    }

    @Test("before the delay is measured, it counts as longer than configured")
    func unknownDelay() {
        func delay(isProbed: Bool) -> Double {
            var parameters = FieldController.Parameters()
            parameters.probesInertia = isProbed
            var controller = FieldController(parameters: parameters)
            controller.reset()
            _ = controller.step(
                ControlInput(
                    attitude: .identity, rate: .zero, setpoint: Self.still, authority: 0, dt: 1e-3))
            return controller.loopDelay - parameters.loopDelay
        }
        #expect(abs(delay(isProbed: true) - 1.5e-3) < 1e-9)
        #expect(delay(isProbed: false) == 0)
        #expect(Self.started(rate: 0).loopDelay < 5e-3, "the search has measured the delay")
    }

    /// Controller after the first start of a camera with triple inertia about pitch, as soon as the
    /// controller is ready. The axes move independently; at the beginning, the camera turns about
    /// pitch at `rate`, rad/s.
    private static func started(rate: Double) -> FieldController {
        var parameters = FieldController.Parameters()
        parameters.loopDelay = 0.004
        parameters.watchesOscillation = false
        var controller = FieldController(parameters: parameters)
        controller.reset()
        let inertia = AxisVector(yaw: 2.5e-3, roll: 2.5e-3, pitch: 7.5e-3)
        let rotors = AxisVector(yaw: 1, roll: -0.7, pitch: 2)
        var (angles, rates) = (AxisVector.zero, AxisVector(yaw: 0, roll: 0, pitch: rate))
        var outputs = [MotorOutput](repeating: .off, count: 4)
        for tick in 0..<1500 where !controller.isReady {
            let output = controller.step(
                ControlInput(
                    attitude: .aboutY(angles.pitch),
                    rate: Vector3(rates.roll, rates.pitch, rates.yaw), setpoint: Self.still,
                    areJointsMeasured: true, authority: min(Double(tick) / 500, 1), dt: 1e-3))
            outputs.append(output)
            let acting = outputs[outputs.count - 4]
            for axis in GimbalAxis.allCases {
                let load =
                    acting.field[axis] - rotors[axis] - parameters.polePairs * angles[axis]
                let torque = parameters.peakTorque[axis] * acting.power[axis] * sin(load)
                rates[axis] += torque / inertia[axis] * 1e-3
                angles[axis] += rates[axis] * 1e-3
            }
        }
        return controller
    }

    @Test(
        "after a measurement with a falling camera, the next start searches again; after a search, it does not",
        arguments: [true, false])
    func searchAfterFall(falls: Bool) {
        var controller = Self.started(rate: falls ? 0.8 : 0)
        #expect(controller.isReady)
        #expect(abs(controller.inertia.pitch / 7.5e-3 - 1) < 0.2, "\(controller.inertia)")
        // The second start, of a camera at rest.
        controller.reset()
        // The outputs stay off; a restart before the motors are switched on changes nothing.
        controller.reset()
        for tick in 0...50 {
            _ = controller.step(
                ControlInput(
                    attitude: .identity, rate: .zero, setpoint: Self.still,
                    authority: Double(tick) / 500, dt: 1e-3))
        }
        let turned = controller.output.field.roll
        #expect(falls ? turned > 5 : abs(turned) < 0.1, "\(turned) rad")
    }

    @Test("after a reset the field is at the known joint angles")
    func reset() {
        var controller = FieldController(parameters: .init())
        controller.reset(joints: AxisVector(yaw: 0.1, roll: -0.2, pitch: 0.3))
        let field = controller.step(
            ControlInput(
                attitude: .identity, rate: .zero, setpoint: Self.still, authority: 0, dt: 1e-3
            )
        ).field
        #expect(abs(field.yaw - 0.7) < 1e-9)
        #expect(abs(field.roll + 1.4) < 1e-9)
        #expect(abs(field.pitch - 2.1) < 1e-9)
    }

    @Test(
        "a large error saturates the controller, and the output stays finite and within full power")
    func loadLimit() {
        var parameters = FieldController.Parameters()
        parameters.probesInertia = false
        var controller = FieldController(parameters: parameters)
        let tilted = Quaternion.aboutY(-1.5)
        var output = MotorOutput.off
        for _ in 0..<215 {
            output = controller.step(
                ControlInput(
                    attitude: tilted, rate: .zero, setpoint: Self.still, authority: 1, dt: 1e-3))
        }
        #expect(!controller.saturated.isEmpty)
        #expect(output.power.pitch <= 1)
        #expect(output.field.isFinite)
    }

    @Test("after a reset, a rotor that slipped before the motors were off is not reported")
    func slipBeforeReset() {
        var parameters = FieldController.Parameters()
        parameters.probesInertia = false
        var controller = FieldController(parameters: parameters)
        func step(rate: Double) {
            _ = controller.step(
                ControlInput(
                    attitude: .identity, rate: Vector3(0, rate, 0), setpoint: Self.still,
                    authority: 1, dt: 1e-3))
        }
        for _ in 0..<250 { step(rate: 0) }
        // The camera accelerates four times as fast as the motor can accelerate it.
        for tick in 1...300 where controller.slipping.isEmpty { step(rate: 0.4 * Double(tick)) }
        #expect(!controller.slipping.isEmpty)
        controller.reset()
        step(rate: 0)
        #expect(controller.slipping.isEmpty)
    }

    @Test("a load raises the power at once, and the power falls slowly after the load")
    func raise() {
        var parameters = FieldController.Parameters()
        parameters.probesInertia = false
        var controller = FieldController(parameters: parameters)
        for _ in 0..<250 {
            _ = controller.step(
                ControlInput(
                    attitude: .aboutY(-0.5), rate: .zero, setpoint: Self.still, authority: 1,
                    dt: 1e-3))
        }
        let loaded = controller.output.power.pitch
        #expect(loaded > 0.6)
        let next = controller.step(
            ControlInput(
                attitude: .identity, rate: .zero, setpoint: Self.still, authority: 1, dt: 1e-3))
        #expect(next.power.pitch > 0.9 * loaded)
    }

    @Test(
        "a rate that is not finite repeats the last output and does not change the state",
        arguments: [Double.nan, .infinity])
    func notANumber(value: Double) {
        var controller = FieldController(parameters: .init())
        var twin = controller
        for _ in 0..<50 {
            let good = controller.step(
                ControlInput(
                    attitude: .aboutX(0.1), rate: .zero, setpoint: Self.still, authority: 1,
                    dt: 1e-3))
            let expected = twin.step(
                ControlInput(
                    attitude: .aboutX(0.1), rate: .zero, setpoint: Self.still, authority: 1,
                    dt: 1e-3))
            #expect(good.field == expected.field && good.power == expected.power)
            let bad = controller.step(
                ControlInput(
                    attitude: .identity, rate: Vector3(value, 0, 0), setpoint: Self.still,
                    authority: 1, dt: 1e-3))
            #expect(bad.field == good.field && bad.power == good.power)
        }
    }
}
