import Foundation
import Testing

@testable import GimbalCore

@Suite("Servo controller")
struct ServoControllerTests {
    /// Servo that behaves exactly as in the controller's model.
    struct PerfectServo {
        var history: [AxisVector] = Array(repeating: .zero, count: 10)
        var angle = AxisVector.zero
        var rate = AxisVector.zero

        mutating func follow(_ command: AxisVector) {
            history.append(command)
            let arrived = history.removeFirst()
            let step = (arrived - angle) * (1e-3 / (0.004 + 1e-3))
            rate = step * 1000
            angle = angle + step
        }
    }

    /// Parameters without a dead band, without a delay of the sensor, and without the detection of
    /// oscillations, which would report a lasting swing of 15 Hz.
    static let ideal = {
        var parameters = ServoController.Parameters()
        parameters.deadBand = 0
        parameters.watchesOscillation = false
        parameters.sensorDelay = 0
        return parameters
    }()

    static let still = Setpoint(attitude: .identity, rate: .zero)

    @Test("at the set-point the joints stay at zero")
    func zero() {
        var controller = ServoController(parameters: .init())
        for _ in 0..<200 {
            let joints = controller.step(
                ControlInput(
                    attitude: .identity, rate: .zero, setpoint: Self.still, authority: 1, dt: 1e-3)
            ).angle
            #expect(joints == .zero)
        }
    }

    @Test("a tilted handle is levelled, even when the servo's zero is off by 5°")
    func levels() {
        let handle = EulerZXY.quaternion(AxisVector(yaw: 0.1, roll: -0.2, pitch: 0.3))
        let offset = AxisVector(repeating: 5 * .pi / 180)
        var controller = ServoController(parameters: Self.ideal)
        var servo = PerfectServo()
        var attitude = handle
        for _ in 0..<1000 {
            let joints = servo.angle + offset
            attitude = handle * JointKinematics.attitude(joints: joints)
            let rate = JointKinematics(joints: joints).relativeRate(jointRates: servo.rate)
            servo.follow(
                controller.step(
                    ControlInput(
                        attitude: attitude, attitudeLead: 0, rate: rate, setpoint: Self.still,
                        authority: 1, dt: 1e-3)
                ).angle)
        }
        #expect(attitude.error(to: .identity).norm < 1e-3)
    }

    @Test("a servo with a range beyond 180° turns on, and not back by a whole turn")
    func beyondHalfTurn() {
        var parameters = Self.ideal
        parameters.minimum.yaw = -1
        parameters.maximum.yaw = 5
        var controller = ServoController(parameters: parameters)
        var servo = PerfectServo()
        var lowest = 0.0
        for tick in 0..<4000 {
            let goal = min(1e-3 * Double(tick), 3.6)
            let attitude = Quaternion.aboutZ(servo.angle.yaw)
            let command = controller.step(
                ControlInput(
                    attitude: attitude, attitudeLead: 0,
                    rate: Vector3(0, 0, servo.rate.yaw),
                    setpoint: Setpoint(
                        attitude: .aboutZ(goal), rate: Vector3(0, 0, goal < 3.6 ? 1 : 0)),
                    authority: 1, dt: 1e-3)
            ).angle
            servo.follow(command)
            if tick > 3000 { lowest = tick == 3001 ? command.yaw : min(lowest, command.yaw) }
        }
        #expect(lowest > 2.9 && abs(servo.angle.yaw - 3.6) < 0.05, "\(lowest), \(servo.angle.yaw)")
    }

    /// Ratio of the camera's swing to the handle's swing with perfect servos: measured, and from
    /// the margins' open loop.
    private static func rest(hertz: Double) -> (measured: Double, said: Double) {
        var parameters = Self.ideal
        // A handle that swings at 15 Hz for seconds looks like an oscillation of the loop.
        parameters.watchesOscillation = false
        parameters.leavesTremor = false
        var controller = ServoController(parameters: parameters)
        var servo = PerfectServo()
        let omega = 2 * Double.pi * hertz
        var power = (left: 0.0, swing: 0.0)
        for tick in 0..<4000 {
            let angle = 0.02 * sin(omega * Double(tick) * 1e-3)
            let swing = 0.02 * omega * cos(omega * Double(tick) * 1e-3)
            let attitude = Quaternion.aboutY(angle + servo.angle.pitch)
            servo.follow(
                controller.step(
                    ControlInput(
                        attitude: attitude, attitudeLead: 0,
                        rate: Vector3(0, swing + servo.rate.pitch, 0), setpoint: still,
                        authority: 1, dt: 1e-3)
                ).angle)
            guard tick >= 2000 else { continue }
            power.left += attitude.error(to: .identity).squaredNorm
            power.swing += angle * angle
        }
        let loop = LoopMargins.response(of: ideal, axis: .pitch, omega: omega, lead: 0)
        let sensitivity = Complex(1) / (Complex(1) + loop)
        return ((power.left / power.swing).squareRoot(), sensitivity.magnitude)
    }

    @Test(
        "the remaining swing of the camera matches the open loop of the margins",
        arguments: [1.0, 2, 4, 8, 15])
    func sensitivity(hertz: Double) {
        let rest = Self.rest(hertz: hertz)
        #expect(abs(rest.measured - rest.said) < 0.01 + 0.1 * rest.said, "\(rest)")
    }

    @Test("a handle IMU that starts later has the same effect as one from the start")
    func lateHandleIMU() {
        let turning = Vector3(0, 0.5, 0)
        func joints(afterTicks first: Int) -> AxisVector {
            var controller = ServoController(parameters: Self.ideal)
            var servo = PerfectServo()
            for tick in 0..<1500 {
                servo.follow(
                    controller.step(
                        ControlInput(
                            attitude: .aboutY(0.5e-3 * Double(tick) + servo.angle.pitch),
                            attitudeLead: 0, rate: Vector3(0, 0.5 + servo.rate.pitch, 0),
                            setpoint: Self.still,
                            handleRate: tick < first ? nil : turning, authority: 1, dt: 1e-3)
                    ).angle)
            }
            return controller.joints
        }
        let difference = (joints(afterTicks: 300) - joints(afterTicks: 0)).pitch
        // A look-ahead that is one fifth shorter would cause 1.5 mrad.
        #expect(abs(difference) < 1e-4, "\(difference)")
    }

    @Test("the default parameters keep 6 dB and 45°")
    func margins() {
        let margins = LoopMargins(
            of: ServoController.Parameters(), axis: .pitch,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(margins.areHealthy && margins.decreaseDecibels > 8, "\(margins)")
    }

    @Test("joint commands stay within the range and within the servo's speed")
    func limits() {
        var controller = ServoController(parameters: .init())
        let target = Setpoint(attitude: .aboutY(2.5), rate: .zero)
        var last = AxisVector.zero
        var servo = PerfectServo()
        for _ in 0..<1000 {
            let joints = controller.step(
                ControlInput(
                    attitude: JointKinematics.attitude(joints: servo.angle),
                    rate: JointKinematics(joints: servo.angle).relativeRate(jointRates: servo.rate),
                    setpoint: target, authority: 1, dt: 1e-3)
            ).angle
            servo.follow(joints)
            #expect(abs(joints.pitch - last.pitch) <= 600 * .pi / 180 * 1e-3 + 1e-12)
            #expect(abs(joints.pitch) <= 1.5 && abs(joints.yaw) <= 1.5)
            last = joints
        }
        #expect(!controller.saturated.isEmpty)
        #expect(last.pitch == 1.5)
    }

    @Test("in a loop of 100 Hz, a horn that turns a period's step within its lag is expected")
    func slowLoopJolt() {
        var parameters = ServoController.Parameters()
        parameters.delay = 0.015
        parameters.frame = 0.01
        var controller = ServoController(parameters: parameters)
        let rate = Vector3(0, 0, 0.5)
        for tick in 1...100 {
            _ = controller.step(
                ControlInput(
                    attitude: .aboutZ(controller.modelledJoints.yaw), attitudeLead: 0,
                    rate: Vector3(0, 0, controller.modelledRates.yaw),
                    setpoint: Setpoint(attitude: .aboutZ(5e-3 * Double(tick)), rate: rate),
                    authority: 1, dt: 0.01))
        }
        // A step of 5 mrad within 4 ms.
        #expect(controller.jolts.yaw > 1.25, "\(controller.jolts)")
    }

    @Test("without authority the servos hold their angles")
    func authority() {
        var controller = ServoController(parameters: .init())
        controller.reset(joints: AxisVector(yaw: 0.1, roll: 0.2, pitch: 0.3))
        for _ in 0..<100 {
            let joints = controller.step(
                ControlInput(
                    attitude: .aboutX(0.5), rate: .zero, setpoint: Self.still, authority: 0,
                    dt: 1e-3)
            ).angle
            #expect(joints == AxisVector(yaw: 0.1, roll: 0.2, pitch: 0.3))
        }
    }

    @Test("a rate that is not finite repeats the last command and does not change the state")
    func notANumber() {
        var controller = ServoController(parameters: .init())
        var twin = controller
        for _ in 0..<20 {
            let good = controller.step(
                ControlInput(
                    attitude: .aboutX(0.1), rate: .zero, setpoint: Self.still, authority: 1,
                    dt: 1e-3)
            ).angle
            let expected = twin.step(
                ControlInput(
                    attitude: .aboutX(0.1), rate: .zero, setpoint: Self.still, authority: 1,
                    dt: 1e-3)
            ).angle
            #expect(good == expected)
            let bad = controller.step(
                ControlInput(
                    attitude: .identity, rate: Vector3(.nan, 0, 0), setpoint: Self.still,
                    authority: 1, dt: 1e-3)
            ).angle
            #expect(bad == good)
        }
    }
}
