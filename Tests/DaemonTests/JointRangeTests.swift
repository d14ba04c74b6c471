import Configuration
import GimbalCore
import Simulation
import Testing

@testable import Daemon
@testable import Identification

@Suite("Set-up of the joints")
struct JointRangeTests {
    private static let axes: [GimbalAxis] = [.yaw, .roll, .pitch]

    @Test(
        "servos turn slowly to asymmetrical stops, and their command exceeds a stop by at most 7°"
    )
    func servos() {
        let gimbal = RangedGimbal(type: .servo)
        let outcome = gimbal.run()
        #expect(outcome.code == "")
        for axis in Self.axes {
            let ends = outcome.ends[axis] ?? (0, 0)
            #expect(abs(ends.lower - gimbal.stops.lower[axis]) < 1.5, "\(axis): \(ends)")
            #expect(abs(ends.upper - gimbal.stops.upper[axis]) < 1.5, "\(axis): \(ends)")
        }
        #expect(outcome.press < 7, "\(outcome.press)")
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
        // The retract pose stays within the range.
        #expect(outcome.changes["joints.range_deg"] != nil)
        #expect(
            outcome.changes["retract.joints_deg"]?.contains("-27") == true
                || outcome.changes["retract.joints_deg"]?.contains("-28") == true,
            "\(outcome.changes)")
    }

    @Test("motors without encoders turn slowly to their stops without slipping")
    func fields() {
        var gimbal = RangedGimbal(type: .field)
        gimbal.stops.upper = AxisVector(yaw: 100, roll: 35, pitch: 60)
        let outcome = gimbal.run()
        #expect(outcome.code == "")
        for axis in Self.axes {
            let ends = outcome.ends[axis] ?? (0, 0)
            #expect(abs(ends.upper - gimbal.stops.upper[axis]) < 4, "\(axis): \(ends)")
            #expect(abs(ends.lower + gimbal.stops.upper[axis]) < 4, "\(axis): \(ends)")
        }
        #expect(outcome.fastest < 70, "a fling of \(outcome.fastest)°/s")
        #expect(outcome.changes["joints.range_deg"] != nil)
    }

    @Test(
        "with encoders, every direction is measured while the user turns the joints by hand",
        arguments: [
            AxisVector(yaw: 1, roll: 1, pitch: 1), AxisVector(yaw: -1, roll: 1, pitch: 1),
            AxisVector(yaw: 1, roll: -1, pitch: 1), AxisVector(yaw: 1, roll: 1, pitch: -1),
            AxisVector(yaw: -1, roll: -1, pitch: -1),
        ])
    func encoders(directions: AxisVector) {
        var gimbal = RangedGimbal(type: .torque)
        gimbal.directions = directions
        gimbal.stops.upper = AxisVector(yaw: 100, roll: 35, pitch: 60)
        let outcome = gimbal.run()
        #expect(outcome.code == "", "\(outcome)")
        let isRight = directions == AxisVector(repeating: 1)
        let wanted = "[\(Int(directions.yaw)), \(Int(directions.roll)), \(Int(directions.pitch))]"
        #expect(outcome.changes["hardware.linux.encoder_direction"] == (isRight ? nil : wanted))
        for axis in Self.axes {
            let ends = outcome.ends[axis] ?? (0, 0)
            #expect(abs(ends.upper - gimbal.stops.upper[axis]) < 3, "\(axis): \(ends)")
            #expect(abs(ends.lower + gimbal.stops.upper[axis]) < 3, "\(axis): \(ends)")
        }
    }

    @Test("a pause on the way to an end does not count as the end")
    func pauses() {
        var gimbal = RangedGimbal(type: .torque)
        gimbal.stops.upper = AxisVector(yaw: 100, roll: 35, pitch: 60)
        gimbal.pause = 4
        let outcome = gimbal.run()
        #expect(outcome.code == "", "\(outcome)")
        for axis in Self.axes {
            let ends = outcome.ends[axis] ?? (0, 0)
            #expect(abs(ends.upper - gimbal.stops.upper[axis]) < 3, "\(axis): \(ends)")
            #expect(abs(ends.lower + gimbal.stops.upper[axis]) < 3, "\(axis): \(ends)")
        }
    }

    @Test("swapped encoders, a dead encoder, a wrong zero and an incomplete turn are reported")
    func refusals() {
        var gimbal = RangedGimbal(type: .torque)
        gimbal.stops.upper = AxisVector(yaw: 100, roll: 35, pitch: 60)
        var swapped = gimbal
        swapped.encoders = [.pitch, .roll, .yaw]
        #expect(swapped.run().code == "encoders_swapped")
        var dead = gimbal
        dead.hasEncoder = [.yaw, .roll]
        #expect(dead.run().code == "encoder_still")
        var shifted = gimbal
        shifted.zero.pitch = 1.5
        let outside = shifted.run()
        #expect(outside.code == "zero_outside")
        // The joint's angle is its direction times the reading minus the zero.
        #expect(outside.sentence.contains("subtract it if the joint's direction is -1"))
        #expect(outside.sentence.contains("Restart airframed"))
        var lazy = gimbal
        lazy.reach = 0.02
        #expect(lazy.run().code == "not_turned")
    }

    @Test(
        "the remedy for a swapped or silent encoder names the setting of its drive or bus",
        arguments: [
            (.can, "hardware.linux.can_id"), (.busServo, "hardware.linux.servo_id"),
            (.board, "motor board"), (.pca9685, "hardware.linux.encoder_bus_pitch"),
        ] as [(MotorChip, String)])
    func remedies(motors: MotorChip, words: String) {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = motors
        settings.hardware.linux.encoders = motors.haveEncoders ? .drives : .as5600
        for problem in [TravelProblem.encodersSwapped(.yaw), .encoderStill] {
            let sentence = problem.failure(.pitch, settings.encoderPlace).sentence
            #expect(sentence.contains(words))
            #expect(sentence.contains("encoder_bus") == !motors.haveEncoders)
        }
    }

    @Test("the set-up is refused if the camera is blocked or the handle moves")
    func disturbed() {
        var held = RangedGimbal(type: .servo)
        held.isHeld = true
        #expect(held.run().code == "no_motion")
        var walking = RangedGimbal(type: .servo)
        walking.motion = BaseMotion(.walking, seed: 1)
        #expect(walking.run().code == "handle_moved")
    }

    @Test(
        "a measurement within 4° of the settings changes nothing, and a slip ring gets an unlimited range"
    )
    func agreement() {
        var settings = Settings()
        settings.motors.type = .torque
        let degrees = Double.pi / 180
        let lower = settings.joints.rangeDeg.lower
        let upper = settings.joints.rangeDeg.upper
        let same: [GimbalAxis: JointTravel.Finding] = [
            .roll: .init(
                lower: (lower.roll - 3) * degrees, upper: (upper.roll + 5) * degrees,
                isEndless: false, direction: 1)
        ]
        #expect(settings.updates(for: same).isEmpty)
        let ring: [GimbalAxis: JointTravel.Finding] = [
            .yaw: .init(lower: -6.3, upper: 0, isEndless: true, direction: 1)
        ]
        let update = settings.updates(for: ring).first
        #expect(
            update?.key == "joints.range_deg" && update?.valueText.contains("[-360, 360]") == true)
    }
}
