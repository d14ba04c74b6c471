public import GimbalCore

/// Validator of the lines from one simulator. The time `t` must increase from line to line. Each
/// line should contain the same sensors as the first line.
///
/// Each simulator connection has a separate instance. The type uses no clock and no socket.
public struct LockstepIntake: Sendable {
    /// Shortest step between two lines, s. Shorter steps are refused, because the loop is not
    /// designed for a higher rate. A shorter step is most likely an internal step of the
    /// simulator's physics engine.
    public static let shortestStep = 1e-4
    /// Longest step between two lines, s. A step of more than 20 ms counts as a gap in the samples.
    public static let longestStep = 0.02
    /// Tolerance for rounding of `t` in the check of the step, s.
    public static let rounding = 1e-6

    /// Sensors in the first line, in addition to gyroscope and accelerometer; empty before the
    /// first line.
    public private(set) var sensors: IMUSample.Contents = .none
    /// Sensors in the first line but not in the last line.
    public private(set) var missing: IMUSample.Contents = .none
    /// Number of values that were ignored because the simulator's first line did not contain their
    /// sensor.
    public private(set) var ignoredValues = 0
    /// The simulator's time in the last line, s; nil before the first line.
    public private(set) var lastT: Double?
    /// The loop's time at the last line.
    public private(set) var now: Instant

    /// The simulator's time `t` and the loop's time at their last alignment.
    private var anchor: (t: Double, instant: Instant)
    /// Last joint angles of the encoders, rad.
    private var joints = AxisVector.zero

    /// Creates an intake that has not received a line yet.
    ///
    /// - Parameter start: The loop's time at the first line, regardless of the value of `t`.
    public init(start: Instant) {
        now = start
        anchor = (0, start)
    }

    /// Accepts one line, or refuses it without any effect.
    ///
    /// - Parameter line: The next line in the order of arrival.
    /// - Returns: The sample for the loop, with its time on the loop's clock. If encoder angles are
    ///   missing, the sample contains the last known angles. The loop uses these angles while the
    ///   outputs ramp down.
    /// - Throws: `time_backwards` or `time_step`.
    public mutating func admit(_ line: LockstepSample) throws(LockstepError) -> IMUSample {
        let isFirst = lastT == nil
        try advance(to: line.t)
        if isFirst { sensors = line.contents }
        let present = line.contents
        missing = IMUSample.Contents(rawValue: sensors.rawValue & ~present.rawValue)
        let extra = present.rawValue & ~sensors.rawValue
        ignoredValues += extra.nonzeroBitCount

        var sample = IMUSample(time: now, gyro: line.gyro, accel: line.accel)
        let used = IMUSample.Contents(rawValue: sensors.rawValue & present.rawValue)
        sample.contents = used
        if sensors.contains(.joints) {
            joints = line.joints ?? joints
            sample.joints = joints
            sample.contents.insert(.joints)
        }
        if used.contains(.jointRates), let rates = line.jointRates { sample.jointRates = rates }
        if used.contains(.baseGyro), let rate = line.baseGyro { sample.baseGyro = rate }
        if used.contains(.magneticField), let field = line.magneticField {
            sample.magneticField = field * 1e6
        }
        return sample
    }

    /// Maps `t` to the loop's time.
    private mutating func advance(to t: Double) throws(LockstepError) {
        guard let lastT else {
            self.lastT = t
            anchor = (t, now)
            return
        }
        guard t > lastT else {
            throw LockstepError(
                .timeBackwards, "t = \(t) is not later than t = \(lastT) in the previous line",
                field: LockstepSample.Key.t)
        }
        let step = t - lastT
        guard step >= Self.shortestStep - Self.rounding else {
            throw LockstepError(
                .timeStep,
                "t = \(t) is \(step * 1e3) ms after the previous line; a step must be 0.1 to 20 ms",
                field: LockstepSample.Key.t)
        }
        if step < Self.longestJump, anchor.instant < Self.latest {
            // The loop's time is computed from the last alignment, not from the last line.
            // Therefore rounding errors do not accumulate.
            now = anchor.instant.advanced(byRoundedSeconds: t - anchor.t)
        } else {
            // The effect of a jump in `t` on the loop's time is limited, because a jump of years
            // would overflow this time.
            now = min(now.advanced(bySeconds: Self.longestJump), Self.latest)
        }
        if step > Self.longestStep { anchor = (t, now) }
        self.lastT = t
    }

    /// Largest jump of the loop's time, s: one day, longer than every timer of the process.
    private static let longestJump = 86400.0
    /// Latest time of the loop, about 146 years. The loop's time does not exceed this limit.
    private static let latest = Instant(nanoseconds: .max / 2)
}

extension LockstepSample {
    /// The optional sensors that the line contains.
    var contents: IMUSample.Contents {
        var contents: IMUSample.Contents = .none
        if joints != nil { contents.insert(.joints) }
        if jointRates != nil { contents.insert(.jointRates) }
        if baseGyro != nil { contents.insert(.baseGyro) }
        if magneticField != nil { contents.insert(.magneticField) }
        return contents
    }
}

extension IMUSample.Contents {
    /// Names of the sensors in the lines.
    public var lockstepNames: [String] {
        let names: [(IMUSample.Contents, String)] = [
            (.joints, LockstepSample.Key.joints), (.jointRates, LockstepSample.Key.jointRates),
            (.baseGyro, LockstepSample.Key.baseGyro), (.magneticField, LockstepSample.Key.mag),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}

extension Instant {
    /// Adds seconds to an instant, rounded to the nearest nanosecond.
    fileprivate func advanced(byRoundedSeconds seconds: Double) -> Instant {
        Instant(nanoseconds: nanoseconds + Int64((seconds * 1e9).rounded()))
    }
}
