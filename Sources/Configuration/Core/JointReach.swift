import GimbalCore

extension Settings {
    /// Ranges of the joints that the loop uses, degrees: `joints.range_deg`, limited for servos with
    /// pulses to the angles at their shortest and longest pulse.
    ///
    /// A servo stops at these angles. If the loop's model of the servo moved on, the loop would
    /// mistake the difference for a motion of the handle, and command ever larger angles.
    public var reachableJointsDeg: AxisRanges {
        let range = joints.rangeDeg
        let board = hardware.linux.motors
        guard hardware.backend == .linux, motors.type == .servo,
            board == .pca9685 || board == .pwm
        else { return range }
        let reach = servo.reachDeg
        return AxisRanges(
            lower: range.lower.clamped(from: reach.lower, to: reach.upper),
            upper: range.upper.clamped(from: reach.lower, to: reach.upper))
    }
}

extension Settings.Servo {
    /// Joint angles between the shortest and the longest pulse of each servo, degrees.
    var reachDeg: AxisRanges {
        var reach = AxisRanges(lower: .zero, upper: .zero)
        for axis in GimbalAxis.allCases {
            let degreesPerUs = travelDeg[axis] / (pulseUs.upper[axis] - pulseUs.lower[axis])
            let trim = trimUs[axis] * degreesPerUs
            let middle = direction[axis] < 0 ? trim : -trim
            reach.lower[axis] = middle - travelDeg[axis] / 2
            reach.upper[axis] = middle + travelDeg[axis] / 2
        }
        return reach
    }
}
