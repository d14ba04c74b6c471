import CMathShim

extension AttitudeEstimator {
    /// Uses one sample of the magnetic field, after the gyroscope and accelerometer sample of the
    /// same time.
    ///
    /// Inclination, bias and `attitude` are not touched; what it changes is `northAttitude`.
    ///
    /// - Parameters:
    ///   - magneticField: As measured, body frame, µT; not finite or beyond 1000 µT: not used.
    ///   - dt: Seconds since the previous magnetic sample; not positive: not used.
    @_noLocks @_noAllocation
    public mutating func update(magneticField: Vector3, dt: Double) {
        guard dt > 0, dt < 1e6, magneticField.squaredNorm < 1e6 else { return }
        // Heading drifts by the noise of the gyroscope, by scale and misalignment as it turns, and
        // by the bias about the vertical, whose error lasts: its sigma becomes a random walk with a
        // memory of ten seconds.
        let down = orientation.inverseRotate(Vector3(0, 0, 1))
        let biasVariance = down.dot(covariance.gg.bb * down)
        let drift =
            parameters.gyroNoiseDensity * parameters.gyroNoiseDensity
            + parameters.rotationNoise * parameters.rotationNoise * rate.squaredNorm
            + 2 * 10 * biasVariance
        let isComplete = magnetic.add(
            field: orientation.rotate(magneticField), drift: drift * dt, dt: dt,
            period: parameters.filterPeriod)
        if isComplete { magnetic.step(isZUp: restForce > 0, parameters: parameters) }
    }

    /// Body to earth with the heading from magnetic north: x north where z points down, y north
    /// where z points up. Without a magnetic sample it is `attitude`.
    public var northAttitude: Quaternion {
        @_noLocks @_noAllocation get {
            (Quaternion.aboutZ(magnetic.offset) * attitude).normalized
        }
    }

    /// Standard deviation of the heading of `northAttitude`, rad.
    public var headingSigma: Double { @_noLocks @_noAllocation get { cm_sqrt(magnetic.variance) } }

    /// Weight of the last magnetic sample, 0...1: small where iron or a magnet is near, zero before
    /// the first.
    public var magneticWeight: Double { @_noLocks @_noAllocation get { magnetic.weight } }
}
