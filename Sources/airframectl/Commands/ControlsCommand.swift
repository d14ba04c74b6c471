import ArgumentParser
import Client
import Configuration
import Glibc
import PlainText
import Wire

struct ControlsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controls",
        abstract:
            "Show buttons, sticks and gamepads with their effects, or bind a control to an action.",
        discussion: """
            Without an action the command lists the devices and their effects, then prints every use of a control until \
            Ctrl-C. `controls learn ACTION` waits until you use a control, and binds this control to the action; meanwhile \
            no control has an effect, except an emergency stop. Example: `airframectl controls learn mode pan_follow`.

            Actions of a button: mode NAME, mode NAME while held, mode next, recentre, step AXIS DEGREES, stop, reset_stop, \
            record, profile NAME, profile next. Actions of a stick: yaw, roll, pitch, or -yaw, -roll, -pitch for the \
            opposite direction. The setting controls.bindings contains the list.
            """)

    /// Interval between two requests for the state of the controls, s.
    private static let period = 0.1
    /// Time within which the user must use a control, s.
    private static let learningSeconds = 30.0

    @OptionGroup var options: GlobalOptions
    @Flag(help: "List the devices and the effects of their controls, then end.")
    var once = false
    @Argument(help: "The word `learn`, then the action to bind.")
    var words: [String] = []

    /// Separates the words of an action from the options, because the parser would take `-pitch`
    /// and `-5` for options.
    static func separatingAction(in arguments: [String]) -> [String] {
        guard arguments.starts(with: ["controls", "learn"]), !arguments.contains("--") else {
            return arguments
        }
        let words = arguments.dropFirst(2).prefix { !$0.hasPrefix("--") && $0 != "-h" }
        return arguments.prefix(2) + arguments.dropFirst(2 + words.count) + ["--"] + words
    }

    func validate() throws {
        guard let first = words.first else { return }
        guard first == "learn" else {
            throw ValidationError(
                "The only subcommand is learn: airframectl controls learn ACTION.")
        }
        guard words.count > 1 else {
            throw ValidationError("Give the action to bind: airframectl controls learn recentre.")
        }
        guard ControlAction(wanted) != nil else {
            throw ValidationError(
                "\"\(wanted)\" is not an action. Actions: \(ControlAction.examples), yaw, roll, pitch."
            )
        }
    }

    private var wanted: String { words.dropFirst().joined(separator: " ") }

    func run() throws {
        let client = try options.connect()
        if let action = words.isEmpty ? nil : ControlAction(wanted) {
            return try learn(action, client)
        }
        if options.json { return Output.line(try client.json(.controls).text) }
        let style = Style.forOutput()
        var report: ControlsReport = try client.request(.controls)
        ControlsView.lines(report, style).forEach(Output.line)
        guard !once, report.isEnabled else { return }
        Output.line("")
        Output.line("Press a button or move a stick; Ctrl-C ends the command.")
        let signals = SignalQueue([SIGINT, SIGTERM])
        var seen = report.events.last?.sequence ?? 0
        var turning = ""
        while signals.next(within: Self.period) == nil {
            report = try client.request(.controls)
            for event in report.events where event.sequence > seen {
                seen = event.sequence
                Output.line(ControlsView.line(event, style))
            }
            let text = ControlsView.turning(report)
            if text != turning, !text.isEmpty { Output.line(text) }
            turning = text
        }
    }

    private func learn(_ action: ControlAction, _ client: DaemonClient) throws {
        let signals = SignalQueue([SIGINT, SIGTERM])
        let _: ControlsReport = try client.request(
            .controls, ["action": "learn", "seconds": .double(Self.learningSeconds)])
        if !options.json {
            let limit = "within \(Int(Self.learningSeconds)) s"
            Output.line(
                action.isTurn
                    ? "Push the stick to its end, \(limit)."
                    : "Tap the button once, twice or three times, or hold it, \(limit).")
        }
        var report: ControlsReport
        repeat {
            if let signal = signals.next(within: Self.period) {
                try cancel(client)
                throw ExitCodes.failure(after: signal)
            }
            report = try client.request(.controls)
        } while report.learned == nil && report.isLearning
        try cancel(client)
        guard let learned = report.learned else {
            throw ClientError.refused(
                RequestError(
                    "refused",
                    "No control was used within \(Int(Self.learningSeconds)) s; nothing has changed."
                ))
        }
        let gesture = learned.gesture.isEmpty ? nil : Gesture(rawValue: learned.gesture)
        guard let control = Control(learned.control),
            let binding = ControlBinding(control, learned: gesture, action)
        else {
            throw ClientError.refused(
                RequestError(
                    "refused",
                    "\(learned.control) \(learned.gesture) cannot have the action \(action): a stick can only turn the camera, and a button cannot turn it at a rate. Nothing has changed."
                ))
        }
        let settings: [Wire.Setting] = try client.request(
            .get, ["keys": .array(["controls.bindings"])])
        let present = settings.first?.value.array?.compactMap(\.string) ?? []
        let kept = present.filter { text in
            guard let other = try? ControlBinding(parsing: text) else { return false }
            return other.control != binding.control
                || other.gesture != binding.gesture && other.gesture != gesture
        }
        let list = JSONValue.array((kept + ["\(binding)"]).map(JSONValue.string))
        let setting: Wire.Setting = try client.request(
            .set, ["key": "controls.bindings", "value": list])
        if options.json { return try Output.json(setting) }
        Output.line("\(learned.device): \(binding). `airframectl save` keeps it.")
    }

    private func cancel(_ client: DaemonClient) throws {
        let _: ControlsReport = try client.request(.controls, ["action": "cancel"])
    }
}

extension ControlAction {
    /// True if the action rotates the camera with a stick.
    fileprivate var isTurn: Bool { if case .turn = self { true } else { false } }
}

/// Text output of the command `controls`.
enum ControlsView {
    static func lines(_ report: ControlsReport, _ style: Style) -> [String] {
        guard report.isEnabled else {
            return ["The controls are off: set controls.enabled = true."]
        }
        var lines: [String] = []
        for device in report.devices {
            lines.append(style(.strong, device.name) + style(.quiet, "  \(device.node)"))
            var table = Table()
            for entry in device.controls {
                let place = entry.deflection.map { value in
                    value.known.map { Format.fixed($0, 2) } ?? ""
                }
                table.add(
                    .init(entry.control), .init(place ?? "", .quiet),
                    .init(entry.actions.joined(separator: "; ")))
            }
            lines += table.lines(style, indent: 2)
        }
        if report.devices.isEmpty { lines.append("There is no button, stick or gamepad.") }
        if !report.unused.isEmpty {
            lines.append(
                style(
                    .quiet,
                    "Not used: \(report.unused.joined(separator: ", ")). controls.device selects a device by its name."
                ))
        }
        if let problem = report.problem { lines.append(style(.caution, problem)) }
        return lines
    }

    static func line(_ event: ControlsReport.Event, _ style: Style) -> String {
        let isDone = event.outcome == "done"
        let use = "\(event.control) \(event.gesture)"
        let effect = event.action.isEmpty ? "" : " → \(event.action)"
        return style(.quiet, Format.right(Format.fixed(event.t.value, 2), 10)) + "  " + use + effect
            + ": " + style(isDone ? .good : .caution, event.outcome)
    }

    /// Text of the rates requested by the sticks; empty while all sticks are at rest.
    static func turning(_ report: ControlsReport) -> String {
        let parts = zip(["yaw", "roll", "pitch"], report.rateDps).compactMap { name, rate in
            rate.known.flatMap { $0 == 0 ? nil : "\(name) \(Format.fixed($0, 1))°/s" }
        }
        return parts.isEmpty ? "" : "            turning: " + parts.joined(separator: ", ")
    }
}
