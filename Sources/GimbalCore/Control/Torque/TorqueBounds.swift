/// Torque bounds of each motor in one control period. The motor's torque limit is reduced if the
/// motor is hot or the joint is at its stop.
///
/// Beyond the end of a joint's range, the torque towards the mechanical stop decreases to zero
/// within two degrees. Therefore no motor presses the joint against the stop. The torque away from
/// the stop is not reduced.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct TorqueBounds: Sendable, BitwiseCopyable {
    /// Most negative torques, N·m.
    private(set) var least: AxisVector
    /// Largest torques, N·m.
    private(set) var most: AxisVector

    /// Angle beyond the end of a joint's range at which the torque towards the stop reaches zero,
    /// rad.
    private static var fade: Double { @_noLocks get { 2 * .pi / 180 } }

    /// Creates bounds at plus and minus the torque limit of each motor, N·m.
    @_noLocks
    init(limit: AxisVector) {
        least = limit * -1
        most = limit
    }

    /// Reduces the torque bounds in the direction of a joint's stop. `joints` are the measured
    /// angles, rad.
    @_noLocks
    mutating func keepOff(_ range: JointRange, joints: AxisVector) {
        most = AxisVector(
            yaw: most.yaw * Self.share(joints.yaw - range.maximum.yaw),
            roll: most.roll * Self.share(joints.roll - range.maximum.roll),
            pitch: most.pitch * Self.share(joints.pitch - range.maximum.pitch))
        least = AxisVector(
            yaw: least.yaw * Self.share(range.minimum.yaw - joints.yaw),
            roll: least.roll * Self.share(range.minimum.roll - joints.roll),
            pitch: least.pitch * Self.share(range.minimum.pitch - joints.pitch))
    }

    @_noLocks
    private static func share(_ beyond: Double) -> Double { min(max(1 - beyond / fade, 0), 1) }

    /// The given torque, limited to the torque bounds, N·m.
    @_noLocks
    func clamp(_ torque: AxisVector) -> AxisVector {
        AxisVector(
            yaw: min(max(torque.yaw, least.yaw), most.yaw),
            roll: min(max(torque.roll, least.roll), most.roll),
            pitch: min(max(torque.pitch, least.pitch), most.pitch))
    }
}
