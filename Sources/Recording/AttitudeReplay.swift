public import GimbalCore

/// Replay that runs the attitude estimator over a recorded log.
public enum AttitudeReplay {
    /// The attitude estimate after one sample of the log.
    public struct Row: Sendable, BitwiseCopyable {
        /// The sample's time, s.
        public var time: Double
        /// Estimated attitude: rotation from the sensor frame to the log's earth frame (z up). The
        /// heading is zero at the first sample.
        public var attitude: Quaternion
        /// Gyroscope bias, sensor axes, rad/s.
        public var bias: Vector3
        /// Standard deviation of the bias, each sensor axis, rad/s.
        public var biasSigma: Vector3
        /// Standard deviation of the direction of the vertical, rad.
        public var inclinationSigma: Double
        /// Weight of the last accelerometer correction, 0...1. The weight is below 1 if the
        /// velocity innovation exceeded three standard deviations.
        public var accelerationWeight: Double
        /// RMS of the normalised velocity innovation over the last second; at most 1 if the
        /// estimator's assumptions hold.
        public var innovation: Double
        /// True if the sensor is at rest.
        public var isAtRest: Bool
        /// True if a gyroscope axis was at full scale.
        public var isSaturated: Bool
        /// True if the record was used. If the record was not used, the estimate comes from the
        /// previous record.
        public var isUsed: Bool
    }

    /// First line of the CSV file, with the names of the columns.
    public static let header = "t,qw,qx,qy,qz,bx,by,bz\n"

    /// Passes each record to a new estimator, as the control loop does. The same log and parameters
    /// give bit-identical rows.
    ///
    /// The replay produces one row for each record. If the record cannot be used, the row contains
    /// the previous estimate.
    ///
    /// - Parameters:
    ///   - log: The recording; its times determine the time step of each sample.
    ///   - parameters: Parameters of the attitude estimator.
    ///   - magnetometer: True if the heading comes from a recorded magnetometer (y is magnetic
    ///     north). Without a magnetometer, the heading starts at zero and follows the gyroscope.
    ///   - consume: Function that receives one row for each record of the log, in order.
    /// - Returns: Counts of unusable records, gaps and clock errors in the log.
    /// - Throws: The errors of `consume`.
    @discardableResult
    public static func run<Failure: Error>(
        _ log: IMULog, parameters: AttitudeEstimator.Parameters, magnetometer: Bool = false,
        consume: (Row) throws(Failure) -> Void
    ) throws(Failure) -> ReplayReport {
        var estimator = AttitudeEstimator(
            parameters: parameters, restSpecificForce: Vector3(0, 0, 9.80665))
        let usesField = magnetometer && log.hasMagnetometer
        var clock = ReplayClock(period: 1 / log.sampleRate, longestGap: parameters.longestGap)
        var report = ReplayReport()
        for record in log.records {
            report.records += 1
            let step = clock.step(to: record.time)
            report.count(step)
            var isUsed = false
            if let dt = step.seconds {
                let rejected = estimator.rejectedSamples
                estimator.update(gyro: record.gyro, accel: record.accel, dt: dt)
                isUsed = estimator.rejectedSamples == rejected
                if !isUsed { report.unusableSamples += 1 }
                if usesField { estimator.update(magneticField: record.magneticField, dt: dt) }
            }
            let attitude = usesField ? estimator.northAttitude : estimator.attitude
            try consume(
                Row(
                    time: record.time, attitude: attitude, bias: estimator.bias,
                    biasSigma: estimator.biasSigma, inclinationSigma: estimator.inclinationSigma,
                    accelerationWeight: estimator.accelerationWeight,
                    innovation: estimator.innovation, isAtRest: estimator.isAtRest,
                    isSaturated: estimator.isSaturated,
                    isUsed: isUsed))
        }
        report.gravityMismatches = Int(estimator.refutations)
        return report
    }

    /// Replays a log, and writes the rows as lines of CSV after the line `header`.
    ///
    /// - Parameters:
    ///   - log: The recording.
    ///   - parameters: Parameters of the attitude estimator.
    ///   - magnetometer: True if the heading comes from a recorded magnetometer, as for `run`.
    ///   - observe: Function that also receives each row.
    ///   - write: Function that receives UTF-8 text in pieces of whole lines, at most about 64 KiB
    ///     each.
    /// - Returns: Counts of unusable records, gaps and clock errors in the log.
    /// - Throws: The errors of `write`.
    @discardableResult
    public static func writeCSV<Failure: Error>(
        _ log: IMULog, parameters: AttitudeEstimator.Parameters, magnetometer: Bool = false,
        observe: (Row) -> Void = { _ in },
        write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) -> ReplayReport {
        let piece = 1 << 16
        var buffer = Array(header.utf8)
        buffer.reserveCapacity(piece)
        let report = try run(log, parameters: parameters, magnetometer: magnetometer) {
            (row: Row) throws(Failure) in
            observe(row)
            append(row, to: &buffer)
            guard buffer.count > piece - 512 else { return }
            try write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }
        if !buffer.isEmpty { try write(buffer) }
        return report
    }

    /// Appends one line of CSV. Each number has enough digits to restore the same value by parsing.
    private static func append(_ row: Row, to buffer: inout [UInt8]) {
        let comma = UInt8(ascii: ",")
        let q = row.attitude
        buffer.append(contentsOf: row.time.description.utf8)
        for value in [q.w, q.x, q.y, q.z, row.bias.x, row.bias.y, row.bias.z] {
            buffer.append(comma)
            buffer.append(contentsOf: value.description.utf8)
        }
        buffer.append(UInt8(ascii: "\n"))
    }
}
