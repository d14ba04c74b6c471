import GimbalCore
import Glibc
import Simulation
import Testing

/// The complete stabilizer on a gimbal whose brushless motors have no encoders, with variants of
/// the default plant.
@Suite("Gimbal with motors without encoders")
struct FieldGimbalTests {
    static let degrees = 180 / Double.pi

    /// Loop around a modified gimbal. The handle is still for the first 3 s.
    static func loop(
        _ kind: HandleMotion, _ motor: MotorType = .field,
        change: (inout SimulatedGimbal.Parameters) -> Void = { _ in },
        tune: (inout Stabilizer.Parameters) -> Void = { _ in }
    ) -> SimulatedLoop {
        SimulatedLoop(BaseMotion(kind, seed: 1, stillDuration: 3), motor: motor) {
            change(&$0)
            tune(&$1)
        }
    }

    @Test(
        "while a person walks, roll and pitch stay within 0.1° RMS, and the joint angles are known within 4°"
    )
    func walking() {
        var loop = Self.loop(.walking)
        loop.run(seconds: 7)
        let jitter = loop.jitter(4)
        #expect(jitter.roll < 0.1 && jitter.pitch < 0.1)
        if case .fieldAngle = loop.snapshot.jointSource {
        } else {
            Issue.record("the joints' source is \(loop.snapshot.jointSource)")
        }
        let error = (loop.snapshot.joints - loop.gimbal.joints) * Self.degrees
        #expect(abs(error.roll) < 4 && abs(error.pitch) < 4)
    }

    @Test(
        "the motors start at less than 90 °/s, for every initial electrical angle of the rotors",
        arguments: [-3.0, -1.5, 0, 1.6, 3.1])
    func start(zero: Double) {
        var loop = Self.loop(.still) { $0.field.zero = AxisVector(repeating: zero) }
        var fastest = 0.0
        loop.run(seconds: 3.5) { fastest = max(fastest, $0.speed) }
        // The swing that measures the inertia is the fastest part of the start.
        #expect(fastest < 90)
        #expect(loop.output.enabled && loop.speed < 1)
        #expect(abs(loop.camera.pitch) < 3 && abs(loop.camera.roll) < 3)
    }

    @Test(
        "the power without load is lower than configured only for a light camera with measured inertia",
        arguments: [(0.05, true), (0.05, false), (1, true)])
    func restPower(inertia: Double, isProbed: Bool) {
        var loop = Self.loop(.still) {
            $0.plant.inertia = $0.plant.inertia * inertia
        } tune: {
            $0.field.probesInertia = isProbed
            if !isProbed { $0.field.inertia = $0.field.inertia * inertia }
        }
        loop.run(seconds: 4)
        let power = loop.snapshot.restPower
        if inertia < 1, isProbed {
            // 1.25e-4 kg·m² x (40 rad/s)² / 7 pole pairs are 29 mN·m of the 250 mN·m.
            #expect(power.roll > 0.08 && power.roll < 0.25, "\(power)")
        } else {
            #expect(power == AxisVector(repeating: 0.5))
        }
        #expect(loop.output.enabled && loop.speed < 20)
    }

    @Test(
        "the camera is still with 0.25 or 4 times the inertia, triple friction, or an imbalance",
        arguments: [(4.0, 1.0, 5e-3), (0.25, 1.0, 5e-3), (1, 3, 5e-3), (1, 1, 25e-3)])
    func plants(inertia: Double, friction: Double, imbalance: Double) {
        var loop = Self.loop(.still) {
            $0.plant.inertia = $0.plant.inertia * inertia
            $0.plant.friction.coulomb *= friction
            $0.plant.friction.stiction *= friction
            $0.plant.imbalance = Vector3(imbalance, imbalance, imbalance) * (1 / 9.81)
        }
        loop.run(seconds: 4)
        let jitter = loop.jitter(1)
        #expect(loop.output.enabled)
        #expect(jitter.roll < 0.05 && jitter.pitch < 0.05)
        #expect(loop.snapshot.attitudeError.norm * Self.degrees < 0.5)
    }

    @Test(
        "a heavy camera that falls before the motors switch on is caught and held",
        arguments: [(3.0, 25e-3), (2, 25e-3), (4, 25e-3), (3, 40e-3)],
        [HandleMotion.still, .walking])
    func fallen(camera: (inertia: Double, imbalance: Double), motion: HandleMotion) {
        var loop = Self.loop(motion) {
            $0.plant.inertia = $0.plant.inertia * camera.inertia
            $0.plant.imbalance = Vector3(1, 1, 1) * (camera.imbalance / 9.81)
        }
        loop.run(seconds: 9)
        let jitter = loop.jitter(1)
        #expect(loop.output.enabled)
        #expect(jitter.roll < 0.1 && jitter.pitch < 0.1, "\(jitter)")
        let error = loop.snapshot.attitudeError.norm * Self.degrees
        #expect(error < 0.5, "\(error)")
    }

    @Test(
        "of 30 random heavy cameras that fall before the motors switch on, at least 26 are caught and held",
        arguments: [HandleMotion.still, .walking])
    func mostFallen(motion: HandleMotion) {
        var held = 0
        for seed in 0..<30 {
            var random = RandomSource(seed: UInt64(seed), stream: 0xCA7C)
            // 1.5 to 4.5 times the inertia; 10 mN·m to 25 mN·m about each axis of the camera.
            let inertia = 1.5 * pow(3, random.uniform())
            let torque = 0.010 + 0.015 * random.uniform()
            func sign() -> Double { random.uniform() < 0.5 ? -1 : 1 }
            func angle() -> Double { 6 * random.uniform() - 3 }
            let direction = Vector3(sign(), sign(), sign())
            let zero = AxisVector(yaw: angle(), roll: angle(), pitch: angle())
            var loop = Self.loop(motion) {
                $0.plant.inertia = $0.plant.inertia * inertia
                $0.plant.imbalance = direction * (torque / 9.81)
                $0.field.zero = zero
            }
            loop.run(seconds: 9)
            let jitter = loop.jitter(1)
            let error = loop.snapshot.attitudeError.norm * Self.degrees
            let isStill = jitter.roll < 0.1 && jitter.pitch < 0.1 && error < 0.5
            if loop.output.enabled, isStill { held += 1 }
        }
        #expect(held >= 26, "\(held) of 30")
    }

    @Test("a camera that is pushed away with more than the motors' torque returns after the push")
    func force() {
        var loop = Self.loop(.still)
        loop.run(seconds: 3.5)
        loop.gimbal.push = Vector3(0, 0.4, 0)
        loop.run(seconds: 0.3)
        loop.gimbal.push = .zero
        loop.run(seconds: 2.5)
        #expect(loop.snapshot.attitudeError.norm * Self.degrees < 0.5)
        #expect(loop.speed < 2)
    }

    @Test(
        "while a rotor slips, the camera keeps the requested direction", arguments: [0.4, -0.4])
    func slip(push: Double) {
        var loop = Self.loop(.still)
        loop.run(seconds: 3)
        let target = AxisVector(yaw: 1.2, roll: 0, pitch: 0.3)
        loop.ask(.point(Command.PointRequest(target: target, duration: 1, rate: 0)))
        loop.run(seconds: 2)
        var conditions = Conditions.none
        var largest = 0.0
        func error() -> AxisVector {
            (EulerZXY.angles(loop.gimbal.attitude) - target) * Self.degrees
        }
        for (push, seconds) in [(push, 0.3), (0, 3)] {
            loop.gimbal.push = Vector3(0, push, 0)
            for _ in 0..<Int(seconds * 1000) {
                loop.step()
                conditions.insert(loop.conditions)
                largest = max(largest, abs(error().yaw))
            }
        }
        #expect(conditions.intersects(.motorSlipped))
        // The camera once turned to its heading at the start, 69° away.
        #expect(largest < 20, "\(largest)°")
        #expect(abs(error().yaw) < 2 && abs(error().pitch) < 2, "\(error())")
    }

    @Test("a handle that a hand turns at 200 °/s does not count as a slipped rotor")
    func quickHandle() {
        var base = BaseMotion(.still, seed: 1, stillDuration: 3, rampDuration: 0.3)
        base.turnRate = AxisVector(yaw: 200, roll: 0, pitch: 0) * (.pi / 180)
        base.turnDuration = 1
        var loop = SimulatedLoop(base, motor: .field)
        loop.ask(.mode(.panFollow))
        var conditions = Conditions.none
        loop.run(seconds: 6) { conditions.insert($0.conditions) }
        #expect(!conditions.intersects(.motorSlipped) && loop.output.enabled)
    }

    @Test(
        "servos start at their last yaw, not at zero or at the integral of a handle's gyroscope",
        arguments: [false, true], [nil, GimbalAxis.pitch])
    func servoYaw(hasHandleGyro: Bool, tested: GimbalAxis?) {
        var loop = Self.loop(hasHandleGyro ? .walking : .still, .servo) {
            $0.hasHandleGyro = hasHandleGyro
        }
        loop.run(seconds: 3)
        loop.ask(
            .point(
                Command.PointRequest(
                    target: AxisVector(yaw: 1, roll: 0, pitch: 0), duration: 1, rate: 0)))
        loop.run(seconds: 3)
        loop.ask(.mode(.inactive))
        loop.run(seconds: 1)
        #expect(!loop.output.enabled)
        if let tested {
            loop.ask(.testMotor(tested), validUntil: loop.now.advanced(bySeconds: 0.5))
            loop.run(seconds: 1)
        }
        // The integral of a handle's gyroscope with a bias of 2°/s drifts by 40°.
        for _ in 0..<20 * loop.rateHz {
            loop.advance { $0.baseGyro.z += 2 * .pi / 180 }
            loop.drive()
        }
        let last = loop.gimbal.joints.yaw
        loop.ask(.mode(.locked))
        var started: Double?
        var jump = 0.0
        loop.run(seconds: 2) {
            guard $0.output.enabled else { return }
            started = started ?? $0.seconds
            if let started, $0.seconds < started + 0.1 {
                jump = max(jump, abs($0.gimbal.joints.yaw - last))
            }
        }
        #expect(loop.output.enabled)
        #expect(jump < 0.1, "\(jump) rad")
    }

    @Test(
        "another assumed torque of the motors changes the measured inertia by the same factor, so the gains stay the same",
        arguments: [0.4, 2.5])
    func changedTorque(factor: Double) {
        var loop = Self.loop(.still)
        loop.run(seconds: 4)
        let before = loop.snapshot.inertia
        var tuning = loop.stabilizer.parameters
        tuning.field.peakTorque = tuning.field.peakTorque * factor
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 2)
        let after = loop.snapshot.inertia
        #expect(abs(after.pitch / (factor * before.pitch) - 1) < 1e-6, "\(after) \(before)")
        #expect(abs(after.roll / (factor * before.roll) - 1) < 1e-6, "\(after) \(before)")
        #expect(loop.output.enabled && !loop.snapshot.conditions.intersects(.loopOscillating))
    }

    @Test("a changed mounting of the sensor does not jerk motors that are on")
    func changedMounting() {
        var loop = Self.loop(.still)
        loop.run(seconds: 4)
        #expect(loop.output.enabled)
        let (field, attitude) = (loop.output.field, loop.gimbal.attitude)
        var tuning = loop.stabilizer.parameters
        // The camera returns to level, so it turns by the change of the mounting, 2.9°.
        tuning.correction.mounting =
            EulerZXY.quaternion(AxisVector(yaw: 0, roll: 0.05, pitch: 0))
            * tuning.correction.mounting
        loop.stabilizer.apply(tuning)
        loop.step()
        let jump = loop.output.field - field
        for angle in [jump.yaw, jump.roll, jump.pitch] {
            #expect(abs(angle.remainder(dividingBy: 2 * .pi)) < 0.3, "\(jump)")
        }
        var farthest = 0.0
        loop.run(seconds: 2) {
            let turned = attitude.error(to: $0.gimbal.attitude).norm * Self.degrees
            farthest = max(farthest, turned)
        }
        #expect(loop.output.enabled && farthest > 2 && farthest < 5, "\(farthest)°")
    }

    @Test("the mode inactive switches the field off")
    func inactive() {
        var loop = Self.loop(.still)
        loop.run(seconds: 2.5)
        #expect(loop.output.enabled)
        loop.ask(.mode(.inactive))
        loop.run(seconds: 0.5)
        #expect(!loop.output.enabled && loop.output.power == .zero)
    }

    @Test("servos on a table do not hunt around their dead band")
    func servoAtRest() {
        var loop = Self.loop(.still, .servo)
        loop.run(seconds: 8)
        let jitter = loop.jitter(2)
        #expect(jitter.roll < 0.05 && jitter.pitch < 0.05)
    }

    @Test(
        "servos that are up to a quarter slower or faster than the model still hold the camera",
        arguments: [0.75, 0.9, 1.1, 1.25])
    func servoDelay(factor: Double) {
        var loop = Self.loop(.walking, .servo) { $0.servo.totalDelay *= factor }
        loop.run(seconds: 6)
        let jitter = loop.jitter(3)
        #expect(jitter.roll < 0.8 && jitter.pitch < 0.8, "\(jitter)")
    }

    @Test(
        "the inertia of a camera with 1/17 of the assumed inertia is measured within 2 s, and its rate stays below 200 °/s"
    )
    func light() {
        var loop = Self.loop(.still) { $0.plant.scale(inertia: 1 / 17.0) }
        var largest = 0.0
        loop.run(seconds: 2) { largest = max(largest, $0.speed) }
        #expect(largest < 200, "\(largest)")
        let found = loop.snapshot.inertia * (17 / 2.5e-3)
        #expect(found.roll > 0.7 && found.roll < 1.4 && found.pitch > 0.7 && found.pitch < 1.4)
        var calm = 0.0
        loop.run(seconds: 2) { calm = max(calm, $0.speed) }
        #expect(calm < 20, "\(calm)")
        #expect(!loop.snapshot.conditions.intersects(.loopOscillating))
    }

    @Test(
        "if the configured inertia is eight times too high, the gains decrease until the oscillation ends, and the condition is reported"
    )
    func heavyBelief() {
        var loop = Self.loop(.still) {
            $0.plant.scale(inertia: 1 / 8.0)
        } tune: {
            $0.field.probesInertia = false
        }
        loop.run(seconds: 6)
        var calm = 0.0
        loop.run(seconds: 2) { calm = max(calm, $0.speed) }
        #expect(calm < 2, "\(calm)")
        #expect(loop.output.enabled)
        #expect(loop.snapshot.conditions.intersects(.loopOscillating))
        let lowered = loop.snapshot.inertia.pitch
        var tuning = loop.stabilizer.parameters
        tuning.field.watchesOscillation = false
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 0.01)
        #expect(!loop.snapshot.conditions.intersects(.loopOscillating))
        #expect(loop.snapshot.inertia.pitch > 3.9 * lowered)
    }

    @Test(
        "an IMU on the handle measures the joint angles without encoders, and reduces the error of servos"
    )
    func handleIMU() {
        var torque = Self.loop(.walking, .torque) {
            $0.encoderCounts = 0
            $0.hasHandleGyro = true
        }
        torque.run(seconds: 7)
        if case .handleIMU = torque.snapshot.jointSource {
        } else {
            Issue.record("the joints' source is \(torque.snapshot.jointSource)")
        }
        let error = (torque.snapshot.joints - torque.gimbal.joints) * Self.degrees
        #expect(abs(error.yaw) < 3 && abs(error.roll) < 3 && abs(error.pitch) < 3)
        var servo = Self.loop(.walking, .servo) { $0.hasHandleGyro = true }
        servo.run(seconds: 6)
        let jitter = servo.jitter(3)
        #expect(jitter.roll < 0.12 && jitter.pitch < 0.12)
    }
}

extension SimulatedLoop {
    /// True rate of the camera, deg/s.
    fileprivate var speed: Double { gimbal.rate.norm * FieldGimbalTests.degrees }

    /// Standard deviation of roll and pitch over the next seconds, degrees.
    fileprivate mutating func jitter(_ seconds: Double) -> AxisVector {
        var sum = AxisVector.zero
        var squares = AxisVector.zero
        var count = 0.0
        run(seconds: seconds) {
            sum = sum + $0.camera
            squares = squares + $0.camera * $0.camera
            count += 1
        }
        let mean = sum * (1 / count)
        let variance = squares * (1 / count) - mean * mean
        return AxisVector(
            yaw: 0, roll: max(variance.roll, 0).squareRoot(),
            pitch: max(variance.pitch, 0).squareRoot())
    }
}
