import CMathShim

/// One value for each of the ten error states, or a correction of them.
struct AttitudeError: Sendable, BitwiseCopyable {
    /// Rotation error about the earth's two horizontal axes, rad.
    var tiltX: Double
    var tiltY: Double
    /// Gyroscope bias, body frame, rad/s.
    var bias: Vector3
    /// Relative scale error of the three gyroscope axes.
    var scale: Vector3
    /// Horizontal velocity, earth frame, m/s.
    var velocityX: Double
    var velocityY: Double
}

/// The joint covariance of `AttitudeError`: 55 numbers in blocks, so that a step touches no zero
/// and no number twice.
///
/// Heading and vertical velocity are not states. Gravity says nothing about either, and the
/// assumption that velocity averages to zero is the same in all headings, so the accelerometer must
/// not touch the heading.
///
/// Names: x y are the tilts, b the bias, s the scale, u v the velocities; `xb` is the covariance of
/// tilt x with bias.
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
    var xb: Vector3 = .zero
    var yb: Vector3 = .zero
    var ub: Vector3 = .zero
    var vb: Vector3 = .zero
    var xs: Vector3 = .zero
    var ys: Vector3 = .zero
    var us: Vector3 = .zero
    var vs: Vector3 = .zero
    var bb: Symmetric3
    var bs: Matrix3 = .zero
    var ss: Symmetric3

    /// Independent errors with these variances: rad², (rad/s)², 1, (m/s)².
    @_noLocks @_noAllocation
    init(tilt: Double, bias: Double, scale: Double, velocity: Double) {
        xx = tilt
        yy = tilt
        uu = velocity
        vv = velocity
        bb = Symmetric3(diagonal: bias)
        ss = Symmetric3(diagonal: scale)
    }

    /// Whether every variance is a positive number.
    var isHealthy: Bool {
        @_noLocks @_noAllocation get {
            let smallest = min(min(min(xx, yy), min(uu, vv)), min(bb.xx, min(bb.yy, bb.zz)))
            let sum = xx + yy + uu + vv + bb.xx + bb.yy + bb.zz + ss.xx + ss.yy + ss.zz
            return smallest > 0 && sum < 1e12
        }
    }

    /// Forgets what is known about tilt and velocity; bias and scale keep their covariance.
    @_noLocks @_noAllocation
    mutating func forgetTiltAndVelocity(tilt: Double, velocity: Double) {
        var fresh = AttitudeCovariance(tilt: tilt, bias: 0, scale: 0, velocity: velocity)
        fresh.bb = bb
        fresh.bs = bs
        fresh.ss = ss
        self = fresh
    }

    /// Shrinks the velocities and their errors by a factor.
    @inline(__always) @_noLocks @_noAllocation
    mutating func scaleVelocity(by k: Double) {
        xu *= k
        xv *= k
        yu *= k
        yv *= k
        uu *= k * k
        uv *= k * k
        vv *= k * k
        ub = ub * k
        vb = vb * k
        us = us * k
        vs = vs * k
    }

    /// Makes tilt as certain as `variance`, rad², where it is less so; correlations keep their
    /// coefficients.
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
        xb = xb * x
        yb = yb * y
        xs = xs * x
        ys = ys * y
    }

    /// Adds to the variances of tilt, up to total ignorance.
    ///
    /// - Parameters:
    ///   - variance: Of both tilts, rad².
    ///   - loss: Of x, of y, and their covariance, rad².
    @inline(__always) @_noLocks @_noAllocation
    mutating func addTilt(variance: Double, loss: Vector3) {
        xx += variance + loss.x
        yy += variance + loss.y
        xy += loss.z
        // Shrunk together, so that it stays a covariance.
        if max(xx, yy) > 2 { limitTilt(variance: 2) }
    }

    /// Forgets what velocity has to do with everything else; `variance` is what it has now, (m/s)².
    @_noLocks @_noAllocation
    mutating func restartVelocity(variance: Double) {
        scaleVelocity(by: 0)
        uu = variance
        vv = variance
    }

    /// Moves the errors on by one step, without noise.
    ///
    /// - Parameters:
    ///   - earthX: First row of the rotation body to earth.
    ///   - earthY: Second row.
    ///   - turn: Angle turned in the step about the body axes, rad.
    ///   - verticalImpulse: Integral of the specific force along z, m/s: tilt turns it into
    ///     horizontal velocity.
    ///   - duration: Length of the step, s.
    @inline(__always) @_noLocks @_noAllocation
    mutating func propagate(
        earthX: Vector3, earthY: Vector3, turn: Vector3, verticalImpulse: Double, duration: Double
    ) {
        let f = verticalImpulse
        // Velocity: u += f y, v -= f x, with the tilt as it was.
        uu += f * (2 * yu + f * yy)
        uv += f * (yv - xu - f * xy)
        vv += f * (f * xx - 2 * xv)
        xu += f * xy
        yu += f * yy
        xv -= f * xx
        yv -= f * xy
        ub += yb * f
        us += ys * f
        vb -= xb * f
        vs -= xs * f
        // Tilt: a bias that is too small, or a rate read too small, turns the true body further
        // than ours.
        let biasX = earthX * -duration
        let biasY = earthY * -duration
        let scaleX = -earthX.scaled(by: turn)
        let scaleY = -earthY.scaled(by: turn)
        let gainBX = bb * biasX + bs * scaleX
        let gainBY = bb * biasY + bs * scaleY
        let gainSX = bs.transposedTimes(biasX) + ss * scaleX
        let gainSY = bs.transposedTimes(biasY) + ss * scaleY
        xx += 2 * (biasX.dot(xb) + scaleX.dot(xs)) + biasX.dot(gainBX) + scaleX.dot(gainSX)
        yy += 2 * (biasY.dot(yb) + scaleY.dot(ys)) + biasY.dot(gainBY) + scaleY.dot(gainSY)
        xy += biasX.dot(yb) + scaleX.dot(ys) + biasY.dot(xb) + scaleY.dot(xs)
        xy += biasX.dot(gainBY) + scaleX.dot(gainSY)
        xu += biasX.dot(ub) + scaleX.dot(us)
        xv += biasX.dot(vb) + scaleX.dot(vs)
        yu += biasY.dot(ub) + scaleY.dot(us)
        yv += biasY.dot(vb) + scaleY.dot(vs)
        xb += gainBX
        yb += gainBY
        xs += gainSX
        ys += gainSY
    }

    /// Expresses tilt and velocity in an earth frame that is turned about the vertical.
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
        (xb, yb) = (old.xb * c - old.yb * s, old.xb * s + old.yb * c)
        (ub, vb) = (old.ub * c - old.vb * s, old.ub * s + old.vb * c)
        (xs, ys) = (old.xs * c - old.ys * s, old.xs * s + old.ys * c)
        (us, vs) = (old.us * c - old.vs * s, old.us * s + old.vs * c)
    }

    /// Covariance of everything with the velocity along x.
    var velocityXColumn: AttitudeError {
        @inline(__always) @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xu, tiltY: yu, bias: ub, scale: us, velocityX: uu, velocityY: uv)
        }
    }

    /// Covariance of everything with the velocity along y.
    var velocityYColumn: AttitudeError {
        @inline(__always) @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xv, tiltY: yv, bias: vb, scale: vs, velocityX: uv, velocityY: vv)
        }
    }

    /// Covariance of everything with the bias about body x.
    var biasXColumn: AttitudeError {
        @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xb.x, tiltY: yb.x, bias: Vector3(bb.xx, bb.xy, bb.xz), scale: bs.rowX,
                velocityX: ub.x, velocityY: vb.x)
        }
    }

    /// Covariance of everything with the bias about body y.
    var biasYColumn: AttitudeError {
        @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xb.y, tiltY: yb.y, bias: Vector3(bb.xy, bb.yy, bb.yz), scale: bs.rowY,
                velocityX: ub.y, velocityY: vb.y)
        }
    }

    /// Covariance of everything with the bias about body z.
    var biasZColumn: AttitudeError {
        @_noLocks @_noAllocation get {
            AttitudeError(
                tiltX: xb.z, tiltY: yb.z, bias: Vector3(bb.xz, bb.yz, bb.zz), scale: bs.rowZ,
                velocityX: ub.z, velocityY: vb.z)
        }
    }

    /// Covariance of everything with a sum of both tilts and the bias, each times its factor.
    @inline(__always) @_noLocks @_noAllocation
    func column(tiltX x: Double, tiltY y: Double, bias b: Vector3) -> AttitudeError {
        AttitudeError(
            tiltX: xx * x + xy * y + xb.dot(b), tiltY: xy * x + yy * y + yb.dot(b),
            bias: xb * x + yb * y + bb * b, scale: xs * x + ys * y + bs.transposedTimes(b),
            velocityX: xu * x + yu * y + ub.dot(b), velocityY: xv * x + yv * y + vb.dot(b))
    }

    /// What remains after a scalar measurement of the state whose column this is.
    ///
    /// - Parameters:
    ///   - c: Covariance of everything with the measured state.
    ///   - s: One over the innovation variance.
    @inline(__always) @_noLocks @_noAllocation
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
        xb -= c.bias * x
        yb -= c.bias * y
        ub -= c.bias * u
        vb -= c.bias * v
        xs -= c.scale * x
        ys -= c.scale * y
        us -= c.scale * u
        vs -= c.scale * v
        bb.subtractOuter(c.bias, times: s)
        bs.subtractOuter(c.bias, c.scale, times: s)
        ss.subtractOuter(c.scale, times: s)
    }
}
