/// Feed-forward compensation of an unbalanced camera's moment; the imbalance is learned.
///
/// If the centre of mass is off the intersection of the joints' axes, the motors must exert the
/// moment `mass * offset × specific force`. The product of mass and offset is a constant vector in
/// the camera frame, and the accelerometer measures the specific force. Therefore the moments due
/// to gravity and the hand's motion are compensated at every attitude, before they move the camera.
/// The vector is learned from the residual feedback moment by recursive least squares, with a
/// covariance that grows with time (Ljung: System Identification, 1999, chapter 11). The two
/// components of the imbalance perpendicular to gravity are known within seconds. The component
/// along gravity becomes known only when the camera points up or down or is shaken. Each newly
/// learned moment is subtracted from the controller's integral, so learning does not move the
/// camera.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct ImbalanceCompensator: Sendable, BitwiseCopyable {
    /// Product of mass and offset of the centre of mass, camera frame, kg·m.
    private(set) var imbalance = Vector3.zero

    /// Covariance of the imbalance estimate. The scale is such that, at 1 g, each diagonal element
    /// is the learning rate of one component of the imbalance, 1/s.
    private var covariance = Symmetric3(diagonal: ImbalanceCompensator.first)

    /// Initial and final learning rate of the imbalance, 1/s. At first, the estimate is the mean of
    /// all observations. Later, the weight of old observations decays at the final learning rate.
    private static var first: Double { @_noLocks get { 3 } }
    private static var last: Double { @_noLocks get { 0.07 } }
    private static var gravity: Double { @_noLocks get { 9.81 } }

    /// Creates a compensator for a camera that is assumed to be balanced.
    @_noLocks
    init() {}

    /// Restarts the learning, because a user may have changed the load. The initial value is the
    /// present imbalance.
    @_noLocks
    mutating func resetCovariance() { covariance = Symmetric3(diagonal: Self.first) }

    /// Moment that holds the unbalanced camera, N·m. The specific force is in the camera frame,
    /// m/s².
    @_noLocks
    func moment(specificForce: Vector3) -> Vector3 { imbalance.cross(specificForce) }

    /// Updates the learned imbalance from the residual feedback moment.
    ///
    /// - Parameters:
    ///   - feedback: Feedback moment, camera frame, N·m.
    ///   - f: Specific force, camera frame, m/s².
    ///   - limit: Largest plausible moment at rest, N·m.
    ///   - dt: Seconds since the previous call.
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

    /// Updates `learned`, the correction of the imbalance, with one component of the feedback
    /// moment. The model is `feedback = direction · correction + noise`.
    private mutating func absorb(
        _ feedback: Double, _ direction: Vector3, _ learned: inout Vector3, dt: Double
    ) {
        let spread = covariance * direction
        let share = dt / (1 + direction.dot(spread) * dt)
        learned += spread * ((feedback - direction.dot(learned)) * share)
        covariance.subtractOuter(spread, times: share)
    }
}
