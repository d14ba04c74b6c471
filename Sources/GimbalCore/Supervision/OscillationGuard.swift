/// Takes gains down for as long as the motors shake the camera, axis by axis.
///
/// Each sighting of `OscillationWatch` halves the share of the gains; a measured inertia gives it back. A shake that goes on at
/// the smallest share does not come from the loop: the share is given back, and that shake is tolerated.
///
/// Loop thread only; constant time, no allocation.
struct OscillationGuard: Sendable, BitwiseCopyable {
    /// Share of the configured gains that each of the camera's axes has, `least`...1.
    private(set) var share = AxisVector(repeating: 1)
    /// The axes whose gains are down.
    private(set) var oscillating = AxisSet.none

    private var watch = OscillationWatch()
    /// The smallest share.
    private let least: Double

    /// Full gains.
    ///
    /// - Parameter least: The smallest share, 0...1. A thirty-second suits a loop whose inertia is not known: the smallest that a start can
    ///   meet is a seventeenth of the believed one.
    @_noLocks
    init(least: Double = 1 / 32.0) { self.least = least }

    /// One period.
    ///
    /// - Parameters:
    ///   - told: What the errors have made the motors do about the camera's axes: an acceleration, rad/s², or a rate, rad/s.
    ///   - largest: The largest of it that the motors can do, its unit, more than 0.
    ///   - rate: Camera's rate, camera frame, rad/s.
    ///   - delay: From a command to the sample that shows it, s, as configured: it is not measured, and may be twice as long.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The axes whose gains have just gone down.
    @_noLocks
    mutating func step(
        told: Vector3, largest: AxisVector, rate: Vector3, delay: Double, dt: Double
    ) -> AxisSet {
        let corner = max(
            OscillationWatch.beyondCrossover / max(2 * delay, 1e-3), OscillationWatch.hand)
        func sight(_ told: Double, _ rate: Double, _ largest: Double) -> OscillationWatch.Sight {
            OscillationWatch.Sight(
                told: told, rate: rate, floor: OscillationWatch.shaken * largest, corner: corner)
        }
        return step(
            yaw: sight(told.z, rate.z, largest.yaw), roll: sight(told.x, rate.x, largest.roll),
            pitch: sight(told.y, rate.y, largest.pitch), dt: dt)
    }

    /// One period.
    ///
    /// - Parameters:
    ///   - yaw: About the camera's z axis.
    ///   - roll: About x.
    ///   - pitch: About y.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The axes whose gains have just gone down.
    @_noLocks
    mutating func step(
        yaw: OscillationWatch.Sight, roll: OscillationWatch.Sight, pitch: OscillationWatch.Sight,
        dt: Double
    ) -> AxisSet {
        let seen = watch.step(yaw: yaw, roll: roll, pitch: pitch, dt: dt)
        guard !seen.isEmpty else { return .none }
        oscillating.insert(seen)
        let before = share
        lower(seen)
        return AxisSet(
            yaw: share.yaw < before.yaw, roll: share.roll < before.roll,
            pitch: share.pitch < before.pitch)
    }

    /// Halves the gains of these axes.
    @_noLocks
    mutating func lower(_ axes: AxisSet) {
        if axes.contains(.yaw) { lower(.yaw) }
        if axes.contains(.roll) { lower(.roll) }
        if axes.contains(.pitch) { lower(.pitch) }
    }

    /// The gains of these axes are not to blame.
    @_noLocks
    mutating func trust(_ axes: AxisSet) {
        if axes.contains(.yaw) { trust(.yaw) }
        if axes.contains(.roll) { trust(.roll) }
        if axes.contains(.pitch) { trust(.pitch) }
    }

    /// The gains of this axis rest on a new measurement.
    @_noLocks
    mutating func trust(_ axis: GimbalAxis) {
        share[axis] = 1
        oscillating = oscillating.subtracting(AxisSet(axis))
    }

    /// Something shakes the camera on purpose, or its motion of late is not known: nothing is held against the loop.
    @_noLocks
    mutating func forgetMotion() { watch.reset() }

    private mutating func lower(_ axis: GimbalAxis) {
        if share[axis] > least {
            share[axis] *= 0.5
        } else {
            watch.tolerate(AxisSet(axis))
            trust(axis)
        }
    }
}
