import GimbalCore

extension IMULog {
    /// Encodes the log in the `.imu` format; all values except the times are rounded to Float32.
    ///
    /// - Returns: The header and the records, each of 64 bytes.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.unit * (records.count + 1))
        bytes += "IMU1".utf8
        append(UInt32(1), to: &bytes)
        append(UInt32(truncatingIfNeeded: records.count), to: &bytes)
        append(UInt32(hasMagnetometer ? 1 : 0), to: &bytes)
        append(sampleRate.bitPattern, to: &bytes)
        bytes += [UInt8](repeating: 0, count: Self.unit - bytes.count)
        for record in records {
            append(record.time.bitPattern, to: &bytes)
            for vector in [record.gyro, record.accel, record.magneticField] {
                append(vector.x, to: &bytes)
                append(vector.y, to: &bytes)
                append(vector.z, to: &bytes)
            }
            let reference = record.reference
            for value in [reference.w, reference.x, reference.y, reference.z] {
                append(value, to: &bytes)
            }
            append(record.isMoving ? 1.0 : 0.0, to: &bytes)
        }
        return bytes
    }

    private func append(_ value: Double, to bytes: inout [UInt8]) {
        append(Float(value).bitPattern, to: &bytes)
    }

    private func append<Integer: FixedWidthInteger>(_ value: Integer, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
