public import SystemPackage

/// Reason why a file could not be read as an `.imu` log.
public enum IMULogError: Error, Equatable, Sendable {
    /// The file could not be opened or read.
    case unreadable(path: FilePath, cause: Errno)
    /// The file is shorter than the header.
    case truncatedHeader(path: FilePath, bytes: Int)
    /// The file does not begin with `IMU1`.
    case notAnIMULog(path: FilePath, magic: [UInt8])
    /// The header has a version other than 1.
    case unknownVersion(path: FilePath, version: UInt32)
    /// The file's length differs from the length in the header.
    case wrongLength(path: FilePath, bytes: Int, records: Int, expected: Int)
    /// The header's sample rate is outside 1 Hz to 100 kHz.
    case impossibleRate(path: FilePath, hertz: Double)
    /// The log has too few records for a motion.
    case tooShort(path: FilePath, records: Int)
    /// A required sensor was not recorded.
    case missingSensor(path: FilePath, sensor: String, cause: String)
}

extension IMULogError: CustomStringConvertible {
    /// Error message with the path, the value in the file, and the expected value.
    public var description: String {
        switch self {
        case .unreadable(let path, let cause):
            return "\(path): cannot read the log: \(cause)"
        case .truncatedHeader(let path, let bytes):
            return
                "\(path): the file has \(bytes) bytes, but the header of an IMU log has \(IMULog.unit) bytes"
        case .notAnIMULog(let path, let magic):
            let hex = magic.map { String($0, radix: 16) }.joined(separator: " ")
            return "\(path): not an IMU log: begins with bytes \(hex), expected IMU1 (49 4d 55 31)"
        case .unknownVersion(let path, let version):
            return "\(path): IMU log of version \(version); this program reads version 1"
        case .wrongLength(let path, let bytes, let records, let expected):
            let found = max(0, bytes / IMULog.unit - 1)
            let what = bytes < expected ? "truncated" : "the log is longer than its header states"
            return
                "\(path): \(what): the header states \(records) records (\(expected) bytes), but the file has \(found) complete records (\(bytes) bytes)"
        case .impossibleRate(let path, let hertz):
            return "\(path): the sample rate is \(hertz) Hz; expected 1 to 100000 Hz"
        case .tooShort(let path, let records):
            return "\(path): \(records) records are too few for a motion; expected at least two"
        case .missingSensor(let path, let sensor, let cause):
            return "\(path): no \(sensor) in this log: \(cause)"
        }
    }
}
