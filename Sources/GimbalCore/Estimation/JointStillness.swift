/// What moves a camera against the handle.
public enum JointDrive: UInt8, Sendable, BitwiseCopyable {
    /// A hand, the wind, gravity: the motors are off.
    case unknown
    /// Motors that were told to hold the camera: the handle turns, or a wrong bias makes the camera
    /// creep.
    case held
    /// Motors that were told to turn the camera.
    case commanded

    /// Written out: the loop's checker refuses the derived comparison.
    var isCommanded: Bool {
        @_noLocks @_noAllocation get { if case .commanded = self { true } else { false } }
    }
}

/// Whether the joints stand still, as well as an encoder can tell: by the angle they turn, not by
/// their rate, which the steps of an encoder make noisy.
///
/// They move once they have turned by `restJointTurn`, and stand still again when they have not for
/// `restProofTime`. The angle is counted anew each time, so that no noise adds up: rates below 0.03
/// °/s pass for standing still.
struct JointStillness: Sendable, BitwiseCopyable {
    /// Whether they have been seen to move.
    private(set) var areMoving = false

    private var turn: Vector3 = .zero
    private var window = 0.0

    /// Joints that have not been seen to move.
    @_noLocks @_noAllocation
    init() {}

    /// Watches the joints for one period.
    ///
    /// - Parameters:
    ///   - relativeRate: Rate of the sensor against what carries it, body frame, rad/s.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: Whether `areMoving` has changed.
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
