public import GimbalCore

/// A way for a sensor or its bus to fail, for tests of bad input.
public enum SensorFault: Sendable, Equatable {
    /// The values stay what they were; time goes on.
    case frozen
    /// The gyroscope reads NaN.
    case notANumber
    /// The accelerometer reads infinity.
    case infinite
    /// No sample arrives.
    case dropOut
    /// Time stamps are this many seconds off; negative lets time run backwards once.
    case timeShift(seconds: Double)
    /// Another sensor has taken its place, mounted turned by this rotation: old sensor frame to
    /// new.
    case remounted(Quaternion)
    /// The gyroscope, a chip of its own in a BMI088, repeats its last sample to the bit; the
    /// accelerometer lives.
    case gyroFrozen
    /// The gyroscope reads this, rad/s, to the bit; the accelerometer lives.
    case gyroStuck(Vector3)
    /// The gyroscope reads this much more than it should, rad/s, with its noise alive.
    case gyroOffset(Vector3)
    /// The gyroscope reads every rate with the opposite sign.
    case gyroReversed
    /// The accelerometer repeats its last sample to the bit; the gyroscope lives.
    case accelFrozen
    /// The accelerometer's frame is turned by this rotation; the gyroscope's is not.
    case accelTurned(Quaternion)

    /// The sample as the host receives it, or nil for none.
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
