/// Whether the specific force has leaned away from the estimate's vertical for longer than
/// anybody's motion explains.
///
/// Whoever carries a camera moves at some speed, and a speed that is bounded bounds what
/// acceleration can add to a long mean of the force: with the kernel t/τ² exp(-t/τ) of two
/// first-order means, at most 2/e · speed/τ, which is 0.74 m/s² at 5 m/s and τ = 5 s. What leans
/// further is the estimate's error: it is 5° off or more, and should have been corrected long
/// since. A vehicle that brakes from 50 km/h is taken for that, too; then the estimate is worth
/// some doubt as well.
///
/// It names the doubt, and changes nothing.
struct TiltDoubt: Sendable, BitwiseCopyable {
    /// Whether the doubt lasts.
    private(set) var isDoubtful = false
    /// How far the long mean of the force leans from the estimate's vertical, as a tangent.
    private(set) var lean = 0.0

    /// Time constant of each of the two means, s.
    private static var memory: Double { @_noLocks @_noAllocation get { 5 } }
    /// Doubt begins at 4.3° and ends at 2.3°, as tangents. An error of 5° is named after 17 s, one
    /// of 30° after 4 s.
    private static var most: Double { @_noLocks @_noAllocation get { 0.075 } }
    private static var least: Double { @_noLocks @_noAllocation get { 0.04 } }

    /// The estimator's frame in which the means are kept.
    private var frame = UInt64.max
    private var first = Vector3.zero
    private var second = Vector3.zero

    /// Nothing seen yet.
    @_noLocks
    init() {}

    /// Looks at the filter period that has ended with the estimator's last sample, if one has.
    ///
    /// - Parameter estimator: Always the same one; to be called after each `update`.
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

    /// Takes the mean of one period.
    ///
    /// - Parameters:
    ///   - force: Specific force over what it is at rest, earth frame of the estimate: (0, 0, 1) at
    ///     rest.
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
