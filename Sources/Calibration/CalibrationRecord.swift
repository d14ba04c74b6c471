public import GimbalCore

/// Kind of calibration. The raw value is the name in commands and on the disk; it never changes.
public enum CalibrationKind: String, Sendable, CaseIterable {
    /// Calibration of the gyroscope's offset.
    case gyro
    /// Calibration of the accelerometer's offset, scale and cross-axis terms.
    case accelerometer
    /// Calibration of the sensor's mounting in the camera's frame.
    case mounting
    /// Calibration of the magnetometer's hard-iron and soft-iron errors.
    case magnetometer
    /// Calibration of the gyroscope's scale and cross-axis sensitivity.
    case gyroMatrix = "gyro_matrix"

    /// Name of the calibrated property in sentences, such as `The accelerometer is calibrated`.
    public var words: String { self == .gyroMatrix ? "gyroscope's matrix" : rawValue }

    /// True if the set-up has a step with the name of the kind.
    public var isStepOfSetup: Bool {
        switch self {
        case .gyro, .accelerometer, .mounting: true
        case .magnetometer, .gyroMatrix: false
        }
    }

    /// Permitted numbers of values in the result of a calibration.
    var valueCounts: [Int] {
        switch self {
        case .gyro: [3]
        case .accelerometer, .magnetometer: [12]
        // Records of earlier versions do not contain the two poses.
        case .mounting: [10, 4]
        case .gyroMatrix: [9]
        }
    }
}

/// One saved calibration: the result, its accuracy, its date, the temperature and the sensor.
public struct CalibrationRecord: Sendable, Equatable {
    /// Kind of the calibration.
    public var kind: CalibrationKind
    /// Values of the calibration's result. The gyroscope has an offset x y z, rad/s. Accelerometer
    /// (m/s²) and magnetometer (µT) have an offset x y z, then the matrix by rows. The mounting has
    /// a quaternion w x y z, the rotation from the sensor frame to the camera frame, then the raw
    /// specific forces x y z of the two poses, m/s². The gyroscope's matrix is stored by rows.
    public var values: [Double]
    /// Standard deviation of the offset, in the unit of the sensor; for the mounting, standard
    /// deviation of the direction, rad; for the gyroscope's matrix, standard deviation of the
    /// least certain cross-axis term.
    public var sigma: Double
    /// Residual error of the calibration: rad/s for the gyroscope, m/s² for accelerometer and
    /// mounting, µT for the magnetometer, rad for the gyroscope's matrix.
    public var residual: Double
    /// Date of the calibration, seconds since 1970.
    public var date: Double
    /// Temperature of the sensor, °C; nil if unknown.
    public var temperature: Double?
    /// Name and place of the calibrated sensor, as text for people; nil in records of earlier
    /// versions, which are valid for every sensor.
    public internal(set) var sensor: String?

    /// Creates a record.
    public init(
        kind: CalibrationKind, values: [Double], sigma: Double, residual: Double, date: Double,
        temperature: Double?
    ) {
        self.kind = kind
        self.values = values
        self.sigma = sigma
        self.residual = residual
        self.date = date
        self.temperature = temperature
    }

    /// True if the numbers are possible for a healthy sensor. Without the check, numbers from a
    /// damaged file could make the controller turn the camera around.
    public var isPlausible: Bool {
        guard kind.valueCounts.contains(values.count),
            (values + [sigma, residual, date]).allSatisfy(\.isFinite),
            sigma > 0, residual >= 0, temperature?.isFinite ?? true
        else { return false }
        switch kind {
        case .gyro:
            return values.allSatisfy { abs($0) < 0.5 } && sigma < 0.2
        case .accelerometer:
            return values[..<3].allSatisfy { abs($0) < 3 }
                && Self.isNearIdentity(values[3...], within: 0.1)
        case .magnetometer:
            return values[..<3].allSatisfy { abs($0) < 5000 }
                && Self.isNearIdentity(values[3...], within: 0.95)
        case .gyroMatrix:
            return Self.isNearIdentity(values[...], within: 0.1)
        case .mounting:
            guard abs(values[..<4].reduce(0) { $0 + $1 * $1 } - 1) < 1e-6 else { return false }
            guard let poses else { return true }
            let (a, b) = (poses.level, poses.lensDown)
            return abs(a.norm - 9.8) < 4 && abs(b.norm - 9.8) < 4
                && a.cross(b).norm > 0.1 * a.norm * b.norm
        }
    }

    private static func isNearIdentity(_ matrix: ArraySlice<Double>, within limit: Double) -> Bool {
        matrix.enumerated().allSatisfy { abs($1 - ($0 % 4 == 0 ? 1 : 0)) < limit }
    }

    /// Converts the offset and matrix of an accelerometer or magnetometer to numbers.
    ///
    /// - Parameter affine: The correction.
    /// - Returns: Offset x y z, then the matrix by rows.
    public static func values(_ affine: SensorCorrection.Affine) -> [Double] {
        let offset = affine.offset
        return [offset.x, offset.y, offset.z] + matrix(affine)
    }

    /// Converts the matrix of a correction to numbers, by rows.
    public static func matrix(_ affine: SensorCorrection.Affine) -> [Double] {
        [affine.rowX, affine.rowY, affine.rowZ].flatMap { [$0.x, $0.y, $0.z] }
    }

    /// Raw specific forces in the two poses of a mounting, sensor frame, m/s²; nil for other
    /// calibrations, and for records of earlier versions. With the poses, a later calibration of
    /// the accelerometer does not change the horizon.
    public var poses: (level: Vector3, lensDown: Vector3)? {
        guard kind == .mounting, values.count == 10 else { return nil }
        return (
            Vector3(values[4], values[5], values[6]), Vector3(values[7], values[8], values[9])
        )
    }

    /// The mounting rotation of a mounting's record, with an accelerometer that `accel` corrects.
    func mounting(accel: SensorCorrection.Affine) -> Quaternion {
        guard let poses else {
            return Quaternion(w: values[0], x: values[1], y: values[2], z: values[3])
        }
        return MountingCalibration.mounting(
            level: accel.apply(poses.level), lensDown: accel.apply(poses.lensDown))
    }

    /// The numbers of the record as offset and matrix; the gyroscope's matrix has no offset.
    var affine: SensorCorrection.Affine {
        let v = kind == .gyroMatrix ? [0, 0, 0] + values : values
        var result = SensorCorrection.Affine()
        result.offset = Vector3(v[0], v[1], v[2])
        result.rowX = Vector3(v[3], v[4], v[5])
        result.rowY = Vector3(v[6], v[7], v[8])
        result.rowZ = Vector3(v[9], v[10], v[11])
        return result
    }
}

/// Growth of a gyroscope offset's standard deviation since the offset was measured.
public enum GyroBiasAging {
    /// Standard deviation of the offset's change from one start to the next, rad/s.
    public static let perStart = 0.02 * Double.pi / 180
    /// Random walk of the offset, rad/s per square root of a day.
    public static let perRootDay = 0.01 * Double.pi / 180
    /// Date before which no calibration exists, seconds since 1970: 2026-11-01, the month of
    /// airframe's first release. An earlier date is that of a clock that has not been set.
    public static let firstDate = 1_793_491_200.0

    /// Computes the estimator's prior from a saved bias. The standard deviation grows with the age
    /// of the record. If the record contains no temperature, the standard deviation is increased
    /// for an assumed temperature difference. If the record contains a temperature, the stabilizer
    /// increases the standard deviation at the first sample, when the temperature difference is
    /// known.
    ///
    /// - Parameters:
    ///   - record: A gyroscope's record.
    ///   - now: Current date, seconds since 1970. If the current date precedes the date of the
    ///     record, or if the clock was not set at the calibration, an age of one day is assumed.
    ///   - perKelvin: Temperature coefficient of the gyroscope's bias, rad/s/K.
    /// - Returns: Initial values for the estimator.
    public static func prior(
        of record: CalibrationRecord, now: Double,
        perKelvin: Double = SensorCorrection.BiasPrior().perKelvin
    ) -> SensorCorrection.BiasPrior {
        let age = now - record.date
        let isKnown = age >= 0 && record.date >= firstDate
        let days = isKnown ? age / 86400 : 1
        var prior = SensorCorrection.BiasPrior()
        prior.perKelvin = perKelvin
        prior.bias = Vector3(record.values[0], record.values[1], record.values[2])
        prior.sigma =
            (record.sigma * record.sigma + perStart * perStart + perRootDay * perRootDay * days)
            .squareRoot()
        guard let temperature = record.temperature else {
            let drift = perKelvin * SensorCorrection.BiasPrior.unknownDifference
            prior.sigma = (prior.sigma * prior.sigma + drift * drift).squareRoot()
            return prior
        }
        prior.temperature = temperature
        return prior
    }
}
