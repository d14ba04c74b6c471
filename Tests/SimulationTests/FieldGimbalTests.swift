import GimbalCore
import Simulation
import Testing

/// The whole mind on a gimbal whose brushless motors have no encoders, on variants of the default plant.
@Suite("Gimbal with motors without encoders")
struct FieldGimbalTests {
    static let degrees = 180 / Double.pi

    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer: Stabilizer
        var output = MotorOutput.off
        var tick = 0

        init(
            _ kind: BaseMotion.Kind, _ type: MotorType = .field, seed: UInt64 = 1,
            change: (inout SimulatedGimbal.Parameters) -> Void = { _ in },
            tune: (inout Stabilizer.Parameters) -> Void = { _ in }
        ) {
            var parameters = SimulatedGimbal.Parameters()
            parameters.motor = type
            change(&parameters)
            let motion = BaseMotion(kind, seed: seed, stillDuration: 3)
            gimbal = SimulatedGimbal(parameters: parameters, motion: motion, seed: seed)
            var tuning = Stabilizer.Parameters()
            tuning.motorType = type
            tune(&tuning)
            stabilizer = Stabilizer(parameters: tuning)
        }

        var angles: AxisVector { EulerZXY.angles(gimbal.attitude) * FieldGimbalTests.degrees }
        var rate: Double { gimbal.rate.norm * FieldGimbalTests.degrees }

        mutating func run(_ seconds: Double, each: (Rig) -> Void = { _ in }) {
            for _ in 0..<Int(seconds * 1000) {
                tick += 1
                let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                output = stabilizer.step(now: now)
                gimbal.apply(output, at: now)
                each(self)
            }
        }

        /// Standard deviation of roll and pitch over the next seconds, degrees.
        mutating func jitter(_ seconds: Double) -> AxisVector {
            var sum = AxisVector.zero
            var squares = AxisVector.zero
            var count = 0.0
            run(seconds) {
                sum = sum + $0.angles
                squares = squares + $0.angles * $0.angles
                count += 1
            }
            let mean = sum * (1 / count)
            let variance = squares * (1 / count) - mean * mean
            return AxisVector(
                yaw: 0, roll: max(variance.roll, 0).squareRoot(),
                pitch: max(variance.pitch, 0).squareRoot())
        }
    }

    @Test("walking, roll and pitch stay within 0.1° RMS, and the field angle shows the joints")
    func walking() {
        var rig = Rig(.walking)
        rig.run(7)
        let jitter = rig.jitter(4)
        #expect(jitter.roll < 0.1 && jitter.pitch < 0.1)
        if case .fieldAngle = rig.stabilizer.snapshot.jointSource {
        } else {
            Issue.record("the joints' source is \(rig.stabilizer.snapshot.jointSource)")
        }
        let error = (rig.stabilizer.snapshot.joints - rig.gimbal.joints) * Self.degrees
        #expect(abs(error.roll) < 4 && abs(error.pitch) < 4)
    }

    @Test(
        "the motors come on gently, whatever electrical angle the rotors have",
        arguments: [-3.0, -1.5, 0, 1.6, 3.1])
    func start(zero: Double) {
        var rig = Rig(.still) { $0.field.zero = AxisVector(repeating: zero) }
        var fastest = 0.0
        rig.run(3.5) { fastest = max(fastest, $0.rate) }
        // The swing that shows the inertia is the fastest of it.
        #expect(fastest < 90)
        #expect(rig.output.enabled && rig.rate < 1)
        #expect(abs(rig.angles.pitch) < 3 && abs(rig.angles.roll) < 3)
    }

    @Test(
        "a camera four times as heavy or light, three times the friction, off balance: still",
        arguments: [(4.0, 1.0, 5e-3), (0.25, 1.0, 5e-3), (1, 3, 5e-3), (1, 1, 25e-3)])
    func plants(inertia: Double, friction: Double, imbalance: Double) {
        var rig = Rig(.still) {
            $0.plant.inertia = $0.plant.inertia * inertia
            $0.plant.friction.coulomb *= friction
            $0.plant.friction.stiction *= friction
            $0.plant.imbalance = Vector3(imbalance, imbalance, imbalance) * (1 / 9.81)
        }
        rig.run(4)
        let jitter = rig.jitter(1)
        #expect(rig.output.enabled)
        #expect(jitter.roll < 0.05 && jitter.pitch < 0.05)
        #expect(rig.stabilizer.snapshot.attitudeError.norm * Self.degrees < 0.5)
    }

    @Test(
        "a heavy camera that falls before the motors come on is caught, and held",
        arguments: [(4.0, 20e-3), (3, 25e-3), (2, 25e-3)], [BaseMotion.Kind.still, .walking])
    func fallen(camera: (inertia: Double, imbalance: Double), motion: BaseMotion.Kind) {
        var rig = Rig(motion) {
            $0.plant.inertia = $0.plant.inertia * camera.inertia
            $0.plant.imbalance = Vector3(1, 1, 1) * (camera.imbalance / 9.81)
        }
        rig.run(9)
        let jitter = rig.jitter(1)
        #expect(rig.output.enabled)
        #expect(jitter.roll < 0.1 && jitter.pitch < 0.1, "\(jitter)")
        let error = rig.stabilizer.snapshot.attitudeError.norm * Self.degrees
        #expect(error < 0.5, "\(error)")
    }

    @Test("a camera that is forced away by more than the motors hold comes back")
    func force() {
        var rig = Rig(.still)
        rig.run(3.5)
        rig.gimbal.push = Vector3(0, 0.4, 0)
        rig.run(0.3)
        rig.gimbal.push = .zero
        rig.run(2.5)
        #expect(rig.stabilizer.snapshot.attitudeError.norm * Self.degrees < 0.5)
        #expect(rig.rate < 2)
    }

    @Test("switched to inactive, the field goes off")
    func inactive() {
        var rig = Rig(.still)
        rig.run(2.5)
        #expect(rig.output.enabled)
        let now = Instant(nanoseconds: Int64(rig.tick) * 1_000_000)
        rig.stabilizer.apply(.mode(.inactive), now: now)
        rig.run(0.5)
        #expect(!rig.output.enabled && rig.output.power == .zero)
    }

    @Test("servos on a table do not hunt around their dead band")
    func servoAtRest() {
        var rig = Rig(.still, .servo)
        rig.run(8)
        let jitter = rig.jitter(2)
        #expect(jitter.roll < 0.05 && jitter.pitch < 0.05)
    }

    @Test(
        "servos a quarter slower or faster than the model still hold the camera",
        arguments: [0.75, 0.9, 1.1, 1.25])
    func servoDelay(factor: Double) {
        var rig = Rig(.walking, .servo) { $0.servo.totalDelay *= factor }
        rig.run(6)
        let jitter = rig.jitter(3)
        #expect(jitter.roll < 0.8 && jitter.pitch < 0.8, "\(jitter)")
    }

    @Test(
        "a camera of a seventeenth of the believed inertia is found and calm within 5 s, and is never flung"
    )
    func light() {
        var rig = Rig(.still) { $0.plant.scale(inertia: 1 / 17.0) }
        var largest = 0.0
        var named = false
        rig.run(5) {
            largest = max(largest, $0.rate)
            named = named || $0.stabilizer.snapshot.conditions.intersects(.loopOscillating)
        }
        #expect(named && largest < 550, "\(largest)")
        let found = rig.stabilizer.snapshot.inertia * (17 / 2.5e-3)
        #expect(found.roll > 0.5 && found.roll < 2 && found.pitch > 0.5 && found.pitch < 2)
        var calm = 0.0
        rig.run(2) { calm = max(calm, $0.rate) }
        #expect(calm < 20, "\(calm)")
        #expect(!rig.stabilizer.snapshot.conditions.intersects(.loopOscillating))
    }

    @Test(
        "with a given inertia eight times too heavy the gains go down until nothing shakes, and that is named"
    )
    func heavyBelief() {
        var rig = Rig(.still) {
            $0.plant.scale(inertia: 1 / 8.0)
        } tune: {
            $0.field.probesInertia = false
        }
        rig.run(6)
        var calm = 0.0
        rig.run(2) { calm = max(calm, $0.rate) }
        #expect(calm < 2, "\(calm)")
        #expect(rig.output.enabled)
        #expect(rig.stabilizer.snapshot.conditions.intersects(.loopOscillating))
        let lowered = rig.stabilizer.snapshot.inertia.pitch
        var tuning = rig.stabilizer.parameters
        tuning.field.watchesOscillation = false
        rig.stabilizer.apply(tuning)
        rig.run(0.01)
        #expect(!rig.stabilizer.snapshot.conditions.intersects(.loopOscillating))
        #expect(rig.stabilizer.snapshot.inertia.pitch > 3.9 * lowered)
    }

    @Test("an IMU on the handle shows the joints where nothing else does, and steadies servos")
    func handleIMU() {
        var torque = Rig(.walking, .torque) {
            $0.encoderCounts = 0
            $0.hasHandleGyro = true
        }
        torque.run(7)
        if case .handleIMU = torque.stabilizer.snapshot.jointSource {
        } else {
            Issue.record("the joints' source is \(torque.stabilizer.snapshot.jointSource)")
        }
        let error = (torque.stabilizer.snapshot.joints - torque.gimbal.joints) * Self.degrees
        #expect(abs(error.yaw) < 3 && abs(error.roll) < 3 && abs(error.pitch) < 3)
        var servo = Rig(.walking, .servo) { $0.hasHandleGyro = true }
        servo.run(6)
        let jitter = servo.jitter(3)
        #expect(jitter.roll < 0.12 && jitter.pitch < 0.12)
    }
}
