import ArgumentParser
import Configuration
import GimbalCore
import Recording
import SystemPackage
import Wire

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run the attitude estimator over a recorded log.",
        discussion: """
            Reads an .imu log and writes one line of CSV for each of its records: t,qw,qx,qy,qz,bx,by,bz, the \
            attitude (sensor to the log's z-up earth frame) and the gyroscope's bias in rad/s after that record. \
            Needs no daemon. The same log and settings give the same file, bit for bit.
            """)

    @Argument(help: "The recorded log.")
    var log: String

    @Option(help: "The file to write; - is standard output.")
    var output: String

    @Option(help: "A configuration file, for the estimator's parameters.")
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp("Overrides one key; may be repeated.", valueName: "key=value"))
    var overrides: [String] = []

    @Flag(help: "Take the heading from the log's magnetometer.")
    var magnetometer = false

    @Flag(help: "Print a summary as JSON.")
    var json = false

    func run() throws {
        let settings = try loadSettings()
        let recorded: IMULog
        do throws(IMULogError) {
            recorded = try IMULog(path: FilePath(log))
        } catch {
            throw ClientError.file(error.description, field: "log")
        }
        if magnetometer, !recorded.hasMagnetometer {
            throw ClientError.file(
                "\(log) has no magnetometer; leave --magnetometer out", field: "magnetometer")
        }
        try write(recorded, settings)
        guard output != "-" else { return }
        if json {
            try Output.json(Summary(log: log, output: output, records: recorded.records.count))
        } else {
            Output.line("\(output): \(recorded.records.count) records of \(log).")
        }
    }

    private func loadSettings() throws -> Settings {
        let source = ConfigurationSource(config: config, overrides: overrides)
        do throws(ConfigurationFailure) {
            return try ConfigurationLoader.load(source).settings
        } catch {
            throw ClientError.file(error.description, field: "config")
        }
    }

    private func write(_ recorded: IMULog, _ settings: Settings) throws {
        do {
            let file =
                output == "-"
                ? FileDescriptor.standardOutput
                : try FileDescriptor.open(
                    FilePath(output), .writeOnly, options: [.create, .truncate],
                    permissions: [.ownerReadWrite, .groupRead, .otherRead])
            try AttitudeReplay.writeCSV(
                recorded, parameters: settings.stabilizerParameters.estimator,
                magnetometer: magnetometer
            ) { bytes in _ = try file.writeAll(bytes) }
            if output != "-" { try file.close() }
        } catch {
            throw ClientError.file("\(output): \(error) while writing", field: "output")
        }
    }

    /// What `--json` prints.
    private struct Summary: Encodable {
        let log: String
        let output: String
        let records: Int
    }
}
