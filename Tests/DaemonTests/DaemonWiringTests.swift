import Configuration
import GimbalCore
import Glibc
import Identification
import Simulation
import TestSupport
import Testing
import Wire

@testable import Daemon

/// Tests of all wrong wirings with a daemon in lockstep. One daemon measures many wirings, and the
/// test undoes the settings after each.
@Suite("Set-up of all wirings, with a daemon", .serialized, .timeLimit(.minutes(10)))
struct DaemonWiringTests {
    /// Wirings of a short run, in which every joint and every direction is wrong at least once.
    private static let few: Set<String> = ["all three exchanged", "exchanged and backwards"]
    private static let isComplete = getenv("AIRFRAME_WIRINGS") != nil

    private static func cases(_ what: String, among few: Set<String>) -> [MotorSetupTests.Case] {
        guard !isComplete else { return MotorSetupTests.cases }
        let cases = MotorSetupTests.cases.filter { few.contains($0.testDescription) }
        print(
            "SKIPPED: \(MotorSetupTests.cases.count - cases.count) wirings of \(what); AIRFRAME_WIRINGS=1 tests them with the daemon, and MotorSetupTests tests them without it"
        )
        return cases
    }

    private static func withGimbal(
        _ type: MotorType, _ body: (LockstepGimbal) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let word = type == .servo ? "servo" : type == .field ? "field" : "torque"
            let daemon = try RunningDaemon(
                in: directory,
                Simulator.arguments(in: directory) + [
                    "--set", "motors.type=\(word)", "--set", "loop.rate_hz=200",
                    "--set", "mode.boot=inactive",
                ])
            let gimbal = try LockstepGimbal(daemon, TrueWiring(), type: type)
            try gimbal.pass(2)
            try body(gimbal)
        }
    }

    /// Settings after the changes of a set-up step.
    private static func settings(_ step: JSONValue, _ type: MotorType) throws -> MotorAssignment {
        var settings = Settings()
        settings.motors.type = type
        for change in step["changes"]?.array ?? [] {
            let key = change["key"]?.string ?? ""
            let numbers = try JSONValue(parsing: Array((change["new"]?.string ?? "").utf8))
            let axes = (numbers.array ?? []).compactMap(\.number)
            let vector =
                axes.count == 3 ? AxisVector(yaw: axes[0], roll: axes[1], pitch: axes[2]) : .zero
            switch key {
            case "hardware.linux.motor_channels": settings.hardware.linux.motorChannels = vector
            case "servo.direction": settings.servo.direction = vector
            case "motors.direction": settings.motors.direction = vector
            case "motors.pole_pairs": settings.motors.polePairs = Int(numbers.number ?? 0)
            case "servo.travel_deg": settings.servo.travelDeg = vector
            default: throw Trouble("an unexpected change of \(key)")
            }
        }
        return settings.motorAssignment
    }

    /// Measures one wiring, and checks the resulting settings.
    private static func measure(
        _ gimbal: LockstepGimbal, _ wiring: TrueWiring, _ type: MotorType, _ name: String,
        _ mounting: Quaternion = .identity
    ) throws {
        gimbal.rewire(wiring, mounting: mounting)
        try gimbal.pass(1)
        let step = try gimbal.run("motors")
        #expect(gimbal.fastest < 70, "\(name): a fling of \(gimbal.fastest)°/s")
        let isRight = try wiring.fits(Self.settings(step, type), type)
        #expect(isRight, "\(name): \(step.text)")
        #expect(
            step["state"]?.string == (step["changes"]?.array?.isEmpty == false ? "restart" : "done")
        )
        #expect(try gimbal.ask("undo", "motors")["error"] == nil)
    }

    @Test("the wiring of servos is measured")
    func servos() throws {
        try Self.withGimbal(.servo) { gimbal in
            for one in Self.cases("servos", among: Self.few) {
                try Self.measure(gimbal, one.wiring, .servo, one.testDescription)
            }
        }
    }

    @Test("the wiring of motors without encoders is measured")
    func fields() throws {
        try Self.withGimbal(.field) { gimbal in
            for one in Self.cases("motors without encoders", among: ["exchanged and backwards"]) {
                try Self.measure(gimbal, one.wiring, .field, one.testDescription)
            }
        }
    }

    @Test("the wiring of motors with encoders is measured")
    func torques() throws {
        try Self.withGimbal(.torque) { gimbal in
            for one in Self.cases("motors with encoders", among: ["exchanged and backwards"]) {
                try Self.measure(gimbal, one.wiring, .torque, one.testDescription)
            }
        }
    }

    @Test("a wrong number of pole pairs is measured, or reported as unclear")
    func poles() throws {
        let pairs: [Double] = Self.isComplete ? [4, 6, 8, 11, 12, 14] : [12]
        try Self.withGimbal(.field) { gimbal in
            for count in pairs {
                let wiring = TrueWiring(polePairs: count)
                gimbal.rewire(wiring)
                try gimbal.pass(1)
                let step = try gimbal.run("motors")
                #expect(gimbal.fastest < 70, "a fling of \(gimbal.fastest)°/s")
                // With 11 and 12 pole pairs, the angles differ by less than the effect of friction.
                let isUnclear = count == 11 && step["code"]?.string == "unclear_poles"
                #expect(
                    isUnclear || step.text.contains("\"new\":\"\(Int(count))\""),
                    "\(count): \(step.text)")
                _ = try gimbal.ask("undo", "motors")
            }
        }
    }

    @Test(
        "with an unknown mounting, the set-up of the motors is refused without motion; after the step mounting, it succeeds"
    )
    func mountings() throws {
        let wiring = TrueWiring(joints: [.roll, .yaw, .pitch], directions: [1, -1, 1])
        let lensDown = Quaternion(w: cos(-0.5), x: 0, y: sin(-0.5), z: 0)
        let chosen = Self.isComplete ? Array(0..<6) : [3]
        try Self.withGimbal(.servo) { gimbal in
            for number in chosen {
                let mounting = MotorSetupTests.mountings[number]
                gimbal.rewire(wiring, mounting: mounting)
                try gimbal.pass(2)
                if number > 0 {
                    let unknown = try gimbal.run("motors")
                    #expect(unknown["code"]?.string == "not_level", "\(number): \(unknown.text)")
                    #expect(gimbal.fastest < 1, "\(number): \(gimbal.fastest)°/s")
                }
                gimbal.hold(.identity)
                #expect(try gimbal.ask("start", "mounting")["error"] == nil)
                try gimbal.pass(4)
                gimbal.hold(lensDown)
                try gimbal.pass(20) { try gimbal.step("mounting")["state"]?.string != "running" }
                let measured = try gimbal.saved("mounting")
                #expect(measured["state"]?.string == "done", "\(number): \(measured.text)")
                gimbal.hold(.identity)
                try gimbal.pass(2)
                gimbal.hold(nil)
                try gimbal.pass(2)
                try Self.measure(gimbal, wiring, .servo, "mounting \(number)", mounting)
                #expect(try gimbal.ask("undo", "mounting")["error"] == nil)
            }
        }
    }
}
