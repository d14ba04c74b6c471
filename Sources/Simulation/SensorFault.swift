public import GimbalCore

/// Simulated fault of a sensor or its bus, for tests and benchmarks.
public enum SensorFault: Sendable, Equatable {
    /// All measured values are constant, but the time stamps advance.
    case frozen
    /// The gyroscope reads NaN.
    case notANumber
    /// The accelerometer reads infinity.
    case infinite
    /// No sample arrives.
    case dropOut
    /// The time stamps are shifted by the given time, s. At the beginning of a negative shift, the
    /// time stamps jump backwards.
    case timeShift(seconds: Double)
    /// The sensor has been replaced by a sensor with another mounting; the associated value is the
    /// rotation from the old to the new sensor frame.
    case remounted(Quaternion)
    /// The gyroscope repeats its last sample exactly; the accelerometer works. (In a BMI088, the
    /// gyroscope is a separate chip.)
    case gyroFrozen
    /// The gyroscope reads the given constant value, rad/s; the accelerometer works.
    case gyroStuck(Vector3)
    /// The gyroscope has the given additional offset, rad/s; its noise is unchanged.
    case gyroOffset(Vector3)
    /// The gyroscope reads every rate with the opposite sign.
    case gyroReversed
    /// The accelerometer repeats its last sample exactly; the gyroscope works.
    case accelFrozen
    /// The frame of the accelerometer is rotated by the given rotation; the frame of the gyroscope
    /// is unchanged.
    case accelTurned(Quaternion)

    /// The sample that the host receives; nil if the fault suppresses it.
    static func apply(_ fault: SensorFault?, to sample: IMUSample, last: IMUSample?) -> IMUSample? {
        var faulty = sample
        switch fault {
        case nil:
            break
        case .frozen:
            if let last {
                faulty.gyro = last.gyro
                faulty.accel = last.accel
            }
        case .notANumber:
            faulty.gyro.x = .nan
        case .infinite:
            faulty.accel.z = -.infinity
        case .dropOut:
            return nil
        case .timeShift(let seconds):
            faulty.time = sample.time.advanced(bySeconds: seconds)
        case .remounted(let turn):
            faulty.gyro = turn.rotate(sample.gyro)
            faulty.accel = turn.rotate(sample.accel)
        case .gyroFrozen:
            if let last { faulty.gyro = last.gyro }
        case .gyroStuck(let rate):
            faulty.gyro = rate
        case .gyroOffset(let offset):
            faulty.gyro += offset
        case .gyroReversed:
            faulty.gyro = -sample.gyro
        case .accelFrozen:
            if let last { faulty.accel = last.accel }
        case .accelTurned(let turn):
            faulty.accel = turn.rotate(sample.accel)
        }
        return faulty
    }
}
