internal import CMathShim

/// Converts an attitude error to a commanded rate. For a small error, the rate is proportional to
/// the error. For a large error, the rate is limited: a constant deceleration can then stop the
/// camera at the set-point. This control law is known as the square-root controller of multicopter
/// autopilots.
struct RateCommand: Sendable, BitwiseCopyable {
    /// Gain from attitude error to commanded rate about the camera's axes, 1/s.
    var gain: AxisVector
    /// Largest rate, rad/s.
    var maxRate: Double
    /// Deceleration from which the limit of the commanded rate is computed, rad/s², for large
    /// attitude errors.
    var maxAcceleration: Double

    @_noLocks
    init(gain: AxisVector, maxRate: Double, maxAcceleration: Double) {
        self.gain = gain
        self.maxRate = maxRate
        self.maxAcceleration = maxAcceleration
    }

    /// Rate that corrects an attitude error, camera frame, rad/s. `error` is the rotation from
    /// attitude to set-point, camera frame, rad.
    @_noLocks
    func rate(error: Vector3) -> Vector3 {
        let linear = Vector3(gain.roll * error.x, gain.pitch * error.y, gain.yaw * error.z)
        let angle = error.norm
        let speed = linear.norm
        guard angle > 0, speed > 0 else { return .zero }
        let slope = speed / angle
        let knee = maxAcceleration / (slope * slope)
        guard angle > knee else { return linear.limited(to: maxRate) }
        let braking = cm_sqrt(2 * maxAcceleration * (angle - knee / 2))
        return linear * (min(braking, maxRate) / speed)
    }
}
