import CMathShim

extension AttitudeEstimator {
    /// Variance of the velocity at the beginning of a rest, m²/s²: a standard deviation of 3 cm/s.
    private static var restVelocityVariance: Double { @_noLocks @_noAllocation get { 1e-3 } }

    /// Ends a filter period. The covariance is propagated. The state is then corrected with the
    /// pseudo-measurement "velocity is zero" and with a bias measurement, if available.
    @inline(never) @_noLocks @_noAllocation
    mutating func filter() {
        let p = period
        period = Period()
        orientation = orientation.normalized
        isRefuted = gravityWatch.refutes(
            force: p.impulse / (restForce * p.duration), inclinationSigma: inclinationSigma,
            duration: p.duration, parameters: parameters)
        if gravityWatch.isDoubtful {
            predict(p)
            velocityX = 0
            velocityY = 0
            covariance.restartVelocity(variance: 1)
            accelerationWeight = 0
            return
        }
        let keep = 1 - p.duration / (parameters.velocityMemory + p.duration)
        velocityX = velocityX * keep + p.impulse.x
        velocityY = velocityY * keep + p.impulse.y
        covariance.scaleVelocity(by: keep)
        ended = UncorrectedPeriod(
            duration: p.duration, impulse: p.impulse, orientation: orientation)
        predict(p)
        let wasAtRest = detector.isAtRest
        // The mean specific force is in the handle's frame if the joints are known. In the earth
        // frame, a constant force would appear to rotate while the bias is wrong or is being
        // corrected.
        let force = orientation.inverseRotate(p.impulse / p.duration)
        // Means of the period: a vibration at a multiple of the filter's rate would add a constant
        // to single values.
        var relative = relativeMotion
        relative.rate = p.relativeTurn / p.duration
        let rest = detector.step(
            gyro: p.rawTurn / p.duration, smoothGyro: p.smoothTurn / p.duration,
            force: JointKinematics.attitude(joints: relative.joints).rotate(force),
            relative: relative, bias: bias, biasVariance: covariance.gg.bb.diagonal,
            isPlausible: restIsPlausible, duration: p.duration, parameters: parameters)
        if detector.lostTrust > 0 { covariance.gg.bb.addToDiagonal(detector.lostTrust) }
        if detector.stillTime > Self.knownBiasStillTime { trustFirstInclination() }
        if isAtRest && !wasAtRest {
            // A sensor at rest does not accelerate, even on a dolly or in a train. The estimated
            // velocity restarts at zero, relative to the present velocity of the dolly or train.
            velocityX = 0
            velocityY = 0
            covariance.restartVelocity(variance: Self.restVelocityVariance)
        }
        correctVelocity(p.duration)
        if let rest { correctBias(rest) }
    }

    @inline(always) @_noLocks @_noAllocation
    private mutating func predict(_ p: Period) {
        let q = orientation
        let turn = p.rawTurn - bias * p.duration
        covariance.propagate(
            earthX: Vector3(
                1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z),
                2 * (q.x * q.z + q.w * q.y)),
            earthY: Vector3(
                2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z),
                2 * (q.y * q.z - q.w * q.x)),
            turn: turn, verticalImpulse: p.impulse.z, duration: p.duration)
        let tilt =
            parameters.gyroNoiseDensity * parameters.gyroNoiseDensity * p.duration
            + parameters.rotationNoise * parameters.rotationNoise * p.squaredTurn
        covariance.addTilt(variance: tilt, loss: p.lostVariance)
        covariance.gg.bb.addToDiagonal(
            parameters.biasWalk * parameters.biasWalk * p.duration
                + parameters.biasWalkPerRate * parameters.biasWalkPerRate * p.squaredTurn)
        let velocity = parameters.accelNoiseDensity * parameters.accelNoiseDensity * p.duration
        covariance.uu += velocity
        covariance.vv += velocity
    }

    /// Largest usual innovation, standard deviations. A larger innovation is an acceleration, and
    /// gets less weight.
    private static var usualInnovation: Double { @_noLocks @_noAllocation get { 3 } }
    /// Time constant of the mean square of the innovation, s.
    private static var innovationSeconds: Double { @_noLocks @_noAllocation get { 1 } }

    /// Corrects the state with a pseudo-measurement of the velocity along each horizontal axis. The
    /// measured value is the velocity due to the rate and the lever arm; the variance covers all
    /// other motion.
    @inline(always) @_noLocks @_noAllocation
    private mutating func correctVelocity(_ duration: Double) {
        let density =
            detector.isAtRest
            ? parameters.restVelocityNoiseDensity : motion.noiseDensity(parameters)
        let noise = density * density / duration
        leverArm.step(duration: duration, parameters: parameters)
        let directionX = orientation.inverseRotate(Vector3(1, 0, 0)).cross(rate)
        let directionY = orientation.inverseRotate(Vector3(0, 1, 0)).cross(rate)
        let leverX = leverArm.velocity(directionX)
        let leverY = leverArm.velocity(directionY)
        let observed = (x: velocityX, y: velocityY)
        let noiseX = covariance.uu + noise
        let squareX = correct(
            covariance.velocityXColumn, innovation: leverX.value - velocityX,
            variance: noiseX + leverX.variance, limit: Self.usualInnovation)
        let noiseY = covariance.vv + noise
        let squareY = correct(
            covariance.velocityYColumn, innovation: leverY.value - velocityY,
            variance: noiseY + leverY.variance, limit: Self.usualInnovation)
        if !detector.isAtRest {
            leverArm.correct(directionX, velocity: observed.x, noise: noiseX)
            leverArm.correct(directionY, velocity: observed.y, noise: noiseY)
        }
        if detector.isAtRest {
            motion = MotionLevel()
        } else {
            motion.note(
                velocitySquare: 0.5 * noise * (squareX + squareY), duration: duration,
                parameters: parameters)
        }
        let usual = Self.usualInnovation * Self.usualInnovation
        let weight = usual / max(usual, max(squareX, squareY))
        accelerationWeight = cm_sqrt(weight)
        innovationSquare +=
            (0.5 * (squareX + squareY) - innovationSquare) * duration
            / (Self.innovationSeconds + duration)
    }

    /// Corrects the bias with the mean rate at rest. If the joints move, the standard deviation of
    /// the measurement is larger.
    @_noLocks @_noAllocation
    private mutating func correctBias(_ rest: RestDetector.Measurement) {
        let noise = parameters.restRateNoise * parameters.restRateNoise / rest.duration
        correct(
            covariance.biasColumn(0), innovation: rest.rate.x - bias.x,
            variance: covariance.gg.bb.xx + noise + rest.jointVariance.x,
            limit: parameters.restGate)
        correct(
            covariance.biasColumn(1), innovation: rest.rate.y - bias.y,
            variance: covariance.gg.bb.yy + noise + rest.jointVariance.y,
            limit: parameters.restGate)
        correct(
            covariance.biasColumn(2), innovation: rest.rate.z - bias.z,
            variance: covariance.gg.bb.zz + noise + rest.jointVariance.z,
            limit: parameters.restGate)
    }

    /// Applies one scalar Kalman update to the state and the covariance.
    ///
    /// - Parameters:
    ///   - column: Covariance of all states with the measured state.
    ///   - innovation: Measurement minus predicted measurement.
    ///   - variance: Expected variance of the innovation.
    ///   - limit: Limit of the innovation, in standard deviations. Above this limit, the weight of
    ///     the measurement decreases, so the correction stays constant (Huber).
    /// - Returns: The squared innovation divided by its variance, before any reduction of the
    ///   weight.
    @inline(always) @discardableResult @_noLocks @_noAllocation
    mutating func correct(
        _ column: AttitudeError, innovation: Double, variance: Double, limit: Double
    ) -> Double {
        let square = innovation * innovation / variance
        var inverse = 1 / variance
        if square > limit * limit { inverse *= limit / cm_sqrt(square) }
        let pull = innovation * inverse
        orientation =
            Self.rotation(Vector3(column.tiltX * pull, column.tiltY * pull, 0)) * orientation
        bias += column.gyro.bias * pull
        scale += column.gyro.scale * pull
        velocityX += column.velocityX * pull
        velocityY += column.velocityY * pull
        covariance.condense(column: column, inverseVariance: inverse)
        return square
    }
}
