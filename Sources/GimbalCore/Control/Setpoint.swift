/// Where the camera is to look, and how fast that direction moves.
public struct Setpoint: Sendable, BitwiseCopyable {
    /// Commanded camera attitude, body to earth.
    public var attitude: Quaternion
    /// Commanded angular rate of the camera, body frame of `attitude`, rad/s: the feed-forward.
    public var rate: Vector3

    /// A set-point with these values.
    @inlinable @_noLocks
    public init(attitude: Quaternion, rate: Vector3) {
        self.attitude = attitude
        self.rate = rate
    }
}
