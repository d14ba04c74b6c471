/// Estimator of the lever arm: the vector from the sensor's centre of rotation (a wrist, an elbow,
/// the end of a stick) to the sensor.
///
/// While a hand swings the sensor, most of the sensor's velocity is the cross product of its rate
/// and a lever arm. The lever arm hardly changes in the body frame. The velocity of a swing
/// contains no information about the tilt. A Kalman filter with three states estimates the lever
/// arm from the velocity of the attitude filter. The filter for the lever arm has a limited memory,
/// because a person changes the grip. The prior limits the length of the lever arm. Without
/// rotation, the lever arm has no effect. After subtraction of the swing's velocity, the assumption
/// "velocity is zero" is more accurate.
///
/// The lever arm is not a state of the attitude filter, although both filters use the same
/// innovations. Tilt error and lever arm can be separated: a tilt error causes a lasting velocity,
/// whereas a lever arm causes a velocity that varies with the rate.
struct LeverArm: Sendable, BitwiseCopyable {
    /// Vector from the centre of rotation to the sensor, body frame, m.
    private(set) var arm = Vector3.zero
    private var covariance: Symmetric3

    /// Creates the estimator of an unknown lever arm.
    ///
    /// - Parameter sigma: Prior standard deviation of each component, m; 0 disables the estimation.
    @_noLocks @_noAllocation
    init(sigma: Double) {
        covariance = Symmetric3(diagonal: sigma * sigma)
    }

    /// Moves the lever arm towards zero and its covariance towards the prior, with the time
    /// constant `leverTime`. If the estimation is disabled, the lever arm is zero at once.
    ///
    /// - Parameters:
    ///   - duration: Time since the last step, s.
    ///   - parameters: Prior standard deviation and time constant of the lever arm.
    @inline(always) @_noLocks @_noAllocation
    mutating func step(duration: Double, parameters: AttitudeEstimator.Parameters) {
        guard parameters.leverSigma > 0 else {
            self = LeverArm(sigma: 0)
            return
        }
        let keep = parameters.leverTime / (parameters.leverTime + duration)
        let share = keep * keep
        arm = arm * keep
        covariance = covariance * share
        covariance.addToDiagonal((1 - share) * parameters.leverSigma * parameters.leverSigma)
    }

    /// Velocity along one horizontal direction due to the rotation about the centre, and the
    /// variance of this velocity.
    ///
    /// - Parameter direction: Cross product of the horizontal direction in the body frame and the
    ///   rate, rad/s.
    /// - Returns: Velocity, m/s, and its variance, m²/s².
    @inline(always) @_noLocks @_noAllocation
    func velocity(_ direction: Vector3) -> (value: Double, variance: Double) {
        (direction.dot(arm), direction.dot(covariance * direction))
    }

    /// Corrects the lever arm with one measured velocity.
    ///
    /// - Parameters:
    ///   - direction: Cross product of the horizontal direction in the body frame and the rate,
    ///     rad/s.
    ///   - velocity: The attitude filter's velocity along the horizontal direction, m/s.
    ///   - noise: Variance of the velocity from other causes than the lever arm, m²/s².
    @inline(always) @_noLocks @_noAllocation
    mutating func correct(_ direction: Vector3, velocity: Double, noise: Double) {
        let column = covariance * direction
        let inverse = 1 / (direction.dot(column) + noise)
        arm += column * ((velocity - direction.dot(arm)) * inverse)
        covariance.subtractOuter(column, times: inverse)
    }
}
