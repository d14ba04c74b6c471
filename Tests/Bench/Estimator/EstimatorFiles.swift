import Glibc
import PlainText
import Plot
import Recording
import SystemPackage

/// Files and values for the comparison with other estimators. This type writes the logs of the
/// harder scenarios as files, prints the processor time of one estimator update, and draws plots.
enum EstimatorFiles {
    /// Executes the task that the options request: an export of logs, a measurement of the update
    /// time, or plots. If a task is requested, no benchmark runs.
    ///
    /// - Parameter options: Options of the command line.
    /// - Returns: True if the options request an export, a measurement of the update time, or
    ///   plots.
    /// - Throws: `IMULogError`, `EstimatorBench.Failure`, `Errno`.
    static func serve(_ options: Options) throws -> Bool {
        if let log = options.costLog {
            let nanoseconds = EstimatorBench.nanosecondsPerUpdate([
                try IMULog(path: FilePath(log))
            ])
            print(Format.fixed(nanoseconds, 2))
            return true
        }
        if let directory = options.exportDirectory {
            try export(from: options.dataDirectory ?? ".", to: directory)
            return true
        }
        if let directory = options.plotDirectory {
            guard options.names == ["pointing"] else {
                try ConsistencyPlot.draw(into: FilePath(directory))
                return true
            }
            try makeDirectory(FilePath(directory))
            for (file, figure) in PointingPlot.figures() {
                let path = FilePath(directory).appending(file)
                try write(Array(figure.svg().utf8), to: path)
                print(path)
            }
            return true
        }
        return false
    }

    /// Writes a folder for each scenario. The folder contains every log of the directory `source`,
    /// changed as the scenario describes.
    private static func export(from source: String, to directory: String) throws {
        guard let names = EstimatorBench.logNames(in: source), !names.isEmpty else {
            throw EstimatorBench.Failure.noLogs(directory: source)
        }
        let logs = try names.map { try IMULog(path: FilePath(source).appending($0)) }
        try makeDirectory(FilePath(directory))
        for scenario in EstimatorScenario.exported {
            let folder = FilePath(directory).appending(scenario.folder)
            try makeDirectory(folder)
            for (name, log) in zip(names, logs) {
                var harder = log
                scenario.apply(&harder)
                try write(harder.encoded(), to: folder.appending(name))
            }
            print("\(scenario.folder)\t\(scenario.name)")
        }
    }

    static func makeDirectory(_ path: FilePath) throws {
        guard mkdir(path.string, 0o755) != 0, errno != EEXIST else { return }
        throw Errno(rawValue: errno)
    }

    static func write(_ bytes: [UInt8], to path: FilePath) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
        try file.closeAfter { _ = try file.writeAll(bytes) }
    }
}
