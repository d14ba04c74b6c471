import GimbalCore
import Glibc
import Recording
import SystemPackage

/// The attitude estimator against recorded trials with an optical reference: accuracy and cost.
enum EstimatorBench {
    /// Why there is nothing to measure.
    enum Failure: Error, CustomStringConvertible {
        case noLogs(directory: String)

        var description: String {
            switch self {
            case .noLogs(let directory): return "\(directory): no .imu log to score there"
            }
        }
    }

    /// What one trial gave: root mean square errors over its scored samples, degrees, and the bias, degrees per second
    /// and seconds.
    struct Score {
        var name: String
        var inclination: Double
        var total: Double
        var biasError: Double
        var convergence: Double
    }

    private static let degrees = 180 / Double.pi

    /// Scores each log of a directory with default parameters and prints a table, then the cost of an update.
    ///
    /// - Parameter dataDirectory: Where the `.imu` logs are; nil or absent: said by name, nothing measured.
    /// - Throws: `IMULogError`; `Failure` where the directory holds no log.
    static func run(dataDirectory: String?) throws {
        guard let directory = dataDirectory else {
            print("estimator: no data directory given; recorded trials not scored")
            return
        }
        guard let names = logNames(in: directory) else {
            print("estimator: \(directory) is absent; recorded trials not scored")
            return
        }
        guard !names.isEmpty else { throw Failure.noLogs(directory: directory) }
        let logs = try names.map { name in
            (name, try IMULog(path: FilePath(directory).appending(name)))
        }
        let scores = logs.map { score($0.1, name: $0.0) }
        print(
            "default parameters; columns: 6D inclination RMSE, deg | 9D total RMSE, deg"
                + " | bias error at the end, deg/s | bias error stays < 0.1 deg/s after, s")
        for score in scores { printRow(score) }
        let count = Double(scores.count)
        printRow(
            Score(
                name: "MEAN", inclination: scores.map(\.inclination).reduce(0, +) / count,
                total: scores.map(\.total).reduce(0, +) / count,
                biasError: scores.map(\.biasError).reduce(0, +) / count,
                convergence: scores.map(\.convergence).reduce(0, +) / count))
        printHarder(logs)
        let cost = nanosecondsPerUpdate(logs.map(\.1))
        print("one update and its attitude: \(fixed(cost, 1)) ns, median of rounds over all logs")
    }

    private static func printHarder(_ logs: [(String, IMULog)]) {
        print("mean 6D inclination RMSE of the same logs made harder, deg, beside VQF 2.1.2")
        for scenario in EstimatorScenario.all {
            let results = logs.map { name, log in
                var harder = log
                scenario.apply(&harder)
                return score(harder, name: name).inclination
            }
            let padding = String(repeating: " ", count: 54 - scenario.name.count)
            print(
                scenario.name + padding + fixed(results.reduce(0, +) / Double(results.count), 3)
                    + "  VQF "
                    + scenario.peer)
        }
        for degreesPerSecond in [1.0, 3.0] {
            let times = logs.map { name, log in
                var harder = log
                EstimatorScenario.addBias(&harder, degreesPerSecond: degreesPerSecond)
                return score(harder, name: name).convergence
            }.sorted()
            print(
                "from rest, bias +\(Int(degreesPerSecond)) deg/s: error stays < 0.1 deg/s after "
                    + fixed(times[times.count / 2], 2) + " s (median), "
                    + fixed(times[times.count - 1], 2) + " s (longest)")
        }
    }

    /// The `.imu` files of a directory in order of name; nil where there is no such directory.
    private static func logNames(in directory: String) -> [String]? {
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

    /// Definitions of the BROAD benchmark (Laidig et al. 2021, doi 10.3390/data6070072): over the moving samples
    /// with a reference, e = estimate · conj(reference) in the earth frame, inclination = 2 acos √(w² + z²).
    private static func score(_ log: IMULog, name: String) -> Score {
        let truth = restRate(log)
        var squares = 0.0
        var count = 0.0
        var index = 0
        var biasError = 0.0
        var settled = 0.0
        AttitudeReplay.run(log, parameters: .init()) { row in
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

    /// The 9D total error by the same source: 2 acos |w|.
    private static func total(_ log: IMULog) -> Double {
        var squares = 0.0
        var count = 0.0
        var index = 0
        AttitudeReplay.run(log, parameters: .init(), magnetometer: true) { row in
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

    /// The mean raw rate before the first motion: the bias of a sensor that lies still.
    private static func restRate(_ log: IMULog) -> Vector3 {
        let rest = log.records.prefix { !$0.isMoving }
        return rest.reduce(Vector3.zero) { $0 + $1.gyro } / Double(max(rest.count, 1))
    }

    private static func nanosecondsPerUpdate(_ logs: [IMULog]) -> Double {
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
        // Using the sum keeps the loop from being optimised away.
        precondition(sink.isFinite)
        return rounds.sorted()[rounds.count / 2]
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func printRow(_ score: Score) {
        let name = String(score.name.prefix(52))
        let padding = String(repeating: " ", count: 54 - name.count)
        print(
            name + padding + fixed(score.inclination, 3) + "  " + fixed(score.total, 3) + "  "
                + fixed(score.biasError, 3) + "  "
                + fixed(score.convergence, 2))
    }

    private static func fixed(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let units = Int((value * scale).rounded())
        let fraction = String(units % Int(scale))
        return "\(units / Int(scale))."
            + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
