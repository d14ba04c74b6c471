import ArgumentParser
import Client
import Configuration
import GimbalCore
import PlainText
import Plot
import Recording
import SystemPackage
import Wire

/// `airframectl replay FILE.mcap`: replays a recording through the stabilizer, and compares the new
/// results with the recorded results.
struct FlightReplayRun {
    let path: String
    /// Settings as `KEY=VALUE`; they replace the recorded values.
    let overrides: [String]
    let plot: String?
    let output: String?
    let isJSON: Bool

    /// Largest attitude difference, rad, that counts as "identical" in a replay by another build or
    /// on another architecture.
    private static let tolerance = 1e-4

    func run() throws {
        TrapReport.install(for: path)
        let file = try RecordedFile.open(path)
        let tuning = try RecordedTuning(file, overrides: overrides, path: path)
        let replay = FlightReplay(file, fallback: tuning.fallback, change: tuning.change)
        var rows: [FlightReplay.Row] = []
        var report = replay.run { rows.append($0) }
        report.remarks += tuning.remarks
        guard report.ticks > 0 else {
            let reason =
                report.remarks.first
                ?? "the recording contains no complete state of the loop; the recorder writes a complete state once per second, so record for longer."
            throw ClientError.file(
                FlightFileError.nothingToReplay(path: FilePath(path), reason: reason).description,
                field: "log")
        }
        for remark in report.remarks { Output.error("\(path): \(remark)") }
        if let output { try write(rows, to: output) }
        if let plot { try SVGFile.write(figure(rows), to: plot) }
        if output != "-" { try tell(report, rows) }
        if overrides.isEmpty, report.largestAttitudeDifference > Self.tolerance {
            throw ExitCode(ExitCodes.refused)
        }
    }

    private func tell(_ report: FlightReplay.Report, _ rows: [FlightReplay.Row]) throws {
        if isJSON { return Output.line(document(report).text) }
        Output.line(
            "\(path): \(Format.count(report.ticks)) ticks, \(Format.fixed(report.seconds, 3)) s"
                + (report.skippedTicks > 0
                    ? "; \(Format.count(report.skippedTicks)) ticks before the first complete state were left out"
                    : "")
        )
        if report.missingVariables > 0 {
            Output.line(
                "A different version of airframed made this recording: \(Format.count(report.missingVariables)) variables of this version are missing in the recording, and start from their initial values."
            )
        }
        if overrides.isEmpty {
            Output.line(verdict(report))
        } else {
            comparison(rows).lines(.forOutput()).forEach(Output.line)
            Output.line(
                "The replay uses the recorded motion of the camera; only the commands to the motors differ."
            )
        }
    }

    private func verdict(_ report: FlightReplay.Report) -> String {
        if report.isIdentical {
            return
                "In every tick of the replay, the outputs, the attitude and the state of the supervisor are identical to the recording, bit for bit."
        }
        return
            "\(Format.count(report.identicalTicks)) ticks are identical to the recording, bit for bit; \(report.firstDifference ?? ""). "
            + "Largest differences: attitude \(report.largestAttitudeDifference) rad, torque \(report.largestTorqueDifference) N·m."
    }

    /// Table of recorded and replayed values.
    private func comparison(_ rows: [FlightReplay.Row]) -> Table {
        var table = Table(rightAligned: [1, 2])
        table.add(
            .init(""), .init("recorded", .strong), .init(overrides.joined(separator: " "), .strong))
        func add(_ name: String, _ unit: String, _ decimals: Int, _ values: [(Double, Double)]) {
            func rms(_ numbers: [Double]) -> Double {
                (numbers.reduce(0) { $0 + $1 * $1 } / Double(max(numbers.count, 1))).squareRoot()
            }
            func text(_ numbers: [Double]) -> String {
                "\(Format.fixed(rms(numbers), decimals)) RMS, \(Format.fixed(numbers.map(abs).max() ?? 0, decimals)) peak \(unit)"
            }
            table.add(
                .init(name), .init(text(values.map(\.0))), .init(text(values.map(\.1))))
        }
        for axis in GimbalAxis.allCases {
            add("error \(axis)", "°", 3, rows.map { ($0.recordedError[axis], $0.error[axis]) })
        }
        for axis in GimbalAxis.allCases {
            add("torque \(axis)", "N·m", 4, rows.map { ($0.recordedTorque[axis], $0.torque[axis]) })
        }
        for axis in GimbalAxis.allCases {
            add(
                "attitude \(axis)", "°", 2,
                rows.map { ($0.recordedAttitude[axis], $0.attitude[axis]) })
        }
        return table
    }

    private func document(_ report: FlightReplay.Report) -> JSONValue {
        .object([
            "ticks": .int(report.ticks), "identical_ticks": .int(report.identicalTicks),
            "skipped_ticks": .int(report.skippedTicks), "seconds": .double(report.seconds),
            "identical": .bool(report.isIdentical),
            "first_difference": report.firstDifference.map(JSONValue.string) ?? .null,
            "largest_attitude_difference_rad": .double(report.largestAttitudeDifference),
            "largest_torque_difference_nm": .double(report.largestTorqueDifference),
            "missing_variables": .int(report.missingVariables),
            "remarks": .array(report.remarks.map(JSONValue.string)),
        ])
    }

    private func write(_ rows: [FlightReplay.Row], to output: String) throws {
        var text =
            "t,recorded_yaw,recorded_roll,recorded_pitch,yaw,roll,pitch,recorded_torque_yaw,recorded_torque_roll,recorded_torque_pitch,torque_yaw,torque_roll,torque_pitch\n"
        let start = rows.first?.time ?? 0
        for row in rows {
            let columns = [row.recordedAttitude, row.attitude, row.recordedTorque, row.torque]
            let numbers = columns.flatMap { [$0.yaw, $0.roll, $0.pitch] }
            text +=
                ([FlightFile.seconds(from: start, to: row.time)] + numbers).map(\.description)
                .joined(separator: ",") + "\n"
        }
        do {
            let file = try TableFile(output, input: path)
            try file.write(text.utf8)
            try file.close()
        } catch let error as ClientError {
            throw error
        } catch {
            throw ClientError.file("\(output): \(error) while writing", field: "output")
        }
    }

    /// Plot of the recorded values (pale colours) and of the replayed values (full colours).
    private func figure(_ rows: [FlightReplay.Row]) -> Figure {
        let start = rows.first?.time ?? 0
        let axes: [(GimbalAxis, String, String)] = [
            (.yaw, "#0072b2", "#a6c8e0"), (.roll, "#d55e00", "#f0c3a0"),
            (.pitch, "#009e73", "#a3d8c8"),
        ]
        func chart(
            _ title: String, _ label: String, breaksAt: Double = .infinity,
            _ then: (FlightReplay.Row) -> AxisVector, _ now: (FlightReplay.Row) -> AxisVector
        ) -> Chart {
            Chart(
                title: title, label: label,
                lines: axes.map { axis, _, pale in
                    Chart.Line(
                        "recorded \(axis)", color: pale, values: rows.map { then($0)[axis] },
                        breaksAt: breaksAt)
                }
                    + axes.map { axis, color, _ in
                        Chart.Line(
                            "replayed \(axis)", color: color, values: rows.map { now($0)[axis] },
                            breaksAt: breaksAt)
                    })
        }
        return Figure(
            title: "Replay of \(FilePath(path).lastComponent?.string ?? path)",
            subtitle: overrides.isEmpty ? "as recorded" : overrides.joined(separator: ", "),
            label: "time, s", abscissa: rows.map { FlightFile.seconds(from: start, to: $0.time) },
            charts: [
                chart("Attitude", "degrees", breaksAt: 180, \.recordedAttitude, \.attitude),
                chart("Error", "degrees", \.recordedError, \.error),
                chart("Torque", "N·m", \.recordedTorque, \.torque),
            ])
    }
}

/// Parameters for a replay, from the settings in the recording and the user's changes.
struct RecordedTuning {
    /// Values of parameters that are missing in a recording made by another program version.
    let fallback: Stabilizer.Parameters
    /// Function that changes the recorded parameters for the replay; nil without changes by the
    /// user.
    let change: (@Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters)?
    /// Remarks about the replay's parameters, for the user.
    private(set) var remarks: [String] = []

    /// Two sets of parameters: one from the recorded settings, one from the changed settings.
    private struct Page: Sendable {
        var recorded: Stabilizer.Parameters
        var changed: Stabilizer.Parameters
    }

    init(_ file: FlightFile, overrides: [String], path: String) throws(ClientError) {
        var pages: [Page] = []
        var unknown: Set<String> = []
        do throws(ConfigurationFailure) {
            for text in file.settings {
                let recorded = try Settings.reading(text)
                let changed = try Settings.reading(text, overrides: overrides)
                unknown.formUnion(recorded.unknown)
                pages.append(
                    Page(
                        recorded: recorded.settings.stabilizerParameters,
                        changed: changed.settings.stabilizerParameters))
            }
        } catch {
            throw .file("\(path): \(error.description)", field: "set")
        }
        if !unknown.isEmpty {
            remarks.append(
                "unknown settings are left out: \(unknown.sorted().joined(separator: ", "))"
            )
        }
        var first = pages.first?.recorded ?? Stabilizer.Parameters()
        // Recordings of earlier versions, which assumed old samples, do not contain this value.
        first.controller.assumedWait = 0
        fallback = first
        guard !overrides.isEmpty else {
            change = nil
            return
        }
        let lookup: @Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters? = { [pages] was in
            for page in pages {
                var expected = page.recorded
                // The recorded calibration applies unless the user changes it, because a
                // calibration is not a setting.
                expected.correction = was.correction
                expected.isCalibrating = was.isCalibrating
                expected.controller.assumedWait = was.controller.assumedWait
                guard expected == was else { continue }
                var changed = page.changed
                changed.isCalibrating = was.isCalibrating
                if page.changed.correction == page.recorded.correction {
                    changed.correction = was.correction
                }
                let wait = page.recorded.controller.assumedWait
                if page.changed.controller.assumedWait == wait {
                    changed.controller.assumedWait = was.controller.assumedWait
                }
                return changed
            }
            return nil
        }
        let strange = FlightReplay.parameters(in: file, fallback: fallback)
            .filter { lookup($0) == nil }.count
        if strange > 0 {
            remarks.append(
                "Settings were changed during the recording, so --set has no effect in \(strange) parts of the replay. To use --set, make a new recording without changing settings."
            )
        }
        change = { lookup($0) ?? $0 }
    }
}
