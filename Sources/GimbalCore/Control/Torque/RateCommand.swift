internal import CMathShim

/// From attitude error to rate: proportional when the error is small, and when it is large no
/// faster than a constant deceleration can still stop (the square-root controller of multicopter
/// autopilots).
struct RateCommand: Sendable, BitwiseCopyable {
    /// Attitude error to rate about the camera's axes, 1/s.
    var gain: AxisVector
    /// rad/s.
    var maxRate: Double
    /// Deceleration that a large error plans with, rad/s².
    var maxAcceleration: Double

    @_noLocks
    init(gain: AxisVector, maxRate: Double, maxAcceleration: Double) {
        self.gain = gain
        self.maxRate = maxRate
        self.maxAcceleration = maxAcceleration
    }

    /// The rate that takes an error away, camera frame, rad/s; `error` from attitude to set-point,
    /// camera frame, rad.
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
