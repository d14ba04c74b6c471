public import GimbalCore

/// All active calibrations, each with the previous calibration of its kind, which an undo restores.
public struct ActiveCalibrations: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        var current: CalibrationRecord?
        var previous: CalibrationRecord?
        /// Sequence number of the newest change of any kind since the start; 0 means that no change
        /// can be undone.
        var change = 0
    }

    private var entries: [CalibrationKind: Entry] = [:]
    /// Name and place of the present sensor; nil accepts the calibrations of every sensor.
    public let sensor: String?

    /// Creates a calibration book without entries.
    ///
    /// - Parameter sensor: Name and place of the present sensor.
    public init(sensor: String? = nil) { self.sensor = sensor }

    /// Active calibration of the given kind. A calibration of another sensor is not active; if it is
    /// the current calibration, the previous calibration is active.
    public func record(_ kind: CalibrationKind) -> CalibrationRecord? {
        [entries[kind]?.current, entries[kind]?.previous].lazy.compactMap(\.self)
            .first(where: isOfSensor)
    }

    /// Calibrations that are not active because they belong to another sensor. They become active
    /// again with their sensor.
    public var ignored: [CalibrationRecord] {
        CalibrationKind.allCases.compactMap { entries[$0]?.current }.filter { !isOfSensor($0) }
    }

    private func isOfSensor(_ record: CalibrationRecord) -> Bool {
        guard let sensor, let other = record.sensor else { return true }
        return sensor == other
    }

    /// True if the last change of the given kind can be undone, even if it was the first
    /// calibration. A calibration of another sensor cannot be undone.
    public func canUndo(_ kind: CalibrationKind) -> Bool {
        guard let entry = entries[kind], entry.change > 0 else { return false }
        return entry.current.map(isOfSensor) ?? true
    }

    /// Applies a calibration of the present sensor, and keeps the previous calibration for an undo.
    public mutating func apply(_ record: CalibrationRecord) {
        var record = record
        record.sensor = sensor
        let newest = entries.values.map(\.change).max() ?? 0
        entries[record.kind] = Entry(
            current: record,
            previous: self.record(record.kind) ?? entries[record.kind]?.current,
            change: newest + 1)
    }

    /// Undoes the last calibration of one kind, or of any kind.
    ///
    /// - Parameter kind: Kind to undo; nil means the last change of any calibration of the present
    ///   sensor.
    /// - Returns: The undone calibration; nil if no calibration can be undone.
    public mutating func undo(_ kind: CalibrationKind?) -> CalibrationKind? {
        let newest = entries.keys.filter(canUndo).max {
            (entries[$0]?.change ?? 0) < (entries[$1]?.change ?? 0)
        }
        guard let kind = kind ?? newest, canUndo(kind), let entry = entries[kind] else {
            return nil
        }
        entries[kind] = entry.previous.map { Entry(current: $0) }
        return kind
    }

    /// Correction of the sensors' samples from all active calibrations. Results of calibrations
    /// replace configured values.
    ///
    /// The accelerometer's matrix contains a rotation. The part that a rotation of the board causes
    /// becomes a part of the mounting, and therefore also turns the rates and the magnetic field.
    /// Otherwise, the sensors of one board would be misaligned against each other. The other part
    /// is the error of the matrix itself. The two parts cannot be measured separately; their sizes
    /// are estimated from the whole rotation and from `ownRotation` (James and Stein: Estimation
    /// with Quadratic Loss, 1961).
    ///
    /// - Parameters:
    ///   - configured: The configured mounting rotation.
    ///   - now: Current date, seconds since 1970.
    /// - Returns: The correction for the stabilizer.
    public func correction(configured: SensorCorrection, now: Double) -> SensorCorrection {
        var result = recorded(configured: configured)
        let (turn, symmetric) = result.accel.parts
        let rotation = turn.rotationVector
        let own = Self.ownRotation * Self.ownRotation
        let share = max(0, 1 - own / max(rotation.squaredNorm, own))
        result.accel = symmetric.turned(by: Quaternion(rotationVector: rotation * (1 - share)))
        result.mounting = result.mounting * Quaternion(rotationVector: rotation * share)
        if let gyro = record(.gyro) {
            result.gyroBias = GyroBiasAging.prior(of: gyro, now: now)
        }
        return result
    }

    /// Usual rotation of the accelerometer's matrix without a rotation of the board, rad: the fit of
    /// six poses leaves up to half a degree, and the axes of the accelerometer and the gyroscope of
    /// one chip differ by some tenths of a degree.
    private static let ownRotation = 0.6 * Double.pi / 180

    /// The recorded matrices and the recorded mounting, with which a new calibration begins. The
    /// accelerometer's matrix contains the rotation that levels its upright pose; the mounting does
    /// not contain this rotation.
    ///
    /// - Parameter configured: The configured mounting rotation.
    /// - Returns: The values, without a bias of the gyroscope.
    public func recorded(configured: SensorCorrection) -> SensorCorrection {
        var result = configured
        if let accelerometer = record(.accelerometer) { result.accel = accelerometer.affine }
        if let magnetometer = record(.magnetometer) { result.magnetic = magnetometer.affine }
        if let mounting = record(.mounting) {
            result.mounting = mounting.mounting(accel: result.accel)
        }
        return result
    }
}

extension SensorCorrection.Affine {
    /// Copy of the correction whose result is additionally rotated: `turn · matrix`.
    func turned(by turn: Quaternion) -> SensorCorrection.Affine {
        // The rotation applies to each column of the matrix.
        let x = turn.rotate(Vector3(rowX.x, rowY.x, rowZ.x))
        let y = turn.rotate(Vector3(rowX.y, rowY.y, rowZ.y))
        let z = turn.rotate(Vector3(rowX.z, rowY.z, rowZ.z))
        var result = self
        result.rowX = Vector3(x.x, y.x, z.x)
        result.rowY = Vector3(x.y, y.y, z.y)
        result.rowZ = Vector3(x.z, y.z, z.z)
        return result
    }

    /// The correction without its rotation, and the rotation: `matrix = turn · symmetric`. This is
    /// the polar decomposition of a matrix near the identity (Higham: Computing the Polar
    /// Decomposition, 1986).
    var parts: (turn: Quaternion, symmetric: SensorCorrection.Affine) {
        var (x, y, z) = (rowX, rowY, rowZ)
        // The mean of a matrix and its inverse transpose converges quadratically to the rotation.
        for _ in 0..<8 {
            let determinant = x.dot(y.cross(z))
            (x, y, z) = (
                (x + y.cross(z) / determinant) / 2, (y + z.cross(x) / determinant) / 2,
                (z + x.cross(y) / determinant) / 2
            )
        }
        // The transposed rotation times the matrix.
        var symmetric = self
        symmetric.rowX = rowX * x.x + rowY * y.x + rowZ * z.x
        symmetric.rowY = rowX * x.y + rowY * y.y + rowZ * z.y
        symmetric.rowZ = rowX * x.z + rowY * y.z + rowZ * z.z
        return (MountingCalibration.quaternion(rows: x, y, z), symmetric)
    }
}

extension ActiveCalibrations {
    /// Restores a calibration book from the results of `saved` and `savedSensors`.
    ///
    /// - Parameters:
    ///   - saved: Values of the saved calibrations by name, from the state file.
    ///   - sensors: Sensors of the saved calibrations by name, from the state file.
    ///   - sensor: Name and place of the present sensor; nil accepts the calibrations of every
    ///     sensor.
    /// - Returns: The calibration book without damaged entries, and the names of the damaged
    ///   entries.
    public static func read(
        _ saved: [String: [Double]], sensors: [String: String] = [:], sensor: String? = nil
    ) -> (book: ActiveCalibrations, damaged: [String]) {
        var book = ActiveCalibrations(sensor: sensor)
        var damaged: [String] = []
        for kind in CalibrationKind.allCases {
            var entry = Entry()
            func record(_ name: String) -> CalibrationRecord? {
                guard let values = saved["\(name).values"] else { return nil }
                var record = CalibrationRecord(
                    kind: kind, values: values, sigma: saved["\(name).sigma"]?.first ?? .nan,
                    residual: saved["\(name).residual"]?.first ?? .nan,
                    date: saved["\(name).date_s"]?.first ?? .nan,
                    temperature: saved["\(name).temperature_c"]?.first)
                record.sensor = sensors[name]
                if record.isPlausible { return record }
                damaged.append(name)
                return nil
            }
            entry.current = record(kind.rawValue)
            entry.previous = record("\(kind.rawValue).previous")
            let change = saved["\(kind.rawValue).change"]?.first ?? 0
            entry.change = change > 0 && change < 1e9 ? Int(change) : 0
            if entry != Entry() { book.entries[kind] = entry }
        }
        return (book, damaged)
    }

    /// All calibrations, as finite numbers by name, for the state file.
    public var saved: [String: [Double]] {
        var result: [String: [Double]] = [:]
        func write(_ record: CalibrationRecord?, _ name: String) {
            guard let record else { return }
            result["\(name).values"] = record.values
            result["\(name).sigma"] = [record.sigma]
            result["\(name).residual"] = [record.residual]
            result["\(name).date_s"] = [record.date]
            if let temperature = record.temperature {
                result["\(name).temperature_c"] = [temperature]
            }
        }
        for (kind, entry) in entries {
            write(entry.current, kind.rawValue)
            write(entry.previous, "\(kind.rawValue).previous")
            if entry.change > 0 { result["\(kind.rawValue).change"] = [Double(entry.change)] }
        }
        return result
    }

    /// The sensors of all calibrations by name, for the state file.
    public var savedSensors: [String: String] {
        var result: [String: String] = [:]
        for (kind, entry) in entries {
            result[kind.rawValue] = entry.current?.sensor
            result["\(kind.rawValue).previous"] = entry.previous?.sensor
        }
        return result
    }
}
