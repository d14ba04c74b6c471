import CMathShim

/// What a calibration that changes while the estimator runs means for what it has learned.
extension AttitudeEstimator {
    /// Takes a bias that somebody has measured; what the estimator knew of it is forgotten, attitude and scale stay.
    ///
    /// - Parameters:
    ///   - bias: Body frame, rad/s.
    ///   - sigma: Standard deviation of each axis, rad/s, positive.
    @_noLocks @_noAllocation
    public mutating func assume(bias: Vector3, sigma: Double) {
        self.bias = bias
        covariance.bb = Symmetric3(diagonal: sigma * sigma)
        covariance.xb = .zero
        covariance.yb = .zero
        covariance.ub = .zero
        covariance.vb = .zero
        covariance.bs = .zero
        detector.restart()
    }

    /// The body frame is another one from now on: the attitude names the new frame, the bias is turned into it.
    ///
    /// The sensor itself has not moved, so tilt and its sigma stay. Scale belongs to the axes that were, it is learned
    /// again; the bias keeps its largest sigma on all axes.
    ///
    /// - Parameter turn: Old body frame to new body frame.
    @_noLocks @_noAllocation
    public mutating func turnBodyFrame(by turn: Quaternion) {
        orientation = (orientation * turn.conjugate).normalized
        let variance = covariance.bb.diagonal.largest
        scale = .zero
        covariance.xs = .zero
        covariance.ys = .zero
        covariance.us = .zero
        covariance.vs = .zero
        covariance.ss = Symmetric3(
            diagonal: parameters.initialScaleSigma * parameters.initialScaleSigma)
        assume(bias: turn.rotate(bias), sigma: cm_sqrt(variance))
        rate = turn.rotate(rate)
        relativeRate = turn.rotate(relativeRate)
        period = Period()
    }
}
