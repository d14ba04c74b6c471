import ArgumentParser
import Client
import Glibc
import PlainText
import Wire

struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Calibrate a sensor, step by step; show or undo calibrations.",
        discussion: """
            gyro            offset of the gyroscope, with the camera still for a few seconds
            mounting        mounting angles of the sensor: camera level, then with the lens down
            accelerometer   offset and scale, with the camera still on each of its six sides, in any order; the upright pose must be level
            magnetometer    offset and scale, while you turn the camera in every direction
            gyro_matrix     scale and cross-axis sensitivity of the gyroscope, with four half turns on a table; the accelerometer must be calibrated
            status          present calibrations, and whether a calibration is running
            undo [WHAT]     restore the calibration that the last calibration replaced
            cancel          end a calibration that another client has started

            The motors are off during a calibration. airframed applies and saves the result when the calibration is complete; Ctrl-C ends the calibration without a change. \
            Calibrate the mounting before the accelerometer: its level pose defines the horizon, and the calibration of the accelerometer needs the mounting to recognise the sides of the camera.
            """)

    /// Actions of the command `calibrate`.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case gyro, accelerometer, mounting, magnetometer
        case gyroMatrix = "gyro_matrix"
        case status, undo, cancel
    }

    /// Interval between two requests for the calibration's state, s.
    private static let period = 0.2

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Sensor to calibrate, or status, undo, cancel.")
    var action: Action = .status
    @Argument(
        help:
            "For `calibrate undo`: sensor whose calibration is undone; default: the sensor that was calibrated last."
    )
    var what: String?

    func validate() throws {
        if what != nil, action != .undo {
            throw ValidationError("Only the action `undo` accepts a second argument.")
        }
    }

    func run() throws {
        let client = try options.connect()
        switch action {
        case .status: try show(try ask(client, "status"), CalibrationView.saved)
        case .cancel:
            guard try ask(client, "status").isRunning || options.json else {
                return Output.line("No calibration is running.")
            }
            try show(try ask(client, "cancel")) { [$0.sentence] }
        case .undo: try show(try ask(client, "undo", what)) { [$0.sentence] }
        case .gyro, .accelerometer, .mounting, .magnetometer, .gyroMatrix: try guide(client)
        }
    }

    private func ask(
        _ client: DaemonClient, _ action: String, _ what: String? = nil
    ) throws -> CalibrationReport {
        var params: [String: JSONValue] = ["action": .string(action)]
        params["what"] = what.map(JSONValue.string)
        return try client.request(.calibrate, params)
    }

    private func show(
        _ report: CalibrationReport, _ lines: (CalibrationReport) -> [String]
    ) throws {
        if options.json { return try Output.json(report) }
        lines(report).forEach(Output.line)
    }

    private func guide(_ client: DaemonClient) throws {
        let signals = SignalQueue([SIGINT, SIGTERM])
        var report = try ask(client, "start", action.rawValue)
        var view = CalibrationView()
        var interruption: Int32?
        while true {
            if options.json {
                try Output.json(report)
            } else {
                view.lines(for: report).forEach(Output.line)
            }
            guard report.isRunning else { break }
            let signal = signals.next(within: Self.period)
            interruption = signal ?? interruption
            report = try ask(client, signal == nil ? "status" : "cancel")
        }
        if report.state != CalibrationReport.State.done.rawValue {
            throw ExitCodes.failure(after: interruption)
        }
    }
}

/// Text output of a calibration's progress. A line is written only if its text has changed.
struct CalibrationView {
    private var instruction = ""
    private var hint = ""
    private var tenths = -1

    /// Returns the lines to write for a new report.
    ///
    /// - Parameter report: The newest report.
    /// - Returns: Lines without newlines; empty if nothing has changed.
    mutating func lines(for report: CalibrationReport) -> [String] {
        guard report.isRunning else { return Self.ending(report) }
        if report.state == CalibrationReport.State.waiting.rawValue { return [] }
        var lines: [String] = []
        let isNewStep = report.instruction != instruction
        if isNewStep {
            instruction = report.instruction
            lines.append(report.instruction)
        }
        let step = Int((report.progress.known ?? 0) * 10)
        // Only the text before the parenthesis is compared with the previous line, because the
        // number in parentheses changes continuously.
        let kind = String(report.hint.prefix { $0 != "(" })
        if isNewStep || kind != hint || (kind.isEmpty && step != tenths) || step > tenths {
            tenths = kind == hint && !isNewStep ? max(step, tenths) : step
            hint = kind
            lines.append(Self.bar(report))
        }
        return lines
    }

    /// Progress bar with text, such as " [####......] 40 % This pose is done."
    private static func bar(_ report: CalibrationReport) -> String {
        let share = min(max(report.progress.known ?? 0, 0), 1)
        let full = Int(share * 10)
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 10 - full)
        let hint = report.hint.isEmpty ? "" : "  \(report.hint)"
        return "  [\(bar)] \(Format.fixed(share * 100, 0)) %\(hint)"
    }

    private static func ending(_ report: CalibrationReport) -> [String] {
        var lines = [report.sentence]
        if let residual = report.residual.known {
            lines.append("  residual \(amount(residual, report.residualUnit))")
        }
        return lines.filter { !$0.isEmpty }
    }

    /// One line for each active calibration.
    static func saved(_ report: CalibrationReport) -> [String] {
        var lines = report.saved.map { saved in
            let temperature = saved.temperatureC.known.map { ", \(Format.fixed($0, 0)) °C" } ?? ""
            let date = saved.dateS.known.map { Format.date($0, "%Y-%m-%d %H:%M") } ?? "unknown date"
            let undo = saved.canUndo ? "" : ", cannot be undone"
            return "\(saved.what)  \(date)\(temperature), residual "
                + "\(amount(saved.residual.known ?? .nan, saved.unit))\(undo)"
        }
        if lines.isEmpty {
            lines = ["No sensor is calibrated. Begin with `airframectl calibrate gyro`."]
        }
        if report.isRunning, let what = report.what {
            lines.append("A calibration of the \(what) is running.")
            lines.append("  \(report.instruction)")
        }
        return lines
    }

    /// Text of a value with its unit. Radians are converted to degrees.
    private static func amount(_ value: Double, _ unit: String) -> String {
        switch unit {
        case "rad/s": "\(Format.fixed(value * 180 / .pi, 4)) °/s"
        case "rad": "\(Format.fixed(value * 180 / .pi, 2))°"
        default: "\(Format.fixed(value, 4)) \(unit)"
        }
    }
}
