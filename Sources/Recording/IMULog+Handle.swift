public import GimbalCore
public import SystemPackage

extension IMULog {
    /// Converts the log to samples of a sensor on a handle (x forward, y right, z down), for a
    /// simulation that repeats the motion.
    ///
    /// If the sensor is level, the axes of the log are x forward, y left and z up. If a value is
    /// not a number, the previous sample's value is used. The conversion assumes equal intervals
    /// between the samples.
    ///
    /// - Parameter path: Name of the log, for error messages.
    /// - Returns: The samples, one for each record; at least two samples.
    /// - Throws: `IMULogError`: a sensor is missing, or the log is too short.
    public func handleSamples(path: FilePath) throws(IMULogError) -> [IMUSample] {
        guard records.count >= 2 else { throw .tooShort(path: path, records: records.count) }
        try requireSensors(magnetometer: false, path: path)
        func isWhole(_ record: Record) -> Bool { record.gyro.isFinite && record.accel.isFinite }
        guard var last = records.first(where: isWhole) else {
            throw .missingSensor(
                path: path, sensor: "gyroscope",
                cause: "no record contains valid values from both sensors")
        }
        return records.enumerated().map { index, record in
            if isWhole(record) { last = record }
            return IMUSample(
                time: Instant(nanoseconds: Int64(Double(index) / sampleRate * 1e9)),
                gyro: Vector3(last.gyro.x, -last.gyro.y, -last.gyro.z),
                accel: Vector3(last.accel.x, -last.accel.y, -last.accel.z))
        }
    }
}
