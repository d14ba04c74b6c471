/// Feed-forward of the moment of an unbalanced camera, with learning of its imbalance.
///
/// A centre of mass outside the joints' common point requires the moment `mass * offset × specific
/// force`. Mass times offset is a constant vector of the camera, and the accelerometer measures the
/// specific force. Therefore gravity at every attitude and the shaking of the hand are both
/// compensated, before the camera has moved. The vector is learned from the remaining moment of the
/// feedback, by recursive least squares with a covariance that grows again (L. Ljung, "System
/// Identification", 1999, ch. 11). The two components perpendicular to gravity are known within
/// seconds, the component along gravity only after the camera has pointed up or down or has been
/// shaken. The learned part is subtracted from the integral, so learning does not move the camera.
///
/// Loop thread only; constant time, no allocation.
struct ImbalanceCompensator: Sendable, BitwiseCopyable {
    /// Mass times offset of the centre of mass, camera frame, kg·m.
    private(set) var imbalance = Vector3.zero

    /// Covariance of the imbalance, scaled so that an element is the learning rate of the moment at
    /// 1 g, 1/s.
    private var covariance = Symmetric3(diagonal: ImbalanceCompensator.first)

    /// Initial and final learning rate of the imbalance, 1/s. At first the estimate is the mean of
    /// all observations; later older observations lose weight at the final rate.
    private static var first: Double { @_noLocks get { 3 } }
    private static var last: Double { @_noLocks get { 0.07 } }
    private static var gravity: Double { @_noLocks get { 9.81 } }

    /// Creates a compensator for a camera that is assumed to be balanced.
    @_noLocks
    init() {}

    /// Restarts the learning from the present imbalance, because the load may have been changed.
    @_noLocks
    mutating func doubt() { covariance = Symmetric3(diagonal: Self.first) }

    /// The moment that holds the unbalanced camera under a specific force, N·m; the force is in the
    /// camera frame, m/s².
    @_noLocks
    func moment(specificForce: Vector3) -> Vector3 { imbalance.cross(specificForce) }

    /// Updates the learned imbalance from the moment that the feedback still produces at rest.
    ///
    /// - Parameters:
    ///   - feedback: N·m, camera frame.
    ///   - f: Specific force, camera frame, m/s².
    ///   - limit: Largest plausible moment at rest, N·m.
    ///   - dt: Seconds.
    /// - Returns: Increase of `moment`, N·m.
    @_noLocks
    mutating func learn(
        feedback: Vector3, specificForce f: Vector3, limit: Double, dt: Double
    ) -> Vector3 {
        let before = imbalance
        let g = f * (1 / Self.gravity)
        var learned = Vector3.zero
        absorb(feedback.x, Vector3(0, g.z, -g.y), &learned, dt: dt)
        absorb(feedback.y, Vector3(-g.z, 0, g.x), &learned, dt: dt)
        absorb(feedback.z, Vector3(g.y, -g.x, 0), &learned, dt: dt)
        if covariance.diagonal.largest < Self.first {
            covariance.addToDiagonal(Self.last * Self.last * dt)
        }
        imbalance = (before + learned * (1 / Self.gravity)).limited(to: limit / Self.gravity)
        return (imbalance - before).cross(f)
    }

    /// Updates the correction `learned` of the imbalance with one component of the feedback's
    /// moment: `feedback` is `direction · error` plus noise.
    private mutating func absorb(
        _ feedback: Double, _ direction: Vector3, _ learned: inout Vector3, dt: Double
    ) {
        let spread = covariance * direction
        let share = dt / (1 + direction.dot(spread) * dt)
        learned += spread * ((feedback - direction.dot(learned)) * share)
        covariance.subtractOuter(spread, times: share)
    }
}
