import ArgumentParser
import Client
import Glibc
import PlainText
import Wire

/// Command that sends one request, and prints the daemon's answer.
protocol AcknowledgedCommand: ParsableCommand {
    var options: GlobalOptions { get }
}

extension AcknowledgedCommand {
    func acknowledge(
        _ client: DaemonClient, _ method: Method, _ params: [String: JSONValue] = [:]
    ) throws {
        let result = try client.json(method, params)
        if options.json { return Output.line(result.text) }
        Output.row(result["sentence"]?.string ?? result.text)
    }
}

/// Checks that options have finite values: JSON has no others, so the daemon would not receive
/// them.
private func requireNumbers(_ options: [(name: String, value: Double?)]) throws {
    for (name, value) in options where value?.isFinite == false {
        throw ValidationError("--\(name) must be a finite number.")
    }
}

struct ModeCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode",
        abstract: "Change the mode: inactive, locked, pan_follow, fpv, ….",
        discussion: ModeWords.catalogue.map {
            Format.left($0.name, 12) + $0.summary + "."
        }.joined(separator: "\n")
            + "\n\nModes that follow the handle need joint angles, from encoders or servos; without joint angles the daemon refuses these modes."
    )

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Name of the mode.", completion: .list(ModeWords.catalogue.map(\.name)))
    var mode: String

    func run() throws {
        try acknowledge(try options.connect(), .mode, ["mode": .string(mode)])
    }
}

struct PointCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "point",
        abstract: "Turn the camera to angles in the earth frame.",
        discussion: """
            The angles are in degrees in the earth frame: yaw right, roll right and pitch up are positive. The mode locked accepts \
            all angles, and the mode pan_follow accepts roll and pitch. An axis without an option continues its motion. \
            Angles are limited to motion.range_deg. A turn that would exceed a limit of speed or acceleration takes longer; with \
            --duration, the answer names the limit. The turn continues after the command has ended.
            Examples:
              airframectl point --pitch -30 --duration 2
              airframectl point --yaw 90 --rate 10
            """)

    @OptionGroup var options: GlobalOptions
    @Option(parsing: .unconditional, help: "Yaw in degrees; right is positive.")
    var yaw: Double?
    @Option(parsing: .unconditional, help: "Roll in degrees; right side down is positive.")
    var roll: Double?
    @Option(parsing: .unconditional, help: "Pitch in degrees; up is positive.")
    var pitch: Double?
    @Option(
        parsing: .unconditional,
        help: "Duration of the turn, seconds; default: as fast as the limits permit.")
    var duration: Double?
    @Option(
        parsing: .unconditional,
        help: "Largest rate of each axis, degrees per second; instead of --duration.")
    var rate: Double?

    @OptionGroup var unexpected: UnexpectedArguments

    func validate() throws {
        try unexpected.refuse(options: ["yaw", "roll", "pitch", "duration", "rate"])
        guard yaw != nil || roll != nil || pitch != nil else {
            throw ValidationError("Give at least one of --yaw, --roll and --pitch, in degrees.")
        }
        try requireNumbers([
            ("yaw", yaw), ("roll", roll), ("pitch", pitch), ("duration", duration), ("rate", rate),
        ])
        guard duration == nil || rate == nil else {
            throw ValidationError(
                "Give --duration or --rate, not both: each of them determines how long the turn takes."
            )
        }
    }

    func run() throws {
        var params: [String: JSONValue] = [:]
        params["yaw"] = yaw.map(JSONValue.double)
        params["roll"] = roll.map(JSONValue.double)
        params["pitch"] = pitch.map(JSONValue.double)
        params["duration"] = duration.map(JSONValue.double)
        params["rate"] = rate.map(JSONValue.double)
        try acknowledge(try options.connect(), .point, params)
    }
}

struct RateCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Turn the camera at constant rates.",
        discussion: """
            The rates are in degrees per second. The daemon stops the turn after commander.dead_man_s unless the request is repeated, and at \
            once if this command ends. The command repeats the request for --duration, and then requests zero. Ctrl-C stops the turn immediately. \
            If another client takes control, the command ends with exit code 1.
            """)

    /// Longest interval between repeated requests, s.
    private static let longestPeriod = 0.1

    @OptionGroup var options: GlobalOptions
    @Option(parsing: .unconditional, help: "Yaw rate in degrees per second; right is positive.")
    var yaw: Double?
    @Option(
        parsing: .unconditional,
        help: "Roll rate in degrees per second; right side down is positive.")
    var roll: Double?
    @Option(parsing: .unconditional, help: "Pitch rate in degrees per second; up is positive.")
    var pitch: Double?
    @Option(
        help:
            "Duration of the turn, seconds; the command repeats the request during this time. Default: commander.dead_man_s."
    )
    var duration: Double?

    @OptionGroup var unexpected: UnexpectedArguments

    func validate() throws {
        try unexpected.refuse(options: ["yaw", "roll", "pitch", "duration"])
        guard yaw != nil || roll != nil || pitch != nil else {
            throw ValidationError(
                "Give at least one of --yaw, --roll and --pitch, in degrees per second.")
        }
        try requireNumbers([("yaw", yaw), ("roll", roll), ("pitch", pitch)])
        if let duration, !(0...3600).contains(duration) {
            throw ValidationError("--duration must be 0 to 3600 seconds.")
        }
    }

    func run() throws {
        let client = try options.connect()
        let params: [String: JSONValue] = [
            "yaw": .double(yaw ?? 0), "roll": .double(roll ?? 0), "pitch": .double(pitch ?? 0),
        ]
        let signals = SignalQueue([SIGINT, SIGTERM])
        let deadMan =
            try KeptControl.limit("commander.dead_man_s", client) ?? Self.longestPeriod
        let period = KeptControl.period(within: deadMan, atMost: Self.longestPeriod)
        let own: ClientIdentity = try client.request(.client)
        let end = DaemonClient.now() + (duration ?? deadMan)
        var signal: Int32?
        var isTurning = false
        while signal == nil, DaemonClient.now() < end {
            if isTurning { try KeptControl.check(client, of: own) }
            _ = try client.json(.rate, params)
            isTurning = true
            let rest = min(period, end - DaemonClient.now())
            if rest > 0 { signal = signals.next(within: rest) }
        }
        if isTurning { try KeptControl.check(client, of: own) }
        try acknowledge(client, .rate, ["yaw": 0, "roll": 0, "pitch": 0])
        if signal != nil { throw ExitCodes.failure(after: signal) }
    }
}

struct StopCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Emergency stop: motors off until `stop --reset`.")

    @OptionGroup var options: GlobalOptions
    @Flag(
        help: "Reset the emergency stop. The mode is then `inactive` until you select another mode."
    )
    var reset = false

    func run() throws {
        try acknowledge(try options.connect(), reset ? .resetStop : .stop)
        if !reset, !options.json { Output.line("`airframectl stop --reset` resets the stop.") }
    }
}

struct TakeCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract:
            "Take control of the gimbal, until Ctrl-C or until another client moves the camera.",
        discussion: """
            airframed releases control when the connection closes, so this command runs until you interrupt it. Other clients of the socket, \
            and buttons and sticks on this computer, can still move the camera. The command then reports that you have lost control, and ends \
            with exit code 1.
            """)

    /// Longest interval between repeated requests, s.
    private static let longestPause = 1.0

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        let signals = SignalQueue([SIGINT, SIGTERM])
        let own: ClientIdentity = try client.request(.client)
        let pause = try KeptControl.period(client, atMost: Self.longestPause)
        try acknowledge(client, .take)
        while signals.next(within: pause) == nil {
            try KeptControl.check(client, of: own)
            _ = try client.json(.take)
        }
        _ = try client.json(.release)
    }
}

struct RecentreCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "recentre",
        abstract: "Level the camera, and point it in the direction of the handle.")

    @OptionGroup var options: GlobalOptions

    func run() throws { try acknowledge(try options.connect(), .recentre) }
}

struct ReleaseCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Release control.")

    @OptionGroup var options: GlobalOptions

    func run() throws { try acknowledge(try options.connect(), .release) }
}

struct TrackCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Follow a person with the camera: on, off, next, person NUMBER.",
        discussion: """
            `on` follows the person nearest to the middle of the picture. `next` follows the person to the right of the followed person. \
            --x and --y choose the person at the given position in the picture. \
            `person` follows the person with the given number, if this person is in the picture of a calibrated phone (`airframe-eyes aerie phones`). The motors must be on. \
            Every other request that moves the camera makes airframe-eyes stop following.
            The command needs airframe-eyes, which finds the people.
            """)

    /// Actions of the command `follow`.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case on, off, next, person
    }

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Action: on, off, next or person; default: on.")
    var action = Action.on
    @Argument(help: "Number of the person (only with the action `person`).")
    var person: String?
    @Option(help: "Horizontal position in the picture, 0 (left edge) to 1 (right edge).")
    var x: Double?
    @Option(help: "Vertical position in the picture, 0 (upper edge) to 1 (lower edge).")
    var y: Double?

    func validate() throws {
        guard (x == nil) == (y == nil) else { throw ValidationError("Give both --x and --y.") }
        guard x == nil || action == .on else {
            throw ValidationError("--x and --y are allowed only with the action `on`.")
        }
        guard (person != nil) == (action == .person) else {
            throw ValidationError(
                "The action `person` needs the number of a person; the other actions do not accept a number."
            )
        }
    }

    func run() throws {
        var params: [String: JSONValue] = [
            "action": .string(x == nil ? action.rawValue : FollowingChoice.Action.point.rawValue)
        ]
        if let x, let y {
            params["x"] = .double(x)
            params["y"] = .double(y)
        }
        if let person { params["person"] = .string(person) }
        try acknowledge(try options.connect(), .follow, params)
    }
}
