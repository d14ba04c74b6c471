/// Reduces the gains, axis by axis, while the control loop oscillates.
///
/// Each detection by `OscillationWatch` halves the gains of the axis; a new measurement of the
/// inertia restores the gains. If an oscillation continues at the smallest gains, the loop is not
/// the cause. The gains are then restored, and the oscillation is tolerated.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct OscillationGuard: Sendable, BitwiseCopyable {
    /// Scale factor for the configured gains of each camera axis, `least`...1.
    private(set) var share = AxisVector(repeating: 1)
    /// The axes with reduced gains.
    private(set) var oscillating = AxisSet.none

    private var watch = OscillationWatch()
    /// The smallest scale factor for the configured gains.
    private let least: Double

    /// Creates a guard with full gains.
    ///
    /// - Parameter least: Smallest scale factor for the configured gains, 0...1. The default, 1/32,
    ///   is small enough if the inertia is unknown: the true inertia is at least 1/17 of the
    ///   initial assumption.
    @_noLocks
    init(least: Double = 1 / 32.0) { self.least = least }

    /// Checks one period for an oscillation, and reduces the gains if the loop oscillates.
    ///
    /// - Parameters:
    ///   - commanded: Feedback part of the motor commands, about the camera's axes: accelerations,
    ///     rad/s², or rates, rad/s.
    ///   - largest: Largest command that the motors can follow, in the unit of `commanded`, more
    ///     than 0.
    ///   - rate: Camera's rate relative to the planned rate, camera frame, rad/s.
    ///   - delay: Configured loop delay, from a command to the sample that contains its effect, s.
    ///     The true delay has not been measured and can be twice this value.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The axes whose gains have just been reduced.
    @_noLocks
    mutating func step(
        commanded: Vector3, largest: AxisVector, rate: Vector3, delay: Double, dt: Double
    ) -> AxisSet {
        let corner = max(
            OscillationWatch.beyondCrossover / max(2 * delay, TimeLimit.shortest),
            OscillationWatch.hand)
        func sight(_ commanded: Double, _ rate: Double, _ largest: Double)
            -> OscillationWatch.Signals
        {
            OscillationWatch.Signals(
                commanded: commanded, rate: rate, floor: OscillationWatch.shaken * largest,
                corner: corner)
        }
        return step(
            yaw: sight(commanded.z, rate.z, largest.yaw),
            roll: sight(commanded.x, rate.x, largest.roll),
            pitch: sight(commanded.y, rate.y, largest.pitch), dt: dt)
    }

    /// Checks the given signals of one period for an oscillation, and reduces the gains if the loop
    /// oscillates.
    ///
    /// - Parameters:
    ///   - yaw: Signals about the camera's z axis.
    ///   - roll: Signals about the camera's x axis.
    ///   - pitch: Signals about the camera's y axis.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The axes whose gains have just been reduced.
    @_noLocks
    mutating func step(
        yaw: OscillationWatch.Signals, roll: OscillationWatch.Signals,
        pitch: OscillationWatch.Signals,
        dt: Double
    ) -> AxisSet {
        let observed = watch.step(yaw: yaw, roll: roll, pitch: pitch, dt: dt)
        guard !observed.isEmpty else { return .none }
        oscillating.insert(observed)
        let before = share
        lower(observed)
        return AxisSet(
            yaw: share.yaw < before.yaw, roll: share.roll < before.roll,
            pitch: share.pitch < before.pitch)
    }

    /// Halves the gains of the given axes.
    @_noLocks
    mutating func lower(_ axes: AxisSet) {
        if axes.contains(.yaw) { lower(.yaw) }
        if axes.contains(.roll) { lower(.roll) }
        if axes.contains(.pitch) { lower(.pitch) }
    }

    /// Restores the gains of the given axes, because the loop does not cause the oscillation.
    @_noLocks
    mutating func restoreGains(_ axes: AxisSet) {
        if axes.contains(.yaw) { restoreGains(.yaw) }
        if axes.contains(.roll) { restoreGains(.roll) }
        if axes.contains(.pitch) { restoreGains(.pitch) }
    }

    /// Restores the gains of the given axis, because a new measurement of the inertia determines
    /// the gains.
    @_noLocks
    mutating func restoreGains(_ axis: GimbalAxis) {
        share[axis] = 1
        oscillating = oscillating.subtracting(AxisSet(axis))
    }

    /// Restarts the check. Call this method when an excitation shakes the camera, or when the
    /// camera's recent motion is unknown.
    @_noLocks
    mutating func forgetMotion() { watch.reset() }

    private mutating func lower(_ axis: GimbalAxis) {
        if share[axis] > least {
            share[axis] *= 0.5
        } else {
            watch.tolerate(AxisSet(axis))
            restoreGains(axis)
        }
    }
}
