internal import CMathShim

/// What a second gyroscope on the handle says about the joints.
///
/// The joints' rates are the camera's less the handle's, and their sum over time the angles. What
/// drifts is leant on the assumption that the handle is upright on average (roll and pitch, time
/// constant 20 s); nothing bounds yaw, which drifts with what is left of both gyroscopes' offsets.
/// The handle's own offset is learned while camera and handle rest.
///
/// Loop thread only; constant time.
struct HandleIMU: Sendable, BitwiseCopyable {
    /// Time constant with which the joints lean on an upright handle, s.
    private static var leaning: Double { @_noLocks get { 20 } }
    /// Time constant of the offset while at rest, s.
    private static var learning: Double { @_noLocks get { 0.5 } }
    /// Largest offset, rad/s: more is motion.
    private static var largestBias: Double { @_noLocks get { 0.05 } }

    /// Offset of the handle's gyroscope, handle frame, rad/s.
    private(set) var bias = Vector3.zero
    /// Rate of the handle less its offset, handle frame, rad/s.
    private(set) var rate = Vector3.zero
    /// Joint angles, rad.
    private(set) var joints = AxisVector.zero

    /// Whether the handle turns so slowly that it may be at rest.
    var isStill: Bool { @_noLocks get { rate.norm < 0.02 } }

    private var hasJoints = false

    /// A handle of which nothing is known.
    @_noLocks
    init() {}

    /// One tick.
    ///
    /// - Parameters:
    ///   - measured: The handle's gyroscope, handle frame, rad/s; finite.
    ///   - cameraRate: Camera rate without bias, camera frame, rad/s.
    ///   - upright: Joint angles if the handle were upright, yaw without meaning, rad.
    ///   - isAtRest: Whether the camera's sensor sees rest.
    ///   - dt: Seconds since the previous call, not negative.
    @_noLocks
    mutating func update(
        measured: Vector3, cameraRate: Vector3, upright: AxisVector, isAtRest: Bool, dt: Double
    ) {
        if isAtRest, (measured - bias).norm < Self.largestBias {
            bias = (bias + (measured - bias) * (dt / (Self.learning + dt)))
                .limited(to: Self.largestBias)
        }
        rate = measured - bias
        guard hasJoints else {
            joints = AxisVector(yaw: 0, roll: upright.roll, pitch: upright.pitch)
            hasJoints = true
            return
        }
        let turning = JointKinematics.attitude(joints: joints).inverseRotate(rate)
        let rates = JointKinematics(joints: joints).jointRates(relativeRate: cameraRate - turning)
        let share = dt / (Self.leaning + dt)
        joints = joints + rates * dt
        joints.roll += Self.wrapped(upright.roll - joints.roll) * share
        joints.pitch += Self.wrapped(upright.pitch - joints.pitch) * share
    }

    /// A better source says where the joints are: go on from there when it falls silent.
    @_noLocks
    mutating func align(_ angles: AxisVector) {
        joints = angles
        hasJoints = true
    }

    private static func wrapped(_ angle: Double) -> Double {
        angle - 2 * .pi * cm_floor(angle / (2 * .pi) + 0.5)
    }
}
