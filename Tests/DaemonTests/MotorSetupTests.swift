import Configuration
import GimbalCore
import Identification
import Port
import Simulation
import Testing

@testable import Daemon

@Suite("Set-up of the motors: correct settings or a specific refusal for every wiring")
struct MotorSetupTests {
    /// A named wiring.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var wiring = TrueWiring()
    }

    private static let orders: [(String, [GimbalAxis?])] = [
        ("right", [.yaw, .roll, .pitch]), ("yaw and roll swapped", [.roll, .yaw, .pitch]),
        ("roll and pitch swapped", [.yaw, .pitch, .roll]),
        ("yaw and pitch swapped", [.pitch, .roll, .yaw]),
        ("all three exchanged", [.roll, .pitch, .yaw]),
    ]

    private static let directions: [(String, [Double])] = [
        ("yaw backwards", [-1, 1, 1]), ("roll backwards", [1, -1, 1]),
        ("pitch backwards", [1, 1, -1]), ("all backwards", [-1, -1, -1]),
    ]

    static let cases: [Case] =
        orders.map { Case(testDescription: $0.0, wiring: TrueWiring(joints: $0.1)) }
        + directions.map {
            Case(testDescription: $0.0, wiring: TrueWiring(directions: $0.1))
        } + [
            Case(
                testDescription: "exchanged and backwards",
                wiring: TrueWiring(joints: [.pitch, .yaw, .roll], directions: [-1, 1, -1]))
        ]

    @Test("the wiring of servos is measured", arguments: cases)
    func servos(_ example: Case) {
        let outcome = WiredGimbal(type: .servo, wiring: example.wiring).run()
        #expect(outcome.code == "")
        #expect(outcome.settings.map { example.wiring.fits($0, .servo) } == true)
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
    }

    @Test("the wiring of motors without encoders is measured", arguments: cases)
    func fields(_ example: Case) {
        let outcome = WiredGimbal(type: .field, wiring: example.wiring).run()
        #expect(outcome.code == "")
        #expect(outcome.settings.map { example.wiring.fits($0, .field) } == true)
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
    }

    @Test("the wiring of motors with encoders is measured", arguments: cases)
    func torques(_ example: Case) {
        let outcome = WiredGimbal(type: .torque, wiring: example.wiring).run()
        #expect(outcome.code == "")
        #expect(outcome.settings.map { example.wiring.fits($0, .torque) } == true)
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
    }

    @Test(
        "a wrong number of pole pairs is measured, or reported as unclear",
        arguments: [4.0, 6, 8, 11, 12, 14])
    func poles(pairs: Double) {
        let wiring = TrueWiring(polePairs: pairs)
        let outcome = WiredGimbal(type: .field, wiring: wiring).run()
        let measured = outcome.settings.map { Double($0.polePairs) }
        // With 11 and 12 pole pairs, the angles differ by less than the effect of friction.
        #expect(measured == pairs || measured == nil && pairs == 11, "\(measured ?? 0)")
        #expect(outcome.code == (measured == nil ? "unclear_poles" : ""))
        #expect(outcome.fastest < 70)
    }

    @Test("a wrong servo travel is measured", arguments: [60.0, 120, 180])
    func travel(degrees: Double) {
        let outcome = WiredGimbal(type: .servo, wiring: TrueWiring(travel: degrees)).run()
        // The dead band is 1/40 of the swing.
        let travel = outcome.settings?.travel ?? .zero
        #expect(
            GimbalAxis.allCases.allSatisfy { abs(travel[$0] / degrees - 1) < 0.06 }, "\(travel)")
    }

    /// Factors of inertia and friction.
    private static let cameras: [(Double, Double)] = [
        (0.06, 1.0), (4, 1), (1, 0.1), (1, 2), (1, 3),
    ]

    @Test(
        "a light, a heavy, a loose and a stiff camera turn more slowly than 70 °/s",
        arguments: [MotorType.field, .torque], cameras)
    func loads(type: MotorType, load: (Double, Double)) {
        var gimbal = WiredGimbal(type: type)
        (gimbal.inertiaFactor, gimbal.frictionFactor) = load
        let outcome = gimbal.run()
        #expect(outcome.fastest < 70, "\(outcome)")
        #expect(outcome.settings.map { TrueWiring().fits($0, type) } ?? (outcome.code != ""))
    }

    @Test("an unbalanced camera is reported before a motor moves")
    func unbalanced() {
        var gimbal = WiredGimbal(type: .field)
        gimbal.imbalanceMm = 5
        #expect(["not_still", "not_level"].contains(gimbal.run().code))
    }

    @Test("a disconnected motor is reported", arguments: [MotorType.servo, .field, .torque])
    func missing(type: MotorType) {
        var wiring = TrueWiring()
        wiring.joints[1] = nil
        #expect(WiredGimbal(type: type, wiring: wiring).run().code == "no_motion")
    }

    @Test("two motors on the same joint are reported")
    func sameJoint() {
        let wiring = TrueWiring(joints: [.pitch, .roll, .pitch])
        #expect(WiredGimbal(type: .servo, wiring: wiring).run().code == "same_axis")
    }

    @Test("the wiring is not measured if the motors cannot turn without a measurement by hand")
    func commutated() throws {
        var settings = Settings()
        settings.motors.type = .torque
        settings.hardware.linux.motors = .pca9685
        try settings.requireMeasurableWiring()
        settings.hardware.backend = .linux
        let refusal = #expect(throws: Refusal.self) { try settings.requireMeasurableWiring() }
        #expect(refusal?.message.contains("motors.electrical_zero_deg") == true)
        settings.motors.type = .field
        try settings.requireMeasurableWiring()
        settings.motors.type = .torque
        settings.hardware.linux.motors = .can
        try settings.requireMeasurableWiring()
    }

    @Test("the zero of an encoder moves with its drive, but not if the encoder is on the joint")
    func zeros() throws {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = .can
        settings.hardware.linux.canId = AxisVector(yaw: 1, roll: 2, pitch: 3)
        settings.hardware.linux.encoderZeroDeg = AxisVector(yaw: 10, roll: 20, pitch: 30)
        var right = settings.motorAssignment
        right.outputs = AxisVector(yaw: 2, roll: 1, pitch: 3)
        right.zero = AxisVector(yaw: 20, roll: 10, pitch: 30)
        let ids = "hardware.linux.can_id = [2, 1, 3]"
        for (encoders, zeros) in [
            (EncoderChip.drives, ["hardware.linux.encoder_zero_deg = [20, 10, 30]"]), (.as5600, []),
        ] {
            settings.hardware.linux.encoders = encoders
            #expect(try settings.updates(to: right).map(\.description) == [ids] + zeros)
        }
    }

    @Test("a measured ratio changes the travel of servos with pulses, but not of bus servos")
    func busServos() throws {
        var settings = Settings()
        settings.motors.type = .servo
        var right = settings.motorAssignment
        right.direction.yaw = -1
        right.travel.yaw = 70
        let direction = "servo.direction = [-1, 1, 1]"
        let pulses = try settings.updates(to: right).map(\.description)
        #expect(pulses == [direction, "servo.travel_deg = [70, 90, 90]"])
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = .busServo
        right.outputs = settings.motorAssignment.outputs
        let bus = try settings.updates(to: right).map(\.description)
        #expect(bus == [direction])
    }

    @Test("missing encoders are reported, and not as a fault of the supply or the wires")
    func withoutEncoders() {
        var gimbal = WiredGimbal(type: .torque)
        gimbal.encoders = false
        #expect(gimbal.run().code == "encoder_missing")
    }

    @Test("the set-up is refused while the user walks")
    func walking() {
        var gimbal = WiredGimbal()
        gimbal.motion = BaseMotion(.walking, seed: 1)
        #expect(["disturbed", "mixed_axes", "not_still"].contains(gimbal.run().code))
    }

    @Test("a hand on the camera is reported, and does not cause wrong settings")
    func hand() {
        var gimbal = WiredGimbal(type: .field)
        gimbal.push = { seconds in
            seconds > 3 && Int(seconds * 2.3) % 3 == 0 ? Vector3(0, 0.1, 0.06) : .zero
        }
        let outcome = gimbal.run()
        #expect(["disturbed", "mixed_axes", "too_fast"].contains(outcome.code), "\(outcome)")
    }

    @Test("an emergency stop interrupts the set-up at once")
    func stop() {
        let outcome = WiredGimbal(type: .field).run(stop: 3)
        #expect(outcome.code == "interrupted")
        #expect(outcome.seconds < 3.1)
    }

    /// Mountings with the chip's z axis on each of the camera's six sides.
    static let mountings: [Quaternion] = {
        let half = 0.5.squareRoot()
        return [
            .identity, Quaternion(w: half, x: half, y: 0, z: 0), Quaternion(w: 0, x: 1, y: 0, z: 0),
            Quaternion(w: half, x: -half, y: 0, z: 0), Quaternion(w: half, x: 0, y: half, z: 0),
            Quaternion(w: half, x: 0, y: -half, z: 0),
        ]
    }()

    @Test(
        "a wrong mounting of the sensor is reported; with the measured mounting, the set-up succeeds"
    )
    func sixMountings() throws {
        let wiring = TrueWiring(joints: [.roll, .yaw, .pitch], directions: [1, -1, 1])
        for (number, mounting) in Self.mountings.enumerated() {
            var gimbal = WiredGimbal(type: .servo, wiring: wiring)
            gimbal.mounting = mounting
            let unknown = gimbal.run()
            if number == 0 {
                #expect(unknown.code == "")
            } else {
                #expect(unknown.code == "not_level", "mounting \(number)")
                #expect(unknown.fastest < 1)
            }
            gimbal.correction = mounting.conjugate
            let measured = gimbal.run()
            #expect(measured.code == "", "mounting \(number)")
            #expect(measured.settings.map { wiring.fits($0, .servo) } == true)
        }
    }
}
