/// Feeds forward what a camera off its balance weighs on the motors, and learns it.
///
/// A centre of mass beside the joints' common point asks for the moment `mass * offset × specific
/// force`. Mass times offset is a constant vector of the camera, and the accelerometer measures the
/// specific force; so gravity at every attitude and the shaking of the hand are taken out alike,
/// before the camera has moved. The vector is found from what the feedback still has to exert, by
/// recursive least squares with a covariance that grows again (L. Ljung, "System Identification",
/// 1999, ch. 11): what gravity shows is known within seconds, the part along gravity only when the
/// camera has looked up or down, or has been shaken. What is learned leaves the integral, so that
/// learning moves nothing.
///
/// Loop thread only; constant time, no allocation.
struct ImbalanceCompensator: Sendable, BitwiseCopyable {
    /// Mass times offset of the centre of mass, camera frame, kg·m.
    private(set) var imbalance = Vector3.zero

    /// Covariance over the feedback's noise, in units of gravity: how fast the moment that one g
    /// makes is learned, 1/s.
    private var covariance = Symmetric3(diagonal: ImbalanceCompensator.first)

    /// At first it is the mean of all there is to see; later it forgets at this rate. 1/s.
    private static var first: Double { @_noLocks get { 3 } }
    private static var last: Double { @_noLocks get { 0.07 } }
    private static var gravity: Double { @_noLocks get { 9.81 } }

    /// A camera believed to be in balance.
    @_noLocks
    init() {}

    /// Somebody may have changed the load: what was found is only where to start from.
    @_noLocks
    mutating func doubt() { covariance = Symmetric3(diagonal: Self.first) }

    /// The moment that carries the camera, N·m, under a specific force, camera frame, m/s².
    @_noLocks
    func moment(specificForce: Vector3) -> Vector3 { imbalance.cross(specificForce) }

    /// Learns from the moment that the feedback still has to exert.
    ///
    /// - Parameters:
    ///   - feedback: N·m, camera frame.
    ///   - f: Specific force, camera frame, m/s².
    ///   - limit: Largest moment at rest that is believed, N·m.
    ///   - dt: Seconds.
    /// - Returns: What `moment` has grown by, N·m.
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

    /// One component of the feedback, `direction · error` but for its noise.
    private mutating func absorb(
        _ feedback: Double, _ direction: Vector3, _ learned: inout Vector3, dt: Double
    ) {
        let spread = covariance * direction
        let share = dt / (1 + direction.dot(spread) * dt)
        learned += spread * ((feedback - direction.dot(learned)) * share)
        covariance.subtractOuter(spread, times: share)
    }
}
