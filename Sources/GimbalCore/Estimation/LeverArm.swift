/// Where the point lies that the sensor turns about: a wrist, an elbow, the end of a stick.
///
/// Hands do not throw a sensor about, they swing it. Most of its velocity is then its rate times a
/// lever that hardly changes, seen from the body, and that part says nothing of the tilt. The lever
/// is what explains the filter's velocity best: three states with a covariance of their own, and a
/// memory, because a grip changes. It is not known beforehand, bounded by its prior, and without
/// rotation it has no effect at all. What a lever explains makes "velocity is zero" the truer.
///
/// Apart from the filter's states, although tilt and lever are learned from the same innovations: a
/// tilt shows as a velocity that lasts, a lever as one that comes and goes with the rate.
struct LeverArm: Sendable, BitwiseCopyable {
    /// From the pivot to the sensor, body frame, m.
    private(set) var arm = Vector3.zero
    private var covariance: Symmetric3

    /// An unknown lever.
    ///
    /// - Parameter sigma: Standard deviation of each component, m; 0 = there is none.
    @_noLocks @_noAllocation
    init(sigma: Double) {
        covariance = Symmetric3(diagonal: sigma * sigma)
    }

    /// Forgets as much as the time asks for.
    ///
    /// - Parameters:
    ///   - duration: Since the last step, s.
    ///   - parameters: The lever's size and memory.
    @inline(__always) @_noLocks @_noAllocation
    mutating func step(duration: Double, parameters: AttitudeEstimator.Parameters) {
        let keep = parameters.leverTime / (parameters.leverTime + duration)
        let share = keep * keep
        arm = arm * keep
        covariance = covariance * share
        covariance.addToDiagonal((1 - share) * parameters.leverSigma * parameters.leverSigma)
    }

    /// The velocity along one horizontal, and its variance, that the lever explains.
    ///
    /// - Parameter direction: The horizontal, seen from the body, cross the rate, rad/s.
    /// - Returns: m/s and m²/s².
    @inline(__always) @_noLocks @_noAllocation
    func velocity(_ direction: Vector3) -> (value: Double, variance: Double) {
        (direction.dot(arm), direction.dot(covariance * direction))
    }

    /// One scalar update.
    ///
    /// - Parameters:
    ///   - direction: As for `velocity`.
    ///   - velocity: Of the filter along it, m/s.
    ///   - noise: Variance of whatever else that is, m²/s².
    @inline(__always) @_noLocks @_noAllocation
    mutating func correct(_ direction: Vector3, velocity: Double, noise: Double) {
        let column = covariance * direction
        let inverse = 1 / (direction.dot(column) + noise)
        arm += column * ((velocity - direction.dot(arm)) * inverse)
        covariance.subtractOuter(column, times: inverse)
    }
}
