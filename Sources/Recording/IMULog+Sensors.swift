import GimbalCore
public import SystemPackage

extension IMULog {
    /// Checks that the log contains the sensors that the estimator needs.
    ///
    /// - Parameters:
    ///   - magnetometer: True if a magnetometer is also required.
    ///   - path: Name of the log, for error messages.
    /// - Throws: `IMULogError.missingSensor`. A log without records is accepted.
    public func requireSensors(magnetometer: Bool, path: FilePath) throws(IMULogError) {
        func fail(_ sensor: String, _ cause: String) throws(IMULogError) {
            throw .missingSensor(path: path, sensor: sensor, cause: cause)
        }
        if magnetometer, !hasMagnetometer {
            try fail(
                "magnetometer",
                "according to the log's header, the log contains no magnetic field; omit --magnetometer"
            )
        }
        guard !records.isEmpty else { return }
        if !records.contains(where: { $0.gyro.isFinite }) {
            try fail("gyroscope", "no record contains a valid rate")
        }
        // The gyroscope is not checked, because it can read zero at rest. Gravity and the magnetic
        // field are never zero on earth.
        if !records.contains(where: { $0.accel.isFinite && $0.accel.squaredNorm > 0 }) {
            try fail("accelerometer", "the specific force is zero or not a number in every record")
        }
        if magnetometer,
            !records.contains(where: {
                $0.magneticField.isFinite && $0.magneticField.squaredNorm > 0
            })
        {
            try fail("magnetometer", "the magnetic field is zero or not a number in every record")
        }
    }
}
