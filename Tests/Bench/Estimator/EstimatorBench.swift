import Configuration
import GimbalCore
import Glibc
import PlainText
import Recording
import SystemPackage

/// Accuracy and cost of the attitude estimator on recorded trials with an optical reference.
enum EstimatorBench {
    /// Error if a directory contains no recorded trials.
    enum Failure: Error, CustomStringConvertible {
        case noLogs(directory: String)

        var description: String {
            switch self {
            case .noLogs(let directory): return "\(directory) contains no .imu log"
            }
        }
    }

    /// Result of one trial. `inclination` and `total` are RMS errors over the evaluated samples,
    /// degrees. `biasError` is the error of the estimated gyroscope bias, degrees per second.
    /// `convergence` is the time until the bias estimate has converged, s.
    struct Score {
        var name: String
        var inclination: Double
        var total: Double
        var biasError: Double
        var convergence: Double
    }

    private static let degrees = 180 / Double.pi
    /// Default parameters of `airframectl replay`.
    private static let parameters = LoadedConfiguration().recordedSensor

    /// Scores each log of a directory with default parameters, then measures the processor time of
    /// an update.
    ///
    /// - Parameters:
    ///   - dataDirectory: Directory of the `.imu` logs. If the path is nil or the directory is
    ///     missing, the report contains a note, and nothing is measured.
    ///   - report: Report to which the results are added.
    /// - Throws: `IMULogError`; `Failure` if the directory contains no log.
    static func run(dataDirectory: String?, _ report: inout BenchReport) throws {
        guard let directory = dataDirectory else {
            report.note("not measured: name the recorded trials with --data DIRECTORY")
            return
        }
        guard let names = logNames(in: directory) else {
            report.note("not measured: there is no directory \(directory)")
            return
        }
        guard !names.isEmpty else { throw Failure.noLogs(directory: directory) }
        let logs = try names.map { name in
            (name, try IMULog(path: FilePath(directory).appending(name)))
        }
        report.note("6D inclination and 9D total: RMSE, deg; bias: error at the end, deg/s, and")
        report.note("seconds until it stays below 0.1 deg/s; one set of default parameters")
        let scores = logs.map { score($0.1, name: $0.0) }
        for score in scores { report.note(line(score)) }
        let count = Double(scores.count)
        func mean(_ figure: (Score) -> Double) -> Double {
            scores.map(figure).reduce(0, +) / count
        }
        report.check("mean 6D inclination", mean(\.inclination), atMost: 1.10, "deg")
        report.show("mean 9D total", mean(\.total), "deg")
        report.show("mean bias error at the end", mean(\.biasError), "deg/s")
        report.show("mean time until the bias error stays < 0.1", mean(\.convergence), "s")
        for scenario in EstimatorScenario.all {
            let results = logs.map { name, log in
                var harder = log
                scenario.apply(&harder)
                return score(harder, name: name).inclination
            }
            report.show(
                "6D inclination, \(scenario.name)", results.reduce(0, +) / count, "deg")
        }
        report.show("one update and its attitude", nanosecondsPerUpdate(logs.map(\.1)), "ns")
    }

    /// Names of the `.imu` files in a directory, sorted; nil if the directory does not exist.
    static func logNames(in directory: String) -> [String]? {
        guard let handle = opendir(directory) else { return nil }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".imu") { names.append(name) }
        }
        return names.sorted()
    }

    /// Scores a log by the definitions of the BROAD benchmark (Laidig et al. 2021, doi
    /// 10.3390/data6070072). For each moving sample with a reference, the error is the quaternion e
    /// = estimate · conj(reference) in the earth frame. The inclination error is 2 acos √(w² + z²),
    /// where w and z are components of the error quaternion.
    private static func score(_ log: IMULog, name: String) -> Score {
        let truth = restRate(log)
        var squares = 0.0
        var count = 0.0
        var index = 0
        var biasError = 0.0
        var settled = 0.0
        AttitudeReplay.run(log, parameters: parameters) { row in
            let record = log.records[index]
            index += 1
            biasError = (row.bias - truth).norm * degrees
            if !(biasError < 0.1) { settled = row.time + 1 / log.sampleRate }
            guard record.isMoving, record.reference.isFinite else { return }
            let error = row.attitude.normalized * record.reference.normalized.conjugate
            let cosine = min(1, (error.w * error.w + error.z * error.z).squareRoot())
            let angle = 2 * acos(cosine) * degrees
            squares += angle * angle
            count += 1
        }
        return Score(
            name: name, inclination: (squares / max(count, 1)).squareRoot(), total: total(log),
            biasError: biasError, convergence: settled)
    }

    /// Total attitude error with magnetometer (9D), as defined in the BROAD benchmark: 2 acos |w|,
    /// where w is a component of the error quaternion.
    private static func total(_ log: IMULog) -> Double {
        var squares = 0.0
        var count = 0.0
        var index = 0
        AttitudeReplay.run(log, parameters: parameters, magnetometer: true) { row in
            let record = log.records[index]
            index += 1
            guard record.isMoving, record.reference.isFinite else { return }
            let error = row.attitude.normalized * record.reference.normalized.conjugate
            let angle = 2 * acos(min(1, abs(error.w))) * degrees
            squares += angle * angle
            count += 1
        }
        return (squares / max(count, 1)).squareRoot()
    }

    /// Mean raw rate before the first motion, rad/s. Before the first motion the sensor is at rest.
    /// The mean is therefore the gyroscope's bias.
    static func restRate(_ log: IMULog) -> Vector3 {
        let rest = log.records.prefix { !$0.isMoving }
        return rest.reduce(Vector3.zero) { $0 + $1.gyro } / Double(max(rest.count, 1))
    }

    static func nanosecondsPerUpdate(_ logs: [IMULog]) -> Double {
        var rounds: [Double] = []
        var sink = 0.0
        for _ in 0..<7 {
            for log in logs {
                var estimator = AttitudeEstimator(
                    parameters: .init(), restSpecificForce: Vector3(0, 0, 9.80665))
                let step = 1 / log.sampleRate
                let start = threadTime()
                for record in log.records {
                    estimator.update(gyro: record.gyro, accel: record.accel, dt: step)
                    sink += estimator.attitude.w
                }
                rounds.append((threadTime() - start) * 1e9 / Double(log.records.count))
            }
        }
        // The bench uses the sum of the results to prevent the compiler from removing the measured
        // loop.
        precondition(sink.isFinite)
        return rounds.sorted()[rounds.count / 2]
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func line(_ score: Score) -> String {
        Format.left(String(score.name.prefix(50)), 52)
            + [
                Format.fixed(score.inclination, 3), Format.fixed(score.total, 3),
                Format.fixed(score.biasError, 3), Format.fixed(score.convergence, 2),
            ].joined(separator: "  ")
    }
}
