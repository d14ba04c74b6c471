import CMathShim

/// One value for each of the filter's ten error states: an error, a correction or a covariance.
struct AttitudeError: Sendable, BitwiseCopyable {
    /// Rotation errors about the earth's horizontal axes x and y, rad.
    var tiltX: Double
    var tiltY: Double
    /// Errors of the gyroscope.
    var gyro: GyroError
    /// Errors of the horizontal velocity, earth frame, m/s.
    var velocityX: Double
    var velocityY: Double
}

/// The covariance matrix of `AttitudeError`: 55 elements in blocks. The layout stores each
/// symmetric pair of elements once.
///
/// Heading and vertical velocity are not states, because gravity provides no information about
/// them. The assumption "velocity averages to zero" does not depend on the heading, so the
/// accelerometer must not affect the heading.
///
/// Names of the blocks: `x` and `y` for the tilts, `g` for the gyroscope's errors, `u` and `v` for
/// the velocities. For example, `xg` is the covariance of tilt x with the gyroscope's errors.
struct AttitudeCovariance: Sendable, BitwiseCopyable {
    var xx: Double
    var xy: Double = 0
    var yy: Double
    var xu: Double = 0
    var xv: Double = 0
    var yu: Double = 0
    var yv: Double = 0
    var uu: Double
    var uv: Double = 0
    var vv: Double
    var xg: GyroError = .zero
    var yg: GyroError = .zero
    var ug: GyroError = .zero
    var vg: GyroError = .zero
    var gg: GyroCovariance

    /// Creates the covariance of uncorrelated errors: `tilt` is the variance of each tilt, rad²;
    /// `velocity` is the variance of each velocity, (m/s)².
    @_noLocks @_noAllocation
    init(tilt: Double, gyro: GyroCovariance, velocity: Double) {
        xx = tilt
        yy = tilt
        uu = velocity
        vv = velocity
        gg = gyro
    }

    /// Largest sum of the variances of a usable covariance; far above every possible uncertainty,
    /// and far below the range of a number.
    private static var mostVariance: Double { @_noLocks @_noAllocation get { 1e12 } }

    /// True if the variances of tilt, velocity and bias are positive, and the sum of all variances
    /// is finite (below 1e12).
    var isHealthy: Bool {
        @_noLocks @_noAllocation get {
            let bias = gg.bb.diagonal
            let smallest = min(min(min(xx, yy), min(uu, vv)), min(bias.x, min(bias.y, bias.z)))
            let gyro = gg.ss.diagonal + bias
            let sum = xx + yy + uu + vv + gyro.x + gyro.y + gyro.z
            return smallest > 0 && sum < Self.mostVariance
        }
    }

    /// Resets the covariance of tilt and velocity; keeps the covariance of the gyroscope's errors.
    @_noLocks @_noAllocation
    mutating func forgetTiltAndVelocity(tilt: Double, velocity: Double) {
        self = AttitudeCovariance(tilt: tilt, gyro: gg, velocity: velocity)
    }

    /// Replaces the covariance of the gyroscope's errors; keeps the covariance of tilt and
    /// velocity.
    @_noLocks @_noAllocation
    mutating func forgetGyro(_ gyro: GyroCovariance) {
        xg = .zero
        yg = .zero
        ug = .zero
        vg = .zero
        gg = gyro
    }

    /// Updates the covariance after a multiplication of the velocity estimates by `k`, 0...1. The
    /// velocity errors are also multiplied by `k`.
    @inline(always) @_noLocks @_noAllocation
    mutating func scaleVelocity(by k: Double) {
        xu *= k
        xv *= k
        yu *= k
        yv *= k
        uu *= k * k
        uv *= k * k
        vv *= k * k
        ug = ug * k
        vg = vg * k
    }

    /// Limits the variance of each tilt to `variance`, rad²; the correlation coefficients do not
    /// change.
    @_noLocks @_noAllocation
    mutating func limitTilt(variance: Double) {
        let x = xx > variance ? cm_sqrt(variance / xx) : 1
        let y = yy > variance ? cm_sqrt(variance / yy) : 1
        guard x < 1 || y < 1 else { return }
        xx *= x * x
        xy *= x * y
        yy *= y * y
        xu *= x
        xv *= x
        yu *= y
        yv *= y
        xg = xg * x
        yg = yg * y
    }

    /// Largest variance of the tilt about one axis, rad²: the tilt is then unknown, and a larger
    /// variance would have no meaning.
    private static var mostTilt: Double { @_noLocks @_noAllocation get { 2 } }

    /// Increases the variance of each tilt, up to 2 rad² (unknown tilt).
    ///
    /// - Parameters:
    ///   - variance: Increase of the variance of each tilt, rad².
    ///   - loss: Additional increase of the tilt covariance, rad²: `x` and `y` are added to the
    ///     variances of tilt x and tilt y, and `z` is added to their covariance.
    @inline(always) @_noLocks @_noAllocation
    mutating func addTilt(variance: Double, loss: Vector3) {
        xx += variance + loss.x
        yy += variance + loss.y
        xy += loss.z
        // Variances and covariances are reduced together, so the matrix remains positive
        // semidefinite.
        if max(xx, yy) > Self.mostTilt { limitTilt(variance: Self.mostTilt) }
    }

    /// Replaces the variance of the velocity by `variance`, (m/s)², and removes the velocity's
    /// correlations with the other states.
    @_noLocks @_noAllocation
    mutating func restartVelocity(variance: Double) {
        scaleVelocity(by: 0)
        uu = variance
        vv = variance
    }

    /// Propagates the covariance by one time step, without process noise.
    ///
    /// - Parameters:
    ///   - earthX: First row of the rotation matrix from body to earth frame.
    ///   - earthY: Second row of the rotation matrix from body to earth frame.
    ///   - turn: Angle turned in the step about the body axes, rad.
    ///   - verticalImpulse: Integral of the specific force along the earth's z axis, m/s. A tilt
    ///     error projects a part of the impulse onto the horizontal velocity.
    ///   - duration: Length of the step, s.
    @inline(always) @_noLocks @_noAllocation
    mutating func propagate(
        earthX: Vector3, earthY: Vector3, turn: Vector3, verticalImpulse: Double, duration: Double
    ) {
        let f = verticalImpulse
        // The velocity equations are u += f y and v -= f x, with the tilt before this step.
        uu += f * (2 * yu + f * yy)
        uv += f * (yv - xu - f * xy)
        vv += f * (f * xx - 2 * xv)
        xu += f * xy
        yu += f * yy
        xv -= f * xx
        yv -= f * xy
        ug += yg * f
        vg -= xg * f
        // Errors are true values minus estimated values. If the estimated bias or scale error is
        // too small, the estimated rate is too large, and the true tilt changes less than the
        // estimated tilt.
        let x = GyroError(along: -earthX, turn: turn, duration: duration)
        let y = GyroError(along: -earthY, turn: turn, duration: duration)
        let gainX = gg * x
        let gainY = gg * y
        xx += 2 * x.dot(xg) + x.dot(gainX)
        yy += 2 * y.dot(yg) + y.dot(gainY)
        xy += x.dot(yg) + y.dot(xg) + x.dot(gainY)
        xu += x.dot(ug)
        xv += x.dot(vg)
        yu += y.dot(ug)
        yv += y.dot(vg)
        xg += gainX
        yg += gainY
    }

    /// Transforms the covariance of tilt and velocity into an earth frame that is rotated about the
    /// vertical.
    @_noLocks @_noAllocation
    mutating func turnEarthFrame(cosine c: Double, sine s: Double) {
        let old = self
        xx = c * c * old.xx - 2 * c * s * old.xy + s * s * old.yy
        yy = s * s * old.xx + 2 * c * s * old.xy + c * c * old.yy
        xy = c * s * (old.xx - old.yy) + (c * c - s * s) * old.xy
        uu = c * c * old.uu - 2 * c * s * old.uv + s * s * old.vv
        vv = s * s * old.uu + 2 * c * s * old.uv + c * c * old.vv
        uv = c * s * (old.uu - old.vv) + (c * c - s * s) * old.uv
        xu = c * c * old.xu - c * s * (old.xv + old.yu) + s * s * old.yv
        xv = c * s * (old.xu - old.yv) + c * c * old.xv - s * s * old.yu
        yu = c * s * (old.xu - old.yv) + c * c * old.yu - s * s * old.xv
        yv = s * s * old.xu + c * s * (old.xv + old.yu) + c * c * old.yv
        (xg, yg) = (old.xg * c - old.yg * s, old.xg * s + old.yg * c)
        (ug, vg) = (old.ug * c - old.vg * s, old.ug * s + old.vg * c)
    }

    /// Covariance of all states with the velocity along x.
    var velocityXColumn: AttitudeError {
        @inline(always) @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xu, tiltY: yu, gyro: ug, velocityX: uu, velocityY: uv)
        }
    }

    /// Covariance of all states with the velocity along y.
    var velocityYColumn: AttitudeError {
        @inline(always) @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xv, tiltY: yv, gyro: vg, velocityX: uv, velocityY: vv)
        }
    }

    /// Covariances of all states with the bias about one body axis.
    ///
    /// - Parameter axis: Index of the body axis, 0...2.
    /// - Returns: Covariances of all states with the bias about the given axis.
    @_noLocks @_noAllocation
    func biasColumn(_ axis: Int) -> AttitudeError {
        AttitudeError(
            tiltX: xg.bias.component(axis), tiltY: yg.bias.component(axis),
            gyro: gg.biasColumn(axis), velocityX: ug.bias.component(axis),
            velocityY: vg.bias.component(axis))
    }

    /// Covariance update of the Kalman filter for a scalar measurement of one state.
    ///
    /// - Parameters:
    ///   - c: Covariances of all states with the measured state.
    ///   - s: Reciprocal of the innovation variance.
    @inline(always) @_noLocks @_noAllocation
    mutating func condense(column c: AttitudeError, inverseVariance s: Double) {
        let x = c.tiltX * s
        let y = c.tiltY * s
        let u = c.velocityX * s
        let v = c.velocityY * s
        xx -= x * c.tiltX
        xy -= x * c.tiltY
        yy -= y * c.tiltY
        xu -= x * c.velocityX
        xv -= x * c.velocityY
        yu -= y * c.velocityX
        yv -= y * c.velocityY
        uu -= u * c.velocityX
        uv -= u * c.velocityY
        vv -= v * c.velocityY
        xg -= c.gyro * x
        yg -= c.gyro * y
        ug -= c.gyro * u
        vg -= c.gyro * v
        gg.subtractOuter(c.gyro, times: s)
    }
}
