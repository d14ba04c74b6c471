import CMathShim

/// What a calibration that changes while the estimator runs means for what it has learned.
extension AttitudeEstimator {
    /// How long a sensor with a known bias is still before its first sample counts as the vertical,
    /// s.
    static var knownBiasStillTime: Double { @_noLocks @_noAllocation get { 0.19 } }

    /// A sensor whose rate has been its calibrated bias for a moment, and whose specific force has
    /// been steady, does not turn and is not shaken: what the first sample said of the vertical is
    /// good to a few degrees, and start-up need not wait until velocity has said the same. Without
    /// a calibrated bias nothing happens here.
    @_noLocks @_noAllocation
    mutating func trustFirstInclination() {
        guard parameters.initialBiasSigma < parameters.convergedBiasSigma,
            biasSigma.largest < parameters.convergedBiasSigma
        else { return }
        // Two axes, and a margin for the noise of the steps until motors are on.
        let sigma = 0.6 * parameters.convergedInclinationSigma
        covariance.limitTilt(variance: sigma * sigma)
    }

    /// Takes a bias that somebody has measured; what the estimator knew of it is forgotten,
    /// attitude and scale stay.
    ///
    /// - Parameters:
    ///   - bias: Body frame, rad/s.
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

    /// The body frame is another one from now on: the attitude names the new frame, the bias is
    /// turned into it.
    ///
    /// The sensor itself has not moved, so tilt and its sigma stay. Scale belongs to the axes that
    /// were, it is learned again; the bias keeps its largest sigma on all axes.
    ///
    /// - Parameter turn: Old body frame to new body frame.
    @_noLocks @_noAllocation
    public mutating func turnBodyFrame(by turn: Quaternion) {
        orientation = (orientation * turn.conjugate).normalized
        let variance = covariance.gg.bb.diagonal.largest
        scale = .zero
        crossNext = .zero
        crossAfter = .zero
        covariance.forgetGyro(
            parameters.gyroCovariance(bias: variance))
        assume(bias: turn.rotate(bias), sigma: cm_sqrt(variance))
        leverArm = LeverArm(sigma: parameters.leverSigma)
        rate = turn.rotate(rate)
        relativeRate = turn.rotate(relativeRate)
        frame &+= 1
        period = Period()
    }
}
