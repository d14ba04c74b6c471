import ArgumentParser
import Client
import Glibc
import Wire

/// `airframectl step`: control of a robot's stepper motors.
struct StepCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "step",
        abstract: "Move a robot's stepper motor, or find its home.",
        discussion: """
            Without an option the motor stops. --home turns the motor towards its home switch and waits until the switch closes; the position of the switch is position 0. \
            The motor stops at Ctrl-C and when this command ends for any reason. airframed limits the position of each axis to its configured range, such as robot.x.minimum to robot.x.maximum.
            """)

    /// Longest interval between two requests for the motor's position, s.
    private static let longestPeriod = 0.2

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Axis: slider, x or y.", completion: .list(["slider", "x", "y"]))
    var axis: String
    @Option(name: .customLong("to"), parsing: .unconditional, help: "Position, steps from home.")
    var position: Int?
    @Flag(help: "Move the motor to its home switch.")
    var home = false

    func validate() throws {
        guard ["slider", "x", "y"].contains(axis) else {
            throw ValidationError("The axis must be slider, x or y.")
        }
        guard position == nil || !home else {
            throw ValidationError("Give --to or --home, not both.")
        }
    }

    func run() throws {
        let client = try options.connect()
        var params: [String: JSONValue] = ["axis": .string(axis)]
        if let position { params["position"] = .int(position) }
        guard home else { return try acknowledge(client, .step, params) }
        let period = try KeptControl.period(client, atMost: Self.longestPeriod)
        params["home"] = true
        _ = try client.json(.step, params)
        let signals = SignalQueue([SIGINT, SIGTERM])
        // The first request for the position follows after one interval, when the motor has already
        // received the request to move.
        while true {
            if let signal = signals.next(within: period) {
                params["home"] = nil
                try acknowledge(client, .step, params)
                throw ExitCodes.failure(after: signal)
            }
            // The request `take` keeps the client in control. Without requests, the client loses
            // control, and the motor stops.
            _ = try client.json(.take)
            let robot = try client.json(.status)["robot"]
            if let problem = robot?["problem"]?.string {
                throw failure("the GPIO lines of the stepper motors do not work: \(problem)")
            }
            switch robot?["motors"]?.array?.first(where: { $0["axis"]?.string == axis })?["homing"]?
                .string
            {
            case "seeking", "leaving": break
            case "done":
                return Output.line(
                    Output.text(of: "\(axis) is at home: position 0.", json: options.json))
            case "failed":
                throw failure(
                    "the home switch of \(axis) was not found, or does not open; check this switch and robot.home_line"
                )
            default:
                throw failure("another client has ended the search for the home switch of \(axis)")
            }
        }
    }

    private func failure(_ sentence: String) -> ClientError {
        .refused(RequestError("refused", sentence, field: "home"))
    }
}
