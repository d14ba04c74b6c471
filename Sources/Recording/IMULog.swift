public import GimbalCore
public import SystemPackage

/// Recording of an inertial sensor in the `.imu` format, with or without a reference orientation.
///
/// All numbers are little-endian. The file begins with a header of 64 bytes: `IMU1`, then UInt32
/// version (1), UInt32 number of records, UInt32 flags (bit 0: magnetometer present), Float64
/// sample rate in Hz, zeros. The header is followed by records of 64 bytes. A record contains
/// Float64 time (s), three Float32 each for gyroscope (rad/s), accelerometer (m/s²) and
/// magnetometer (µT), Float32 reference quaternion w x y z, and Float32 motion flag (not 0 in a
/// motion phase). The log uses two frames: the sensor's axes, and an earth frame whose z axis
/// points up.
public struct IMULog: Sendable {
    /// Sample of the log.
    public struct Record: Sendable, BitwiseCopyable {
        /// Time from the first sample, s.
        public var time: Double
        /// Measured angular rate, sensor axes, rad/s.
        public var gyro: Vector3
        /// Measured specific force, sensor axes, m/s². At rest, the axis that points up reads
        /// +9.81.
        public var accel: Vector3
        /// Measured magnetic field, sensor axes, µT.
        public var magneticField: Vector3
        /// True orientation: rotation from the sensor frame to the earth frame (z up); NaN if it
        /// was not measured.
        public var reference: Quaternion
        /// True if the sample belongs to a motion phase. The benchmarks evaluate errors only in
        /// motion phases.
        public var isMoving: Bool
    }

    /// Sample rate in the header, Hz.
    public var sampleRate: Double
    /// True if the magnetometer was recorded.
    public var hasMagnetometer: Bool
    /// The samples, in the order of the file; `ReplayClock` checks their times.
    public var records: [Record]

    /// Range of the sample rate, Hz.
    static let sampleRates = 1.0...100_000
    /// Length of the header and of a record, bytes.
    static let unit = 64

    /// Reads a log.
    ///
    /// - Parameter path: Path of the file.
    /// - Throws: `IMULogError` with the path and the expected content.
    public init(path: FilePath) throws(IMULogError) {
        try self.init(bytes: Self.contents(of: path), path: path)
    }

    /// Decodes a log.
    ///
    /// - Parameters:
    ///   - bytes: Content of the whole file.
    ///   - path: Name of the file, for errors.
    /// - Throws: `IMULogError`.
    public init(bytes: [UInt8], path: FilePath) throws(IMULogError) {
        let decoded: Result<IMULog, IMULogError> = bytes.withUnsafeBytes { raw in
            do throws(IMULogError) {
                return .success(try IMULog(raw: raw, path: path))
            } catch {
                return .failure(error)
            }
        }
        self = try decoded.get()
    }

    private init(raw: UnsafeRawBufferPointer, path: FilePath) throws(IMULogError) {
        guard raw.count >= Self.unit else {
            throw .truncatedHeader(path: path, bytes: raw.count)
        }
        guard raw[0..<4].elementsEqual("IMU1".utf8) else {
            throw .notAnIMULog(path: path, magic: Array(raw[0..<4]))
        }
        let version = raw.number(at: 4, as: UInt32.self)
        guard version == 1 else { throw .unknownVersion(path: path, version: version) }
        let count = Int(raw.number(at: 8, as: UInt32.self))
        guard raw.count == Self.unit * (count + 1) else {
            throw .wrongLength(
                path: path, bytes: raw.count, records: count, expected: Self.unit * (count + 1))
        }
        sampleRate = Double(bitPattern: raw.number(at: 16, as: UInt64.self))
        guard Self.sampleRates.contains(sampleRate) else {
            throw .impossibleRate(path: path, hertz: sampleRate)
        }
        hasMagnetometer = raw.number(at: 12, as: UInt32.self) & 1 == 1
        records = []
        records.reserveCapacity(count)
        for index in 0..<count {
            records.append(Record(raw: raw, at: Self.unit * (index + 1)))
        }
    }

    private static func contents(of path: FilePath) throws(IMULogError) -> [UInt8] {
        do {
            return try FileDescriptor.bytes(of: path)
        } catch {
            throw .unreadable(path: path, cause: error)
        }
    }
}

extension IMULog.Record {
    fileprivate init(raw: UnsafeRawBufferPointer, at offset: Int) {
        func float(_ index: Int) -> Double {
            Double(Float(bitPattern: raw.number(at: offset + 8 + 4 * index, as: UInt32.self)))
        }
        time = Double(bitPattern: raw.number(at: offset, as: UInt64.self))
        gyro = Vector3(float(0), float(1), float(2))
        accel = Vector3(float(3), float(4), float(5))
        magneticField = Vector3(float(6), float(7), float(8))
        reference = Quaternion(w: float(9), x: float(10), y: float(11), z: float(12))
        isMoving = float(13) > 0.5
    }
}

extension UnsafeRawBufferPointer {
    /// Read a little-endian integer at `offset`, which need not be aligned.
    fileprivate func number<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Integer.Type
    ) -> Integer {
        Integer(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}
