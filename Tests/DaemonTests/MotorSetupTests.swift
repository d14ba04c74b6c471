import GimbalCore
import Identification
import Simulation
import Testing

@testable import Daemon

@Suite("Set-up of the motors: every wiring ends in right settings or a named refusal")
struct MotorSetupTests {
    /// A wiring with its name.
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

    @Test("servos", arguments: cases)
    func servos(_ example: Case) {
        let outcome = WiredGimbal(type: .servo, wiring: example.wiring).run()
        #expect(outcome.code == "")
        #expect(outcome.settings.map { example.wiring.fits($0, .servo) } == true)
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
    }

    @Test("motors without encoders", arguments: cases)
    func fields(_ example: Case) {
        let outcome = WiredGimbal(type: .field, wiring: example.wiring).run()
        #expect(outcome.code == "")
        #expect(outcome.settings.map { example.wiring.fits($0, .field) } == true)
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
    }

    @Test("motors with encoders", arguments: cases)
    func torques(_ example: Case) {
        let outcome = WiredGimbal(type: .torque, wiring: example.wiring).run()
        #expect(outcome.code == "")
        #expect(outcome.settings.map { example.wiring.fits($0, .torque) } == true)
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
    }

    @Test(
        "a wrong number of pole pairs is measured, or refused", arguments: [4.0, 6, 8, 11, 12, 14])
    func poles(pairs: Double) {
        let wiring = TrueWiring(polePairs: pairs)
        let outcome = WiredGimbal(type: .field, wiring: wiring).run()
        // 11 and 12 pole pairs differ less than friction changes the angle.
        #expect(outcome.settings.map { Double($0.polePairs) } == pairs || pairs == 11)
        #expect(outcome.code == (outcome.settings == nil ? "unclear_poles" : ""))
        #expect(outcome.fastest < 70)
    }

    @Test("a wrong travel of the servos is measured", arguments: [60.0, 120, 180])
    func travel(degrees: Double) {
        let outcome = WiredGimbal(type: .servo, wiring: TrueWiring(travel: degrees)).run()
        // The dead band is a fortieth of the swing.
        let travel = outcome.settings?.travel ?? .zero
        #expect(
            GimbalAxis.allCases.allSatisfy { abs(travel[$0] / degrees - 1) < 0.06 }, "\(travel)")
    }

    /// Factors on inertia and friction.
    private static let cameras: [(Double, Double)] = [
        (0.06, 1.0), (4, 1), (1, 0.1), (1, 2), (1, 3),
    ]

    @Test(
        "a light, a heavy, a loose and a stiff camera do not fling",
        arguments: [MotorType.field, .torque], cameras)
    func loads(type: MotorType, load: (Double, Double)) {
        var gimbal = WiredGimbal(type: type)
        (gimbal.inertiaFactor, gimbal.frictionFactor) = load
        let outcome = gimbal.run()
        #expect(outcome.fastest < 70, "\(outcome)")
        #expect(outcome.settings.map { TrueWiring().fits($0, type) } ?? (outcome.code != ""))
    }

    @Test("a camera that falls out of balance is named before a motor moves")
    func unbalanced() {
        var gimbal = WiredGimbal(type: .field)
        gimbal.imbalanceMm = 5
        #expect(["not_still", "not_level"].contains(gimbal.run().code))
    }

    @Test("a motor without a wire is named", arguments: [MotorType.servo, .field, .torque])
    func missing(type: MotorType) {
        var wiring = TrueWiring()
        wiring.joints[1] = nil
        #expect(WiredGimbal(type: type, wiring: wiring).run().code == "no_motion")
    }

    @Test("two motors on one joint are named")
    func sameJoint() {
        let wiring = TrueWiring(joints: [.pitch, .roll, .pitch])
        #expect(WiredGimbal(type: .servo, wiring: wiring).run().code == "same_axis")
    }

    @Test("motors with encoders do not move without the encoders")
    func withoutEncoders() {
        var gimbal = WiredGimbal(type: .torque)
        gimbal.encoders = false
        #expect(gimbal.run().code == "no_motion")
    }

    @Test("the motion of a walking user is refused by name")
    func walking() {
        var gimbal = WiredGimbal()
        gimbal.motion = BaseMotion(.walking, seed: 1)
        #expect(["disturbed", "mixed_axes", "not_still"].contains(gimbal.run().code))
    }

    @Test("a hand at the camera is named, and does not give wrong settings")
    func hand() {
        var gimbal = WiredGimbal(type: .field)
        gimbal.push = { seconds in
            seconds > 3 && Int(seconds * 2.3) % 3 == 0 ? Vector3(0, 0.1, 0.06) : .zero
        }
        let outcome = gimbal.run()
        #expect(["disturbed", "mixed_axes", "too_fast"].contains(outcome.code), "\(outcome)")
    }

    @Test("an emergency stop ends it at once, by name")
    func stop() {
        let outcome = WiredGimbal(type: .field).run(stop: 3)
        #expect(outcome.code == "interrupted")
        #expect(outcome.seconds < 3.1)
    }

    /// The chip's z axis points to each of the camera's six sides.
    static let mountings: [Quaternion] = {
        let half = 0.5.squareRoot()
        return [
            .identity, Quaternion(w: half, x: half, y: 0, z: 0), Quaternion(w: 0, x: 1, y: 0, z: 0),
            Quaternion(w: half, x: -half, y: 0, z: 0), Quaternion(w: half, x: 0, y: half, z: 0),
            Quaternion(w: half, x: 0, y: -half, z: 0),
        ]
    }()

    @Test("a sensor on any of six sides: right once its mounting is measured, otherwise named")
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
