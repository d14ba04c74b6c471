/// Detector of a wrong inclination: the mean specific force deviates from the estimated vertical
/// for longer than the motion of a person can explain. The angle of this deviation is called lean.
///
/// The speed of a person is bounded. Therefore the effect of acceleration on a long-term mean of
/// the specific force is also bounded. With two first-order low-passes (kernel t/τ² exp(-t/τ)), the
/// effect is at most 2/e · speed/τ: 0.74 m/s² at 5 m/s and τ = 5 s. A larger lean means that the
/// estimate is wrong by 5° or more, although the filter should have corrected this error. A vehicle
/// that brakes from 50 km/h also triggers the detector; the estimate can indeed be wrong during
/// braking.
///
/// The detector only reports its result; it does not change the estimate.
struct TiltDoubt: Sendable, BitwiseCopyable {
    /// True if the estimate is doubtful, because the lean is too large.
    private(set) var isDoubtful = false
    /// Tangent of the lean: the angle between the long-term mean of the specific force and the
    /// estimated vertical.
    private(set) var lean = 0.0

    /// Time constant of each of the two low-passes, s.
    private static var memory: Double { @_noLocks @_noAllocation get { 5 } }
    /// Tangent of the tilt above which the estimate becomes doubtful (4.3°). An error of 5° is
    /// reported after 17 s, and an error of 30° after 4 s.
    private static var most: Double { @_noLocks @_noAllocation get { 0.075 } }
    /// Tangent of the tilt below which the estimate is no longer doubtful (2.3°).
    private static var least: Double { @_noLocks @_noAllocation get { 0.04 } }

    /// Value of the estimator's frame counter when the means started.
    private var frame = UInt64.max
    private var first = Vector3.zero
    private var second = Vector3.zero

    /// Creates a detector that has not received a sample yet.
    @_noLocks
    init() {}

    /// Updates the detector with the filter period that ended with the estimator's last sample, if
    /// a period ended.
    ///
    /// - Parameter estimator: The estimator, which must be the same in every call. Call this method
    ///   after each `update`.
    @_noLocks @_noAllocation
    mutating func follow(_ estimator: AttitudeEstimator) {
        guard let ended = estimator.ended, ended.duration > 0 else { return }
        if frame != estimator.frame {
            self = TiltDoubt()
            frame = estimator.frame
        }
        let force = ended.impulse / (ended.duration * estimator.restForce)
        note(force: force, duration: ended.duration)
    }

    /// Updates the detector with the mean specific force of one filter period.
    ///
    /// - Parameters:
    ///   - force: Specific force relative to its value at rest, earth frame of the estimate: (0, 0,
    ///     1) at rest.
    ///   - duration: Length of the period, s.
    @_noLocks @_noAllocation
    mutating func note(force: Vector3, duration: Double) {
        let share = duration / (Self.memory + duration)
        first += (Vector3(force.x, force.y, force.z - 1) - first) * share
        second += (first - second) * share
        let horizontal = Vector3(second.x, second.y, 0).norm
        lean = horizontal / max(abs(1 + second.z), 0.5)
        isDoubtful = lean > (isDoubtful ? Self.least : Self.most)
    }
}
