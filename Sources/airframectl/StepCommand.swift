import ArgumentParser
import Glibc
import Wire

/// `airframectl step`: a robot's stepper motors.
struct StepCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "step",
        abstract: "Move a robot's stepper motor, or find its home.",
        discussion: """
            Without an option the motor stands. --home turns it towards its switch and waits until position 0 is found; \
            Ctrl-C, or the end of this command however it ends, lets it stand. Positions never leave \
            robot.x.minimum to robot.x.maximum, and so on.
            """)

    /// Well within commander.release_after_s, and often enough for a person.
    private static let period = 0.2

    @OptionGroup var options: GlobalOptions
    @Argument(help: "slider, x or y.", completion: .list(["slider", "x", "y"]))
    var axis: String
    @Option(name: .customLong("to"), parsing: .unconditional, help: "Position, steps from home.")
    var position: Int?
    @Flag(help: "Look for the home switch.")
    var home = false

    func validate() throws {
        guard ["slider", "x", "y"].contains(axis) else {
            throw ValidationError("The axis is slider, x or y.")
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
        params["home"] = true
        _ = try client.json(.step, params)
        let signals = Signals(SIGINT, SIGTERM)
        repeat {
            // Who is silent loses control, and the motor stands.
            _ = try client.json(.take)
            switch try homing(client) {
            case "done":
                return Output.line("\(axis) is at home: position 0.")
            case "failed":
                throw ClientError.refused(
                    RequestError(
                        .refused, "the switch of \(axis) was not found, or does not let go",
                        field: "home"))
            default: break
            }
        } while signals.wait(seconds: Self.period) == nil
        params["home"] = nil
        try acknowledge(client, .step, params)
    }

    private func homing(_ client: DaemonClient) throws -> String? {
        let steppers = try client.json(.status)["steppers"]?.array ?? []
        return steppers.first { $0["axis"]?.string == axis }?["homing"]?.string
    }
}
