/// Estimator of joint angles and rates from a second gyroscope on the handle.
///
/// The joint rates are the camera's rate minus the handle's rate; the joint angles are the integral
/// of the joint rates. The handle is assumed to be upright on average; this assumption corrects the
/// drift of roll and pitch (time constant 20 s). The yaw angle is not corrected, so it drifts with
/// the residual biases of both gyroscopes. The bias of the handle's gyroscope is estimated while
/// camera and handle rest.
///
/// Runs on the loop thread only, in constant time.
struct HandleIMU: Sendable, BitwiseCopyable {
    /// Time constant of the correction towards an upright handle, s.
    private static var leaning: Double { @_noLocks get { 20 } }
    /// Time constant of the bias estimation at rest, s.
    private static var learning: Double { @_noLocks get { 0.5 } }
    /// Bias of the handle's gyroscope, handle frame, rad/s.
    private(set) var bias = Vector3.zero
    /// Rate of the handle without bias, handle frame, rad/s.
    private(set) var rate = Vector3.zero
    /// Joint angles, rad.
    private(set) var joints = AxisVector.zero

    /// Largest rate of a handle at rest, rad/s: about 1 °/s.
    private static var stillRate: Double { @_noLocks get { 0.02 } }

    /// True if the handle's rate is low enough for a handle at rest.
    var isStill: Bool { @_noLocks get { rate.norm < Self.stillRate } }

    private var hasJoints = false

    /// Largest plausible rate of the handle about an axis, rad/s: the range of all supported chips
    /// is at most 2000 °/s. The handle's chip can have a larger range than the camera's chip.
    private static var largestRate: Double { @_noLocks get { 2000 * .pi / 180 } }

    /// True if a reading of the handle's gyroscope, rad/s, is plausible; false for NaN.
    @_noLocks
    static func isPlausible(_ reading: Vector3) -> Bool {
        reading.squaredNorm <= 3 * largestRate * largestRate
    }

    /// Creates an estimator that has not received a sample yet.
    @_noLocks
    init() {}

    /// Updates the joint angles with the readings of one tick.
    ///
    /// - Parameters:
    ///   - measured: Reading of the handle's gyroscope, handle frame, rad/s; finite.
    ///   - cameraRate: Camera rate without bias, camera frame, rad/s.
    ///   - upright: Joint angles that would result if the handle were upright, rad; yaw is not
    ///     used.
    ///   - isAtRest: True if the camera's sensor is at rest. While the motors hold the camera and
    ///     the joints are measured, rest ends when a joint has turned by 0.1°.
    ///   - largestBias: Largest bias about each axis, rad/s; a larger rate counts as motion.
    ///   - dt: Seconds since the previous call, not negative.
    @_noLocks
    mutating func update(
        measured: Vector3, cameraRate: Vector3, upright: AxisVector, isAtRest: Bool,
        largestBias: Double, dt: Double
    ) {
        if isAtRest, measured.largestMagnitude < largestBias {
            bias = bias + (measured - bias) * (dt / (Self.learning + dt))
        }
        rate = measured - bias
        guard hasJoints else {
            (joints.roll, joints.pitch) = (upright.roll, upright.pitch)
            hasJoints = true
            return
        }
        let turning = JointKinematics.attitude(joints: joints).inverseRotate(rate)
        let rates = JointKinematics(joints: joints).jointRates(relativeRate: cameraRate - turning)
        let share = dt / (Self.leaning + dt)
        joints = joints + rates * dt
        joints.roll += Angle.wrapped(upright.roll - joints.roll) * share
        joints.pitch += Angle.wrapped(upright.pitch - joints.pitch) * share
    }

    /// Discards the joint angles of roll and pitch, because the camera's attitude is unknown. The
    /// next reading starts them as if the handle were upright. Gravity does not show the angle of
    /// yaw, so this angle stays at its last value: a servo without pulses keeps its angle.
    @_noLocks
    mutating func forgetJoints() { hasJoints = false }

    /// Sets the joint angles to the angles from a better source, rad. If the better source fails,
    /// the integration continues from its last angles.
    @_noLocks
    mutating func align(_ angles: AxisVector) {
        joints = angles
        hasJoints = true
    }
}
