import CMathShim

/// Changes of the calibration while the estimator runs.
extension AttitudeEstimator {
    /// Time at rest, s, after which the direction of the first sample is accepted as the vertical
    /// if the bias is calibrated.
    static var knownBiasStillTime: Double { @_noLocks @_noAllocation get { 0.19 } }

    /// Standard deviation of one horizontal axis, as a fraction of the inclination's. The fraction
    /// is less than 1, because both horizontal axes contribute to the inclination's standard
    /// deviation, and because noise is added until the motors are switched on.
    private static var tiltShare: Double { @_noLocks @_noAllocation get { 0.6 } }

    /// Shortens start-up if the gyroscope's bias is calibrated: reduces the variance of the tilt,
    /// so the estimate counts as converged. Before the call, the rate must have equalled the bias,
    /// and the specific force must have been steady, for `knownBiasStillTime`. The sensor therefore
    /// neither turns nor shakes, and the vertical from the first sample has an error of a few
    /// degrees at most. Start-up need not wait for the velocity measurements that correct the
    /// vertical. If the bias is not calibrated, this method does nothing.
    @_noLocks @_noAllocation
    mutating func trustFirstInclination() {
        guard parameters.initialBiasSigma < parameters.convergedBiasSigma,
            biasSigma.largest < parameters.convergedBiasSigma
        else { return }
        let sigma = Self.tiltShare * parameters.convergedInclinationSigma
        covariance.limitTilt(variance: sigma * sigma)
    }

    /// Replaces the estimate of the gyroscope's bias by a measured bias. Attitude and scale do not
    /// change.
    ///
    /// - Parameters:
    ///   - bias: Measured bias, body frame, rad/s.
    ///   - sigma: Standard deviation of each axis, rad/s, positive.
    @_noLocks @_noAllocation
    public mutating func assume(bias: Vector3, sigma: Double) {
        self.bias = bias
        covariance.gg.restartBias(variance: sigma * sigma)
        covariance.xg.bias = .zero
        covariance.yg.bias = .zero
        covariance.ug.bias = .zero
        covariance.vg.bias = .zero
        detector.restart()
    }

    /// Changes the body frame or the gyroscope's matrix: the attitude then describes the new frame.
    ///
    /// The sensor itself has not moved, so the tilt and its standard deviation do not change. The
    /// scale errors belong to the old axes, so the estimator discards them and estimates them
    /// again. All axes receive the bias's largest standard deviation.
    ///
    /// - Parameters:
    ///   - turn: Rotation from the old body frame to the new body frame.
    ///   - bias: The gyroscope's bias in the new body frame, rad/s.
    @_noLocks @_noAllocation
    public mutating func turnBodyFrame(by turn: Quaternion, bias: Vector3) {
        orientation = (orientation * turn.conjugate).normalized
        let variance = covariance.gg.bb.diagonal.largest
        scale = .zero
        covariance.forgetGyro(parameters.gyroCovariance(bias: variance))
        assume(bias: bias, sigma: cm_sqrt(variance))
        leverArm = LeverArm(sigma: parameters.leverSigma)
        rate = turn.rotate(rate)
        smoothGyro = turn.rotate(smoothGyro)
        detector.reset()
        frame &+= 1
        period = Period()
    }
}
