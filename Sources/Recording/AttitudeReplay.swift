public import GimbalCore

/// Runs the attitude estimator over a recorded log.
public enum AttitudeReplay {
    /// The estimate after one sample was used.
    public struct Row: Sendable, BitwiseCopyable {
        /// The sample's time, s.
        public var time: Double
        /// Sensor to the log's earth frame, z up; the heading is zero at the first sample.
        public var attitude: Quaternion
        /// Gyroscope bias, sensor axes, rad/s.
        public var bias: Vector3
    }

    /// The first line of the CSV file: names of the columns.
    public static let header = "t,qw,qx,qy,qz,bx,by,bz\n"

    /// Feeds each record to a fresh estimator. The same log and parameters give the same rows, bit for bit.
    ///
    /// - Parameters:
    ///   - log: What was recorded; its times give each sample's step.
    ///   - parameters: The estimator's assumptions.
    ///   - magnetometer: Whether the heading comes from the magnetometer (y is magnetic north) where one was
    ///     recorded, or starts at zero and follows the gyroscope.
    ///   - consume: Takes one row for each record, in order.
    /// - Throws: What `consume` throws.
    public static func run<Failure: Error>(
        _ log: IMULog, parameters: AttitudeEstimator.Parameters, magnetometer: Bool = false,
        consume: (Row) throws(Failure) -> Void
    ) throws(Failure) {
        var estimator = AttitudeEstimator(
            parameters: parameters, restSpecificForce: Vector3(0, 0, 9.80665))
        let usesField = magnetometer && log.hasMagnetometer
        var previous = -1 / log.sampleRate
        for record in log.records {
            let dt = record.time - previous
            previous = record.time
            estimator.update(gyro: record.gyro, accel: record.accel, dt: dt)
            if usesField { estimator.update(magneticField: record.magneticField, dt: dt) }
            let attitude = usesField ? estimator.northAttitude : estimator.attitude
            try consume(Row(time: record.time, attitude: attitude, bias: estimator.bias))
        }
    }

    /// Replays a log as lines of CSV, `header` first.
    ///
    /// - Parameters:
    ///   - log: What was recorded.
    ///   - parameters: The estimator's assumptions.
    ///   - magnetometer: As for `run`.
    ///   - write: Takes UTF-8 text in pieces of at most some 64 KiB, whole lines each.
    /// - Throws: What `write` throws.
    public static func writeCSV<Failure: Error>(
        _ log: IMULog, parameters: AttitudeEstimator.Parameters, magnetometer: Bool = false,
        write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        let piece = 1 << 16
        var buffer = Array(header.utf8)
        buffer.reserveCapacity(piece)
        try run(log, parameters: parameters, magnetometer: magnetometer) {
            (row: Row) throws(Failure) in
            append(row, to: &buffer)
            guard buffer.count > piece - 512 else { return }
            try write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }
        if !buffer.isEmpty { try write(buffer) }
    }

    /// Appends one line; each number has as many digits as it takes to read the same number back.
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
