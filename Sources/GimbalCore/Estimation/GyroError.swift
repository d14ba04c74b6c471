/// One value for each of a gyroscope's twelve errors: an error, a correction or a covariance. Each
/// axis has a bias, a scale error, and cross-axis sensitivities to the rates about the two other
/// axes.
///
/// The sensor reads approximately `rate + scale * rate + next * rate.next + after * rate.after +
/// bias`, component by component, where `rate.next` is (y, z, x) of the rate and `rate.after` is
/// (z, x, y).
struct GyroError: Sendable, BitwiseCopyable {
    /// Bias, body frame, rad/s.
    var bias: Vector3
    /// Relative scale error of each axis.
    var scale: Vector3
    /// Cross-axis sensitivity of each axis to the rate about the next axis, as a fraction: x to y,
    /// y to z, z to x.
    var next: Vector3
    /// Cross-axis sensitivity of each axis to the rate about the previous axis, as a fraction: x to
    /// z, y to x, z to y.
    var after: Vector3

    /// The errors of an ideal gyroscope: all are zero.
    static var zero: GyroError {
        @_noLocks @_noAllocation get {
            GyroError(bias: .zero, scale: .zero, next: .zero, after: .zero)
        }
    }

    @_noLocks @_noAllocation
    init(bias: Vector3, scale: Vector3, next: Vector3, after: Vector3) {
        self.bias = bias
        self.scale = scale
        self.next = next
        self.after = after
    }

    /// Partial derivatives of the integrated angle about one direction, rad, with respect to the
    /// gyroscope's errors.
    ///
    /// - Parameters:
    ///   - direction: Unit vector, body frame.
    ///   - turn: Angle turned about the body axes, rad.
    ///   - duration: Duration of the turn, s.
    @inline(__always) @_noLocks @_noAllocation
    init(along direction: Vector3, turn: Vector3, duration: Double) {
        bias = direction * duration
        scale = direction.scaled(by: turn)
        next = direction.scaled(by: turn.next)
        after = direction.scaled(by: turn.after)
    }

    @inline(__always) @_noLocks @_noAllocation
    static func + (a: GyroError, b: GyroError) -> GyroError {
        GyroError(
            bias: a.bias + b.bias, scale: a.scale + b.scale, next: a.next + b.next,
            after: a.after + b.after)
    }

    @inline(__always) @_noLocks @_noAllocation
    static func - (a: GyroError, b: GyroError) -> GyroError {
        GyroError(
            bias: a.bias - b.bias, scale: a.scale - b.scale, next: a.next - b.next,
            after: a.after - b.after)
    }

    @inline(__always) @_noLocks @_noAllocation
    static func * (a: GyroError, k: Double) -> GyroError {
        GyroError(bias: a.bias * k, scale: a.scale * k, next: a.next * k, after: a.after * k)
    }

    @inline(__always) @_noLocks @_noAllocation
    static func += (a: inout GyroError, b: GyroError) { a = a + b }

    @inline(__always) @_noLocks @_noAllocation
    static func -= (a: inout GyroError, b: GyroError) { a = a - b }

    @inline(__always) @_noLocks @_noAllocation
    func dot(_ b: GyroError) -> Double {
        bias.dot(b.bias) + scale.dot(b.scale) + next.dot(b.next) + after.dot(b.after)
    }
}

/// The covariance matrix of a `GyroError`: 78 elements in blocks. The name of a block contains the
/// initials of two errors: bias, scale, next, after.
struct GyroCovariance: Sendable, BitwiseCopyable {
    var bb: Symmetric3
    var bs: Matrix3 = .zero
    var bn: Matrix3 = .zero
    var ba: Matrix3 = .zero
    var ss: Symmetric3
    var sn: Matrix3 = .zero
    var sa: Matrix3 = .zero
    var nn: Symmetric3
    var na: Matrix3 = .zero
    var aa: Symmetric3

    /// Creates the covariance of uncorrelated errors from three variances: bias, (rad/s)²; scale
    /// error, dimensionless; cross-axis sensitivity, dimensionless.
    @_noLocks @_noAllocation
    init(bias: Double, scale: Double, cross: Double) {
        bb = Symmetric3(diagonal: bias)
        ss = Symmetric3(diagonal: scale)
        nn = Symmetric3(diagonal: cross)
        aa = Symmetric3(diagonal: cross)
    }

    @inline(__always) @_noLocks @_noAllocation
    static func * (c: GyroCovariance, v: GyroError) -> GyroError {
        GyroError(
            bias: c.bb * v.bias + c.bs * v.scale + c.bn * v.next + c.ba * v.after,
            scale: c.bs.transposedTimes(v.bias) + c.ss * v.scale + c.sn * v.next + c.sa * v.after,
            next: c.bn.transposedTimes(v.bias) + c.sn.transposedTimes(v.scale) + c.nn * v.next
                + c.na * v.after,
            after: c.ba.transposedTimes(v.bias) + c.sa.transposedTimes(v.scale)
                + c.na.transposedTimes(v.next) + c.aa * v.after)
    }

    /// Subtracts the matrix `s v vᵀ`.
    @inline(__always) @_noLocks @_noAllocation
    mutating func subtractOuter(_ v: GyroError, times s: Double) {
        bb.subtractOuter(v.bias, times: s)
        bs.subtractOuter(v.bias, v.scale, times: s)
        bn.subtractOuter(v.bias, v.next, times: s)
        ba.subtractOuter(v.bias, v.after, times: s)
        ss.subtractOuter(v.scale, times: s)
        sn.subtractOuter(v.scale, v.next, times: s)
        sa.subtractOuter(v.scale, v.after, times: s)
        nn.subtractOuter(v.next, times: s)
        na.subtractOuter(v.next, v.after, times: s)
        aa.subtractOuter(v.after, times: s)
    }

    /// Replaces the variance of the bias, and removes the correlation of the bias with all other
    /// errors.
    ///
    /// - Parameter variance: Variance of the bias on each axis, (rad/s)².
    @_noLocks @_noAllocation
    mutating func restartBias(variance: Double) {
        bb = Symmetric3(diagonal: variance)
        bs = .zero
        bn = .zero
        ba = .zero
    }

    /// Covariance of all errors with the bias about one body axis.
    ///
    /// - Parameter axis: Index of the body axis, 0...2.
    /// - Returns: Covariances of all errors with the bias about the given axis.
    @_noLocks @_noAllocation
    func biasColumn(_ axis: Int) -> GyroError {
        switch axis {
        case 0:
            GyroError(
                bias: Vector3(bb.xx, bb.xy, bb.xz), scale: bs.rowX, next: bn.rowX, after: ba.rowX)
        case 1:
            GyroError(
                bias: Vector3(bb.xy, bb.yy, bb.yz), scale: bs.rowY, next: bn.rowY, after: ba.rowY)
        default:
            GyroError(
                bias: Vector3(bb.xz, bb.yz, bb.zz), scale: bs.rowZ, next: bn.rowZ, after: ba.rowZ)
        }
    }
}

extension Vector3 {
    /// For each axis, the component of the next axis: (y, z, x).
    var next: Vector3 { @inline(__always) @_noLocks @_noAllocation get { Vector3(y, z, x) } }
    /// For each axis, the component of the previous axis: (z, x, y).
    var after: Vector3 { @inline(__always) @_noLocks @_noAllocation get { Vector3(z, x, y) } }

    /// The component with index 0...2.
    @inline(__always) @_noLocks @_noAllocation
    func component(_ axis: Int) -> Double { axis == 0 ? x : axis == 1 ? y : z }
}
