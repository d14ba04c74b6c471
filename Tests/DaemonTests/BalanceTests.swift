import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframectl balance with a simulated gimbal", .serialized, .timeLimit(.minutes(10)))
struct BalanceTests {
    /// Mass of the simulated camera, kg.
    private static let mass = 0.5
    /// Rate of the daemon's loop in the table of cases, Hz.
    private static let rate: Int64 = 250
    private static let isComplete = getenv("AIRFRAME_BALANCE") != nil

    /// Distance in a sentence such as `The camera is 4 mm too far forward: move it back.`, mm.
    private static func millimetres(_ sentence: Substring?) -> Double {
        (sentence?.split(separator: " ").dropFirst(3).first).flatMap { Double($0) } ?? .nan
    }

    /// A camera whose centre of mass is off the joint axes.
    struct Case: CustomTestStringConvertible, Sendable {
        /// Offset of the centre of mass, camera frame (forward, right, down), mm.
        var offset: Vector3
        /// Expected sentences, the largest offset first; the numbers are not compared.
        var sentences: [String]
        /// Sliding friction of each joint, N·m.
        var friction = 0.01
        /// True if the mass is given with --mass.
        var isMassTold = true

        var testDescription: String {
            "\(offset.x), \(offset.y), \(offset.z) mm, friction \(friction), \(isMassTold ? "told" : "estimated")"
        }
    }

    private static let forward = "too far forward: move it back."
    private static let backwards = "too far backwards: move it forward."
    private static let right = "too far to the right: move it left."
    private static let left = "too far to the left: move it right."
    private static let low = "too low: move it up."
    private static let high = "too high: move it down."

    private static let cases = [
        Case(offset: Vector3(-4, 3, 0), sentences: [backwards, right]),
        Case(offset: Vector3(0, 0, 10), sentences: [low]),
        Case(offset: Vector3(4, 0, 0), sentences: [forward]),
        Case(offset: Vector3(-6, 0, 0), sentences: [backwards]),
        Case(offset: Vector3(0, 5, 0), sentences: [right]),
        Case(offset: Vector3(0, -2.5, 0), sentences: [left]),
        Case(offset: Vector3(0, 0, -14), sentences: [high]),
        Case(offset: Vector3(3, -5, 12), sentences: [low, left, forward]),
        Case(offset: Vector3(0.3, -0.3, 1), sentences: []),
        Case(offset: Vector3(5, -3, 0), sentences: [forward, left], isMassTold: false),
        Case(offset: Vector3(0, 0, 0), sentences: [], friction: 0.03),
        Case(offset: Vector3(4, -3, 0), sentences: [forward, left], friction: 0.03),
        Case(offset: Vector3(4, -3, 0), sentences: [forward, left], friction: 0.06),
        Case(offset: Vector3(4, -3, 0), sentences: [forward, left], friction: 0.1),
    ]

    /// Runs `body` with a daemon and a gimbal whose inertia is known.
    private static func withGimbal(
        imbalance: Vector3 = .zero, _ body: (RunningDaemon, BalanceGimbal) throws -> Void
    ) throws {
        try withLockstep(["--set", "loop.rate_hz=\(Self.rate)", "--set", "imu.timeout_ms=50"]) {
            daemon in
            let gimbal = try BalanceGimbal(daemon, rate: Self.rate, imbalance: imbalance)
            try gimbal.run(for: 8)
            try body(daemon, gimbal)
        }
    }

    private static func check(_ daemon: RunningDaemon, _ extra: [String] = []) throws -> Program {
        let control = try Program.built("airframectl")
        return try Program(
            [control, "--socket", daemon.socket, "balance"] + extra, in: daemon.directory)
    }

    @Test("each offset is reported in the right direction and size, by one daemon")
    func table() throws {
        let chosen = Self.isComplete ? Self.cases : Array(Self.cases.prefix(2))
        if !Self.isComplete {
            print(
                "SKIPPED: \(Self.cases.count - chosen.count) cases of the balance check; AIRFRAME_BALANCE=1 tests them"
            )
        }
        try Self.withGimbal { daemon, gimbal in
            for one in chosen {
                gimbal.replace(
                    imbalance: one.offset * (1e-3 * Self.mass), friction: one.friction)
                try gimbal.run(for: 2)
                let told = one.isMassTold ? ["--mass", "\(Self.mass)"] : []
                let check = try Self.check(daemon, ["--json"] + told)
                #expect(try gimbal.run(within: 60) { check.hasEnded(within: 0) }, "\(one)")
                #expect(check.exitStatus == 0, "\(one): \(check.errors)")
                let result = try JSONValue(parsing: Array(check.output.utf8))
                let sentences = result["sentences"]?.array?.compactMap(\.string) ?? []
                #expect(
                    sentences.count == one.sentences.count
                        && zip(sentences, one.sentences).allSatisfy { $0.hasSuffix($1) },
                    "\(one): \(sentences)")
                #expect(result["balanced"]?.bool == one.sentences.isEmpty, "\(one)")
                #expect(gimbal.fastest < 70, "\(one): a fling of \(gimbal.fastest)°/s")
                // The offset in the unit of the told mass; an estimated mass scales all components.
                let mass = result["mass_kg"]?.number ?? .nan
                let offset = (result["offset_mm"]?.array ?? []).map {
                    ($0.number ?? .nan) * mass / Self.mass
                }
                try #require(offset.count == 3)
                #expect(abs(offset[0] - one.offset.x) < 0.5, "\(one): \(offset)")
                #expect(abs(offset[1] - one.offset.y) < 0.5, "\(one): \(offset)")
                // The cable of the simulated gimbal changes the height by up to 3 g·m.
                #expect(abs(offset[2] - one.offset.z) < 6, "\(one): \(offset)")
            }
        }
    }

    @Test(
        "the check ends with a reason if friction blocks the camera, the motors go off, the mode changes, the user stops it, or airframed dies"
    )
    func endings() throws {
        try Self.withGimbal { daemon, gimbal in
            func begin(_ text: String = "attitude 1 of") throws -> Program {
                try gimbal.run(for: 3)
                let check = try Self.check(daemon, ["--mass", "\(Self.mass)"])
                #expect(
                    try gimbal.run(within: 30) { check.output.contains(text) }, "\(check.errors)")
                return check
            }
            func end(_ check: Program) throws -> String {
                #expect(try gimbal.run(within: 30) { check.hasEnded(within: 0) })
                return check.errors
            }
            // The friction is larger than the torque of the motors.
            gimbal.replace(imbalance: .zero, friction: 0.6)
            let blocked = try begin("The camera moves")
            let problem = try end(blocked)
            #expect(blocked.exitStatus == 1)
            #expect(
                problem.contains("does not reach its set-point: the error in pitch is"),
                "\(problem)")
            #expect(problem.contains("reduce the friction of the joint"), "\(problem)")
            let level = try daemon.ask("status").number("pointing", "target_deg", "pitch")
            #expect(level == 0, "the camera returns to level, not to \(level)°")

            gimbal.replace(imbalance: Vector3(1e-3, 0, 0))
            let stopped = try begin()
            _ = try daemon.ask("stop")
            let off = try end(stopped)
            #expect(stopped.exitStatus == 1 && !gimbal.isOn)
            #expect(off.contains("during the check"), "\(off)")

            // The unbalanced camera has turned down while the motors were off.
            gimbal.replace(imbalance: Vector3(1e-3, 0, 0))
            _ = try daemon.ask("reset_stop")
            _ = try daemon.ask("mode", #"{"mode":"locked"}"#)
            let followed = try begin()
            _ = try daemon.ask("mode", #"{"mode":"pan_follow"}"#)
            let changed = try end(followed)
            #expect(followed.exitStatus == 1)
            #expect(changed.contains("The mode changed to \"pan_follow\""), "\(changed)")

            _ = try daemon.ask("mode", #"{"mode":"locked"}"#)
            let interrupted = try begin()
            kill(interrupted.processID, SIGINT)
            #expect(try end(interrupted).contains("The check was stopped."))
            #expect(interrupted.exitStatus == 130)
            try gimbal.run(for: 3)
            let pitch = try daemon.ask("status").number("attitude", "pitch_deg")
            #expect(abs(pitch) < 1, "the camera returns to level, not to \(pitch)°")

            // A killed airframectl leaves the camera under control. The replacements above have moved
            // the camera while the motors were on or the estimate was older, so their rates say
            // nothing about the check.
            gimbal.restartFastest()
            let killed = try begin()
            kill(killed.processID, SIGKILL)
            #expect(killed.hasEnded(within: 5))
            try gimbal.run(for: 5)
            #expect(gimbal.isOn && gimbal.fastest < 40, "\(gimbal.fastest)°/s")

            let lost = try begin()
            kill(daemon.program.processID, SIGKILL)
            #expect(lost.hasEnded(within: 10))
            #expect(lost.exitStatus == 69, "\(lost.errors)")
        }
    }

    @Test(
        "motors of unknown torque, and motors that are off, are refused with the reason",
        arguments: [
            ("servo", "locked", "needs motors of type torque"),
            ("field", "locked", "needs motors of type torque"),
            ("torque", "inactive", "airframectl mode locked"),
        ])
    func refusals(type: String, mode: String, sentence: String) throws {
        try withDaemon(["--set", "motors.type=\(type)", "--set", "mode.boot=\(mode)"]) { daemon in
            let check = try daemon.control("balance")
            #expect(check.status == 1)
            #expect(check.errors.contains(sentence), "\(check.errors)")
        }
    }

    @Test(
        "the check reports 4 mm too far forward and 3 mm too far to the left, and checks again after the camera was moved"
    )
    func words() throws {
        let imbalance = Vector3(4e-3, -3e-3, 0) * Self.mass
        try Self.withGimbal(imbalance: imbalance) { daemon, gimbal in
            let terminal = try Terminal([
                try Program.built("airframectl"), "--socket", daemon.socket, "balance",
                "--mass", "\(Self.mass)",
            ])
            // The check takes about 60 s in simulated time.
            let prompt = "[Enter] check again, [q] leave: "
            _ = try gimbal.run(within: 60) { terminal.says(prompt, within: 0) }
            let lines = terminal.text.split(whereSeparator: \.isNewline).suffix(4)
            #expect(
                lines.count == 4 && lines.first?.contains("too far forward: move it back") == true)
            #expect(lines.dropFirst().first?.contains("too far to the left: move it right") == true)
            #expect(abs(Self.millimetres(lines.first) - 4) < 0.5, "\(terminal.text)")
            #expect(abs(Self.millimetres(lines.dropFirst().first) - 3) < 0.5)
            let advice = "Move the camera, then check again: airframectl balance."
            #expect(lines.dropFirst(2).first?.elementsEqual(advice) == true)

            // The user balances the camera, and presses Enter.
            gimbal.replace(imbalance: .zero)
            terminal.type("\n")
            let result = "The camera is balanced within 1 mm."
            _ = try gimbal.run(within: 60) { terminal.says(result, within: 0) }
            #expect(terminal.end() == 0, "\(terminal.text)")
            #expect(terminal.text.contains(result), "\(terminal.text)")
        }
    }
}
