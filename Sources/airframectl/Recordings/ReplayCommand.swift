import ArgumentParser
import Client
import Configuration
import GimbalCore
import Plot
import Recording
import SystemPackage
import Wire

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract:
            "Replay a recording with the whole control loop (.mcap) or with the estimator (.imu).",
        discussion: """
            For a recording of the flight recorder (.mcap, see `airframectl record`) the command runs estimator, supervisor and \
            controller again, with the same samples and requests. The same build gives identical results, bit for bit. With --set it shows the \
            outputs for other parameters; the camera's motion remains as recorded, because the motors' effect on the camera is unknown.

            For an .imu log the command runs the estimator. The result is one line of CSV for each record: t,qw,qx,qy,qz,bx,by,bz, the \
            attitude (sensor to the log's z-up earth frame) and the gyroscope's bias in rad/s after that record. \
            The estimator skips unusable records (a value that is not a number, a time that is not later than the previous record's time); the command \
            counts and lists them. The command needs no daemon. The same log and settings give the same file, bit for bit.
            """)

    @Argument(help: "The recorded log.", completion: .file(extensions: ["mcap", "imu"]))
    var log: String

    @Option(
        help: "CSV file to write; - for standard output. An .imu log needs this option.",
        completion: .file())
    var output: String?

    @Option(
        help:
            "Also draw attitude, error, bias and the accelerometer's weight over time, as an SVG file.",
        completion: .file())
    var plot: String?

    @Option(
        help: "Configuration file with the estimator's parameters; only for an .imu log.",
        completion: .file(extensions: ["toml"]))
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp(
            "Setting for the replay, as KEY=VALUE; can be repeated.", valueName: "key=value"))
    var overrides: [String] = []

    @Flag(help: "Take the heading from the log's magnetometer; only for an .imu log.")
    var magnetometer = false

    @Flag(help: "Print a summary as JSON.")
    var json = false

    func validate() throws {
        if log.hasSuffix(".mcap") {
            guard config == nil, !magnetometer else {
                throw ValidationError(
                    "--config and --magnetometer apply only to .imu logs. To replay a .mcap recording with other settings, use --set KEY=VALUE."
                )
            }
            return
        }
        guard output != nil else {
            throw ValidationError(
                "The output file is missing: add --output EST.csv, or --output - for standard output."
            )
        }
    }

    func run() throws {
        if log.hasSuffix(".mcap") {
            return try FlightReplayRun(
                path: log, overrides: overrides, plot: plot, output: output, isJSON: json
            ).run()
        }
        guard let output else { return }
        let sensor = try loadConfiguration().recordedSensor
        let recorded: IMULog
        do throws(IMULogError) {
            recorded = try IMULog(path: FilePath(log))
            try recorded.requireSensors(magnetometer: magnetometer, path: FilePath(log))
        } catch {
            throw ClientError.file(error.description, field: "log")
        }
        var picture = plot.map { _ in
            ReplayPlot(log: recorded, name: FilePath(log).lastComponent?.string ?? log)
        }
        let report = try write(recorded, sensor, &picture, to: output)
        for remark in report.remarks { Output.error("\(log): \(remark)") }
        if let plot, let picture {
            try SVGFile.write(picture.figure(remarks: report.remarks), to: plot)
        }
        guard output != "-" else { return }
        if json {
            try Output.json(
                JSONValue.object(
                    [
                        "log": .string(log), "output": .string(output),
                        "unusableSamples": .int(report.unusableSamples),
                        "records": .int(report.records),
                        "disorderedTimes": .int(report.disorderedTimes),
                        "clockRestarts": .int(report.clockRestarts), "gaps": .int(report.gaps),
                        "gravityMismatches": .int(report.gravityMismatches),
                    ].merging(plot.map { ["plot": .string($0)] } ?? [:]) { $1 }))
        } else {
            Output.line("\(output): \(report.records) records of \(log).")
        }
    }

    private func loadConfiguration() throws -> LoadedConfiguration {
        let source = ConfigurationSource(config: config, overrides: overrides)
        do throws(ConfigurationFailure) {
            return try ConfigurationLoader.load(source)
        } catch {
            throw ClientError.file(error.description, field: "config")
        }
    }

    private func write(
        _ recorded: IMULog, _ sensor: AttitudeEstimator.Parameters,
        _ picture: inout ReplayPlot?, to output: String
    ) throws -> ReplayReport {
        do {
            let file = try TableFile(output, input: log)
            let report = try AttitudeReplay.writeCSV(
                recorded, parameters: sensor,
                magnetometer: magnetometer, observe: { picture?.append($0) }
            ) { bytes in try file.write(bytes) }
            try file.close()
            return report
        } catch let error as ClientError {
            throw error
        } catch {
            throw ClientError.file("\(output): \(error) while writing", field: "output")
        }
    }
}
