import CMathShim

extension AttitudeEstimator {
    /// Smallest squared horizontal component with a heading. Below it, the camera points along the
    /// vertical.
    private static var leastHorizontal: Double { @_noLocks @_noAllocation get { 1e-12 } }

    /// Sets the present heading to zero. The heading is the yaw angle of the Euler sequence yaw,
    /// roll, pitch.
    @_noLocks @_noAllocation
    public mutating func resetHeading() {
        let q = orientation
        let sine = 2 * (q.w * q.z - q.x * q.y)
        let cosine = 1 - 2 * (q.x * q.x + q.z * q.z)
        guard sine * sine + cosine * cosine > Self.leastHorizontal else { return }
        let heading = cm_atan2(sine, cosine)
        let turn = Quaternion.aboutZ(-heading)
        orientation = (turn * orientation).normalized
        let cosineOfTurn = turn.w * turn.w - turn.z * turn.z
        let sineOfTurn = 2 * turn.w * turn.z
        (velocityX, velocityY) = (
            cosineOfTurn * velocityX - sineOfTurn * velocityY,
            sineOfTurn * velocityX + cosineOfTurn * velocityY
        )
        covariance.turnEarthFrame(cosine: cosineOfTurn, sine: sineOfTurn)
        magnetic.turnEarthFrame(by: -heading)
        frame &+= 1
        detector.restart()
        period = Period()
    }

    /// Largest field of an intact magnetometer, µT: 20 times the field of the earth.
    private static var strongestField: Double { @_noLocks @_noAllocation get { 1000 } }
    /// Correlation time of the bias error in the heading's drift, s. The effect of the nearly
    /// constant error is approximated by a random walk of the heading.
    private static var biasSeconds: Double { @_noLocks @_noAllocation get { 10 } }

    /// Corrects the heading with one sample of the magnetic field. Call this method after
    /// `update(gyro:accel:dt:)` for the same time.
    ///
    /// The correction changes `northAttitude` only; inclination, bias and `attitude` do not change.
    ///
    /// - Parameters:
    ///   - magneticField: Measured field, body frame, µT; ignored if it is not finite or exceeds
    ///     1000 µT.
    ///   - dt: Seconds since the previous magnetic sample. If `dt` is not positive, the sample is
    ///     ignored.
    @_noLocks @_noAllocation
    public mutating func update(magneticField: Vector3, dt: Double) {
        guard dt > 0, dt < Self.longestInterval,
            magneticField.squaredNorm < Self.strongestField * Self.strongestField
        else { return }
        // The heading drifts because of the gyroscope's noise, its scale and misalignment errors
        // during turns, and its bias error about the vertical. The bias error is nearly constant.
        let down = orientation.inverseRotate(Vector3(0, 0, 1))
        let biasVariance = down.dot(covariance.gg.bb * down)
        let drift =
            parameters.gyroNoiseDensity * parameters.gyroNoiseDensity
            + parameters.rotationNoise * parameters.rotationNoise * rate.squaredNorm
            + 2 * Self.biasSeconds * biasVariance
        let isComplete = magnetic.add(
            field: orientation.rotate(magneticField), drift: drift * dt, dt: dt,
            period: parameters.filterPeriod)
        if isComplete { magnetic.step(isZUp: restForce > 0, parameters: parameters) }
    }

    /// Rotation from body to earth, with the heading relative to magnetic north. The earth's x axis
    /// points north if z points down; the y axis points north if z points up. Until the first
    /// magnetic sample, `northAttitude` equals `attitude`.
    public var northAttitude: Quaternion {
        @_noLocks @_noAllocation get {
            (Quaternion.aboutZ(magnetic.offset) * attitude).normalized
        }
    }

    /// Standard deviation of the heading of `northAttitude`, rad.
    public var headingSigma: Double { @_noLocks @_noAllocation get { cm_sqrt(magnetic.variance) } }
}
