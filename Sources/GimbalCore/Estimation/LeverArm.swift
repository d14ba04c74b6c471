/// Position of the sensor's centre of rotation: a wrist, an elbow, the end of a stick.
///
/// Hands swing a sensor. Most of the sensor's velocity is then the cross product of its rate and a
/// lever that hardly changes in the body frame. This part of the velocity contains no information
/// about the tilt. This filter estimates the lever from the velocity that the attitude filter has
/// estimated. It has three states with a separate covariance and a limited memory, because a person
/// changes the grip. The prior limits the length of the lever. Without rotation the lever has no
/// effect. After subtraction of the lever's velocity, the assumption "velocity is zero" is more
/// accurate.
///
/// The lever is separate from the filter's states, although both are learned from the same
/// innovations: a tilt error causes a lasting velocity, a lever causes a velocity that varies with
/// the rate.
struct LeverArm: Sendable, BitwiseCopyable {
    /// Vector from the pivot to the sensor, body frame, m.
    private(set) var arm = Vector3.zero
    private var covariance: Symmetric3

    /// Creates an unknown lever.
    ///
    /// - Parameter sigma: Standard deviation of each component, m; 0 disables the lever.
    @_noLocks @_noAllocation
    init(sigma: Double) {
        covariance = Symmetric3(diagonal: sigma * sigma)
    }

    /// Increases the uncertainty of the lever with time.
    ///
    /// - Parameters:
    ///   - duration: Time since the last step, s.
    ///   - parameters: Standard deviation and memory of the lever.
    @inline(__always) @_noLocks @_noAllocation
    mutating func step(duration: Double, parameters: AttitudeEstimator.Parameters) {
        let keep = parameters.leverTime / (parameters.leverTime + duration)
        let share = keep * keep
        arm = arm * keep
        covariance = covariance * share
        covariance.addToDiagonal((1 - share) * parameters.leverSigma * parameters.leverSigma)
    }

    /// The velocity along one horizontal direction that the lever explains, and its variance.
    ///
    /// - Parameter direction: Cross product of the horizontal direction in the body frame and the
    ///   rate, rad/s.
    /// - Returns: Velocity, m/s, and its variance, m²/s².
    @inline(__always) @_noLocks @_noAllocation
    func velocity(_ direction: Vector3) -> (value: Double, variance: Double) {
        (direction.dot(arm), direction.dot(covariance * direction))
    }

    /// Updates the lever with one measured velocity.
    ///
    /// - Parameters:
    ///   - direction: As in `velocity(along:)`.
    ///   - velocity: The filter's velocity along the direction, m/s.
    ///   - noise: Variance of all other velocity, m²/s².
    @inline(__always) @_noLocks @_noAllocation
    mutating func correct(_ direction: Vector3, velocity: Double, noise: Double) {
        let column = covariance * direction
        let inverse = 1 / (direction.dot(column) + noise)
        arm += column * ((velocity - direction.dot(arm)) * inverse)
        covariance.subtractOuter(column, times: inverse)
    }
}
