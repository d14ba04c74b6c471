/// Desired attitude of the camera, with its rate and acceleration.
public struct Setpoint: Sendable, BitwiseCopyable {
    /// Commanded camera attitude, body to earth.
    public var attitude: Quaternion
    /// Commanded angular rate of the camera, body frame of `attitude`, rad/s. Controllers use this
    /// rate as feed-forward.
    public var rate: Vector3
    /// Commanded angular acceleration of the camera, body frame of `attitude`, rad/s².
    public var acceleration: Vector3

    /// Creates a set-point with the given attitude, rate and acceleration.
    @inlinable
    @_noLocks @_noAllocation
    public init(attitude: Quaternion, rate: Vector3, acceleration: Vector3 = .zero) {
        self.attitude = attitude
        self.rate = rate
        self.acceleration = acceleration
    }

    /// The set-point at a time `seconds` earlier, extrapolated with constant acceleration. If
    /// `seconds` is negative, the result is a later set-point.
    @_noLocks @_noAllocation @inline(always)
    func earlier(by seconds: Double) -> Setpoint {
        let turn = acceleration * (0.5 * seconds * seconds) - rate * seconds
        return Setpoint(
            attitude: attitude * Quaternion(rotationVector: turn),
            rate: rate - acceleration * seconds, acceleration: acceleration)
    }

    /// True if no component is NaN or infinite.
    public var isFinite: Bool {
        @_noLocks @_noAllocation
        get { attitude.isFinite && rate.isFinite && acceleration.isFinite }
    }
}
