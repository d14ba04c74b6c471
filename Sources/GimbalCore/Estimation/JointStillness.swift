/// Cause of a rotation of the camera relative to the handle.
public enum JointDrive: UInt8, Sendable, BitwiseCopyable {
    /// A hand, the wind or gravity turns the camera, because the motors are off.
    case unknown
    /// Motors that hold the camera's attitude turn the joints, because the handle turns, or because
    /// a wrong gyroscope bias makes the camera turn slowly.
    case held
    /// Motors turn the joints, because a command turns the camera.
    case commanded

    /// True if the cause is `commanded`. The comparison is a property, because the checker of
    /// real-time code rejects the synthesized operator.
    var isCommanded: Bool {
        @_noLocks @_noAllocation get { if case .commanded = self { true } else { false } }
    }
}

/// Detector of joint motion. The detector uses the angle by which the joints turn, because the
/// steps of the encoders make the joints' rate too noisy.
///
/// The joints count as moving once they have turned by `restJointTurn`, and as still when they have
/// not turned by `restJointTurn` for `restProofTime`. Each measurement of the angle starts from
/// zero, so that noise does not accumulate. With the defaults, joints that turn more slowly than
/// 0.03 °/s count as still.
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
    ///   - relativeRate: Rate of the sensor relative to its carrier, body frame, rad/s.
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
