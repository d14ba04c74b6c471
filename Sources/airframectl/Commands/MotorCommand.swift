import ArgumentParser
import Client
import Glibc
import Wire

/// `airframectl motor`: test of the motors without the controllers.
struct MotorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "motor",
        abstract: "Test the motors one by one, and set up servos on a serial bus.",
        subcommands: [
            MotorTestCommand.self, MotorScanCommand.self, MotorIDCommand.self,
            MotorBaudCommand.self,
        ])
}

struct MotorTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Move one motor slightly, to check its axis and its direction.",
        discussion: """
            The mode must be inactive: airframectl mode inactive. The motor swings by 4 degrees, without an encoder by 16 degrees, first in the joint's positive direction: yaw right, roll right, pitch up. A motor with an encoder uses at most a fifth of its torque limit, in pulses that end when the camera turns at 10 degrees per second. A servo \
            first jumps to its middle position. The motor stops within half a second after this command ends, for any reason.
            """)

    /// Interval between two requests to move the motor, s: a quarter of the dead-man time.
    private static let period = 0.12

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Axis: yaw, roll or pitch.", completion: .list(["yaw", "roll", "pitch"]))
    var axis: String
    @Option(help: "Duration, seconds.")
    var duration = 4.0
    @Flag(help: "Move the motor without asking for confirmation.")
    var yes = false

    func validate() throws {
        guard ["yaw", "roll", "pitch"].contains(axis) else {
            throw ValidationError("The axis must be yaw, roll or pitch.")
        }
        guard (0.5...60).contains(duration) else {
            throw ValidationError("--duration must be 0.5 to 60 seconds.")
        }
    }

    func run() throws {
        let client = try options.connect()
        guard yes || Self.isConfirmed(axis) else {
            Output.error("Nothing has moved. Answer y, or add --yes.")
            throw ExitCode(ExitCodes.refused)
        }
        let params: [String: JSONValue] = ["axis": .string(axis)]
        let signals = SignalQueue([SIGINT, SIGTERM])
        let end = DaemonClient.now() + duration
        var signal: Int32?
        var hasMoved = false
        var newest = Status()
        repeat {
            _ = try client.json(.motorTest, params)
            let rest = min(Self.period, end - DaemonClient.now())
            if rest > 0 { signal = signals.next(within: rest) }
            if !hasMoved {
                newest = try client.request(.status)
                hasMoved = newest.isEnabled
            }
        } while signal == nil && DaemonClient.now() < end
        // A request other than a motor test ends the motor test immediately. A request for the
        // current mode ends the test without any other effect.
        let result = try client.json(.mode, ["mode": "inactive"])
        if signal == nil, !hasMoved {
            Output.error(Self.reason(axis, newest))
            throw ExitCode(ExitCodes.refused)
        }
        options.json ? Output.line(result.text) : Output.row(Self.expectation(axis))
        if signal != nil { throw ExitCodes.failure(after: signal) }
    }

    /// Reason why the motor did not move, according to a status from the test.
    static func reason(_ axis: String, _ status: Status) -> String {
        // The mode inactive, which the test needs, is not a reason.
        let reasons = status.inhibitions.filter { $0.name != "inactive_mode" }.map(\.sentence)
        return
            (["The motor of \(axis) did not move, because the motors stayed off."]
            + (reasons.isEmpty ? ["`airframectl doctor` searches for the reason."] : reasons))
            .joined(separator: " ")
    }

    /// Direction in which the motor must have turned first, and the remedy for another direction.
    static func expectation(_ axis: String) -> String {
        let (right, wrong) = axis == "pitch" ? ("up", "down") : ("right", "left")
        return
            "The motor test of \(axis) has ended. The camera must have turned \(right) first; if it turned \(wrong) first, change the sign of the motor's value in motors.direction (servos: servo.direction). `airframectl setup motors` measures the direction."
    }

    private static func isConfirmed(_ axis: String) -> Bool {
        Output.write(
            "The motor of \(axis) will move. Are your hands away, and can the camera move freely? [y/N] ",
            to: STDERR_FILENO)
        let answer = readLine() ?? ""
        return ["y", "yes"].contains(answer.lowercased())
    }
}
