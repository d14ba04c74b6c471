public import GimbalCore

/// The calibrations of all sensors, each with the previous calibration of its kind and sensor, which
/// an undo restores. The calibrations of the present sensor are active.
public struct ActiveCalibrations: Sendable, Equatable {
    /// The calibrations of one kind and one sensor.
    private struct Entry: Sendable, Equatable {
        var current: CalibrationRecord?
        var previous: CalibrationRecord?
        /// Sequence number of the newest change of any kind since the start; 0 means that no change
        /// can be undone.
        var change = 0

        /// The newest calibration; the previous one if the newest one is damaged.
        var newest: CalibrationRecord? { current ?? previous }
    }

    private var entries: [CalibrationKind: [Entry]] = [:]
    /// Name and place of the present sensor; nil accepts the calibrations of every sensor.
    public let sensor: String?

    /// Creates a calibration book without entries.
    ///
    /// - Parameter sensor: Name and place of the present sensor.
    public init(sensor: String? = nil) { self.sensor = sensor }

    /// Active calibration of the given kind. A calibration of another sensor is not active.
    public func record(_ kind: CalibrationKind) -> CalibrationRecord? { entry(kind)?.newest }

    /// Newest calibration of another sensor for each kind without an active calibration. These
    /// calibrations become active again with their sensor.
    public var ignored: [CalibrationRecord] {
        CalibrationKind.allCases.filter { record($0) == nil }.compactMap { kind in
            entries[kind]?.compactMap(\.newest).max { $0.date < $1.date }
        }
    }

    /// The active entry of the given kind.
    private func entry(_ kind: CalibrationKind) -> Entry? {
        active(kind).flatMap { entries[kind]?[$0] }
    }

    /// Index of the active entry: the present sensor's own entry, otherwise an entry that is valid
    /// for every sensor.
    private func active(_ kind: CalibrationKind) -> Int? {
        own(kind) ?? entries[kind]?.firstIndex { $0.newest.map(isOfSensor) ?? false }
    }

    private func own(_ kind: CalibrationKind) -> Int? {
        entries[kind]?.firstIndex { $0.newest?.sensor == sensor }
    }

    private func isOfSensor(_ record: CalibrationRecord) -> Bool {
        guard let sensor, let other = record.sensor else { return true }
        return sensor == other
    }

    /// True if the last change of the given kind can be undone, even if it was the first
    /// calibration. A calibration of another sensor cannot be undone.
    public func canUndo(_ kind: CalibrationKind) -> Bool { (entry(kind)?.change ?? 0) > 0 }

    /// Applies a calibration of the present sensor, and keeps the previous calibration for an undo.
    /// The calibrations of other sensors do not change.
    public mutating func apply(_ record: CalibrationRecord) {
        var record = record
        record.sensor = sensor
        let newest = entries.values.joined().map(\.change).max() ?? 0
        let place = own(record.kind)
        let previous = place.flatMap { entries[record.kind]?[$0].newest }
        replace(
            record.kind, at: place,
            by: Entry(current: record, previous: previous, change: newest + 1))
    }

    /// Replaces the entry at the given index; nil as the index adds the entry, and nil as the entry
    /// removes the old one.
    private mutating func replace(_ kind: CalibrationKind, at index: Int?, by entry: Entry?) {
        var all = entries[kind] ?? []
        if let index { all.remove(at: index) }
        if let entry { all.insert(entry, at: index ?? all.endIndex) }
        entries[kind] = all.isEmpty ? nil : all
    }

    /// Undoes the last calibration of one kind, or of any kind.
    ///
    /// - Parameter kind: Kind to undo; nil means the last change of any calibration of the present
    ///   sensor.
    /// - Returns: The undone calibration; nil if no calibration can be undone.
    public mutating func undo(_ kind: CalibrationKind?) -> CalibrationKind? {
        let newest = entries.keys.filter(canUndo).max {
            (entry($0)?.change ?? 0) < (entry($1)?.change ?? 0)
        }
        guard let kind = kind ?? newest, canUndo(kind) else { return nil }
        let previous = entry(kind)?.previous
        replace(kind, at: active(kind), by: previous.map { Entry(current: $0) })
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
    ///   - configured: The configured mounting rotation, and the temperature coefficient of the
    ///     gyroscope's bias.
    ///   - now: Current date, seconds since 1970.
    /// - Returns: The correction for the stabilizer.
    public func correction(configured: SensorCorrection, now: Double) -> SensorCorrection {
        var result = recorded(configured: configured)
        let (turn, symmetric) = result.accel.parts
        let rotation = turn.rotationVector
        let own = Self.ownRotation * Self.ownRotation
        let share = max(0, 1 - own / max(rotation.squaredNorm, own))
        let rest = Quaternion(rotationVector: rotation * (1 - share))
        result.accel = symmetric.turned(by: rest)
        // The measured matrix aligns the gyroscope with the accelerometer before this rotation.
        if let matrix = record(.gyroMatrix) { result.gyro = matrix.affine.turned(by: rest) }
        result.mounting = result.mounting * Quaternion(rotationVector: rotation * share)
        if let gyro = record(.gyro) {
            result.gyroBias = GyroBiasAging.prior(
                of: gyro, now: now, perKelvin: configured.gyroBias.perKelvin)
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
    /// - Returns: The values, without bias and matrix of the gyroscope.
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
            var all: [Entry] = []
            for number in 1... {
                let name = Self.name(kind, number)
                guard saved["\(name).values"] != nil || saved["\(name).previous.values"] != nil
                else { break }
                var entry = Entry(current: record(name), previous: record("\(name).previous"))
                let change = saved["\(name).change"]?.first ?? 0
                entry.change = change > 0 && change < 1e9 ? Int(change) : 0
                // Earlier versions saved the calibration of another sensor as the previous one.
                if let current = entry.current, let previous = entry.previous,
                    current.sensor != previous.sensor
                {
                    all.append(Entry(current: previous))
                    entry.previous = nil
                }
                if entry.newest != nil { all.append(entry) }
            }
            if !all.isEmpty { book.entries[kind] = all }
        }
        return (book, damaged)
    }

    /// Name of the calibrations of one kind and one sensor in the state file: `gyro`, `gyro.2`, …
    private static func name(_ kind: CalibrationKind, _ number: Int) -> String {
        number == 1 ? kind.rawValue : "\(kind.rawValue).\(number)"
    }

    /// All entries with their names in the state file.
    private var named: [(name: String, entry: Entry)] {
        entries.flatMap { kind, all in
            all.enumerated().map {
                (name: Self.name(kind, $0.offset + 1), entry: $0.element)
            }
        }
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
        for (name, entry) in named {
            write(entry.current, name)
            write(entry.previous, "\(name).previous")
            if entry.change > 0 { result["\(name).change"] = [Double(entry.change)] }
        }
        return result
    }

    /// The sensors of all calibrations by name, for the state file.
    public var savedSensors: [String: String] {
        var result: [String: String] = [:]
        for (name, entry) in named {
            result[name] = entry.current?.sensor
            result["\(name).previous"] = entry.previous?.sensor
        }
        return result
    }
}
