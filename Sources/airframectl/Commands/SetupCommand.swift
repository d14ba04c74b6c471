import ArgumentParser
import Client
import Glibc
import Hardware
import PlainText
import Wire

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Set the gimbal up, step by step, from wired parts to a stabilised camera.",
        discussion: """
            In a terminal, the command without an argument guides you through all open steps. Otherwise, it lists the steps.

            chips           searches the buses, proposes a configuration, and checks that the sensor delivers samples
            gyro, mounting, accelerometer
                            calibrate the sensor, see `airframectl calibrate`
            motors          move each motor slowly, and measure its axis, direction, and pole pairs or travel
            joints          measure the range of each joint, and the direction of its encoder
            locked          switch the motors on for the first time, and check that they hold the camera
            balance         measure the balance of the camera with the motors
            save            save the changed settings

            status          list the steps
            confirm STEP    mark a step as done after you have checked its result, such as the balance
            skip STEP       mark a step as skipped
            undo STEP       restore the settings from before a step
            cancel          end the running step; the motors are switched off
            again           mark all steps as not done; the settings do not change

            airframed saves the finished steps, so you can continue on another computer or in the browser. New settings of the motors take effect at the next start of airframed. \
            Ctrl-C ends a running step.
            """)

    /// Steps and actions of the command `setup`.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case status, chips, gyro, mounting, accelerometer, motors, joints, locked, balance, save
        case confirm, skip, undo, cancel, again

        /// True if the action is a step.
        var isStep: Bool {
            switch self {
            case .status, .confirm, .skip, .undo, .cancel, .again: false
            default: true
            }
        }
    }

    /// Interval between two requests for the state of a step, s.
    private static let period = 0.2

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Step to run, or status, confirm, skip, undo, cancel, again.")
    var action: Action?
    @Argument(help: "Step for `confirm`, `skip` and `undo`.")
    var step: Action?

    func validate() throws {
        let needsStep = [.confirm, .skip, .undo].contains(action)
        guard needsStep == (step != nil), step?.isStep ?? true else {
            throw ValidationError(
                "The actions `confirm`, `skip` and `undo` need a step, such as `motors`.")
        }
    }

    func run() throws {
        let client = try options.connect()
        switch action {
        case nil:
            if options.json || isatty(STDIN_FILENO) == 0 { return try show(client, "status") }
            try guide(client)
        case .status?, .cancel?, .again?: try show(client, action?.rawValue ?? "status")
        case .confirm?, .skip?, .undo?: try show(client, action?.rawValue ?? "", step)
        case let step?:
            let signals = SignalQueue([SIGINT, SIGTERM])
            if let failure = try execute(step.rawValue, client, signals) { throw failure }
        }
    }

    private func ask(
        _ client: DaemonClient, _ action: String, _ step: String? = nil
    ) throws -> SetupReport {
        var params: [String: JSONValue] = ["action": .string(action)]
        params["step"] = step.map(JSONValue.string)
        return try client.request(.setup, params)
    }

    private func show(_ client: DaemonClient, _ action: String, _ step: Action? = nil) throws {
        let report = try ask(client, action, step?.rawValue)
        if options.json { return try Output.json(report) }
        SetupView.list(report).forEach(Output.line)
    }

    /// Starts a step, and shows the progress until the step ends.
    ///
    /// - Returns: Exit code for a step that has failed or was cancelled; nil if the step has
    ///   succeeded.
    private func execute(
        _ name: String, _ client: DaemonClient, _ signals: SignalQueue
    ) throws -> ExitCode? {
        var report = try ask(client, "start", name)
        var view = SetupView()
        var interruption: Int32?
        while true {
            guard let step = report.steps.first(where: { $0.name == name }) else {
                return ExitCodes.failure(after: interruption)
            }
            if options.json {
                try Output.json(step)
            } else {
                view.lines(for: step).forEach(Output.line)
            }
            guard step.isRunning else {
                let hasSucceeded =
                    step.state == SetupStep.State.done.rawValue
                    || step.state == SetupStep.State.restart.rawValue
                return hasSucceeded ? nil : ExitCodes.failure(after: interruption)
            }
            let signal = signals.next(within: Self.period)
            interruption = signal ?? interruption
            report = try ask(client, signal == nil ? "status" : "cancel")
        }
    }

    /// Chips on the buses, and a configuration for them. Without real hardware the search would
    /// report missing chips, so it is omitted, as on the page of airframe-web.
    private func chips(_ client: DaemonClient) throws -> [String] {
        let status: Status = try client.request(.status)
        guard status.backend == "linux" else {
            return ["hardware.backend is \(status.backend): nothing needs to be wired."]
        }
        guard let found: HardwareReport = try? client.request(.hardware) else { return [] }
        return HardwareView.lines(found)
    }

    /// Guides the user through all open steps.
    private func guide(_ client: DaemonClient) throws {
        let signals = SignalQueue([SIGINT, SIGTERM])
        var hasSearched = false
        Output.line(
            "Keep a hand at the switch of the motors' supply. Ctrl-C ends a running step and switches the motors off. You can leave the set-up after each step, and continue later."
        )
        while true {
            let report = try ask(client, "status")
            guard let step = report.next else {
                return Output.line("All steps are finished: the gimbal is ready.")
            }
            SetupView.introduction(step, of: report).forEach(Output.line)
            if step.name == "chips", !hasSearched {
                hasSearched = true
                try chips(client).forEach { Output.line($0.isEmpty ? "" : "  " + $0) }
            }
            if step.state == SetupStep.State.restart.rawValue { return }
            let question =
                "[Enter] start, [c] confirm without a measurement, [s] skip, [u] undo, [q] leave: "
            guard let answer = try Prompt.answer(to: question, signals) else {
                return Output.line("")
            }
            do {
                switch answer.lowercased() {
                case "": _ = try execute(step.name, client, signals)
                case "c": _ = try ask(client, "confirm", step.name)
                case "s": _ = try ask(client, "skip", step.name)
                case "u": _ = try ask(client, "undo", step.name)
                case "q": return
                default: Output.line("Press Enter, or type c, s, u or q.")
                }
            } catch ClientError.refused(let refusal) {
                Output.line(refusal.message)
            }
        }
    }
}

/// Text output of the set-up.
struct SetupView {
    private var instruction = ""
    private var hint = ""
    private var tenths = -1

    /// Returns the lines to write for the newest state of a step; empty if nothing has changed.
    mutating func lines(for step: SetupStep) -> [String] {
        guard step.isRunning else { return Self.ending(step) }
        var lines: [String] = []
        let isNewStep = step.instruction != instruction
        if isNewStep {
            instruction = step.instruction
            lines.append("  " + step.instruction)
        }
        // Only the text before the parenthesis is compared with the previous line, because the
        // number in parentheses changes continuously.
        let kind = String(step.sentence.prefix { $0 != "(" })
        let now = Int((step.progress.known ?? 0) * 10)
        guard isNewStep || kind != hint || now > tenths else { return lines }
        tenths = now
        hint = kind
        let text = step.sentence.isEmpty ? "" : "  \(step.sentence)"
        lines.append("  \(tenths * 10) %\(text)")
        return lines
    }

    /// Result of a step that has ended: text, measured values and changed settings.
    static func ending(_ step: SetupStep) -> [String] {
        var lines = step.values.compactMap { value in
            value.value.known.map {
                "  \(value.name): \(Format.fixed($0, 3)) \(value.unit)".trimmed
            }
        }
        lines += step.changes.map { "  \($0.key) = \($0.new)  (was \($0.old))" }
        if !step.sentence.isEmpty { lines.append(step.sentence) }
        return lines
    }

    /// One line for each step.
    static func list(_ report: SetupReport) -> [String] {
        var table = Table()
        for step in report.steps {
            table.add(
                .init(step.name), .init(step.state),
                .init(step.code.isEmpty ? step.title : step.sentence))
        }
        var lines = table.lines(Style.forOutput())
        if report.needsRestart {
            lines.append(
                "New settings take effect after a restart: sudo systemctl restart airframed")
        }
        return lines
    }

    /// Title, last result and instruction of a step.
    static func introduction(_ step: SetupStep, of report: SetupReport) -> [String] {
        let number = (report.steps.firstIndex { $0.name == step.name } ?? 0) + 1
        var lines = ["", "\(number) of \(report.steps.count): \(step.title)"]
        if step.state != SetupStep.State.open.rawValue || !step.sentence.isEmpty {
            lines += ending(step)
        }
        if step.state != SetupStep.State.restart.rawValue { lines.append(step.instruction) }
        return lines
    }
}

extension String {
    /// The text without trailing spaces.
    fileprivate var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
