/// Cause of a rotation of the camera relative to the handle.
public enum JointDrive: UInt8, Sendable, BitwiseCopyable {
    /// The motors are off, so a hand, the wind or gravity turns the camera.
    case unknown
    /// The motors hold the camera's attitude. The joints turn because the handle turns, or because
    /// a wrong gyroscope bias makes the camera turn slowly.
    case held
    /// The motors turn the camera, as commanded.
    case commanded

    /// True if the cause is `commanded`. The comparison is a property, because the real-time
    /// checker rejects the synthesized operator.
    var isCommanded: Bool {
        @_noLocks @_noAllocation get { if case .commanded = self { true } else { false } }
    }
}

/// Motion of the sensor relative to the handle, from joint sensors or a model of the motors.
public struct RelativeMotion: Sendable, BitwiseCopyable {
    /// Joint angles, rad; zero if unknown.
    public var joints = AxisVector.zero
    /// Rate of the sensor relative to the handle, body frame, rad/s, smoothed with a time constant
    /// of 0.1 s; zero if unknown.
    public var rate = Vector3.zero
    /// Source of the angles. Angles from different sources can belong to different frames.
    public var source = JointSource.assumed
    /// Cause of the motion.
    public var drive = JointDrive.unknown

    /// Creates the motion of a sensor whose joints are unknown.
    @_noLocks @_noAllocation
    public init() {}

    @_noLocks @_noAllocation
    init(joints: AxisVector, rate: Vector3, source: JointSource, drive: JointDrive) {
        self.joints = joints
        self.rate = rate
        self.source = source
        self.drive = drive
    }
}

/// Detector of joint motion. The detector uses the angle instead of the rate, because encoder
/// quantization makes the rate too noisy.
///
/// The joints count as moving after a rotation by `restJointTurn`. The joints count as still after
/// the time `restProofTime` without a rotation by this angle. The angle is reset to zero after each
/// decision, so noise does not accumulate. With the default values, joints count as still at rates
/// below 0.03 °/s.
struct JointStillness: Sendable, BitwiseCopyable {
    /// True if the joints have moved.
    private(set) var areMoving = false

    private var turn: Vector3 = .zero
    private var window = 0.0

    /// Creates a detector of joints that have not moved yet.
    @_noLocks @_noAllocation
    init() {}

    /// Updates `areMoving` with the motion of the joints in one filter period.
    ///
    /// - Parameters:
    ///   - relativeRate: Rate of the sensor relative to the handle, body frame, rad/s.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: True if `areMoving` has changed.
    @_noLocks @_noAllocation
    mutating func step(
        relativeRate: Vector3, duration: Double, parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        let before = areMoving
        turn += relativeRate * duration
        window += duration
        if turn.squaredNorm > parameters.restJointTurn * parameters.restJointTurn {
            areMoving = true
            turn = .zero
            window = 0
        } else if window > parameters.restProofTime {
            areMoving = false
            turn = .zero
            window = 0
        }
        return areMoving != before
    }
}
