/// One value for each of a gyroscope's six errors: an error, a correction or a covariance.
///
/// The sensor reads approximately `rate + scale * rate + bias`, component by component.
struct GyroError: Sendable, BitwiseCopyable {
    /// Bias, body frame, rad/s.
    var bias: Vector3
    /// Relative scale error of each axis.
    var scale: Vector3

    /// The errors of an ideal gyroscope: all are zero.
    static var zero: GyroError {
        @_noLocks @_noAllocation get { GyroError(bias: .zero, scale: .zero) }
    }

    @_noLocks @_noAllocation
    init(bias: Vector3, scale: Vector3) {
        self.bias = bias
        self.scale = scale
    }

    /// Partial derivatives of the integrated angle about one direction, rad, with respect to the
    /// gyroscope's errors.
    ///
    /// - Parameters:
    ///   - direction: Unit vector, body frame.
    ///   - turn: Angle turned about the body axes, rad.
    ///   - duration: Duration of the turn, s.
    @inline(always) @_noLocks @_noAllocation
    init(along direction: Vector3, turn: Vector3, duration: Double) {
        bias = direction * duration
        scale = direction.scaled(by: turn)
    }

    @inline(always) @_noLocks @_noAllocation
    static func + (a: GyroError, b: GyroError) -> GyroError {
        GyroError(bias: a.bias + b.bias, scale: a.scale + b.scale)
    }

    @inline(always) @_noLocks @_noAllocation
    static func - (a: GyroError, b: GyroError) -> GyroError {
        GyroError(bias: a.bias - b.bias, scale: a.scale - b.scale)
    }

    @inline(always) @_noLocks @_noAllocation
    static func * (a: GyroError, k: Double) -> GyroError {
        GyroError(bias: a.bias * k, scale: a.scale * k)
    }

    @inline(always) @_noLocks @_noAllocation
    static func += (a: inout GyroError, b: GyroError) { a = a + b }

    @inline(always) @_noLocks @_noAllocation
    static func -= (a: inout GyroError, b: GyroError) { a = a - b }

    @inline(always) @_noLocks @_noAllocation
    func dot(_ b: GyroError) -> Double { bias.dot(b.bias) + scale.dot(b.scale) }
}

/// The covariance matrix of a `GyroError`: 21 elements in blocks. The name of a block contains the
/// initials of two errors: bias, scale.
struct GyroCovariance: Sendable, BitwiseCopyable {
    var bb: Symmetric3
    var bs: Matrix3 = .zero
    var ss: Symmetric3

    /// Creates the covariance of uncorrelated errors from two variances: bias, (rad/s)²; scale
    /// error, dimensionless.
    @_noLocks @_noAllocation
    init(bias: Double, scale: Double) {
        bb = Symmetric3(diagonal: bias)
        ss = Symmetric3(diagonal: scale)
    }

    @inline(always) @_noLocks @_noAllocation
    static func * (c: GyroCovariance, v: GyroError) -> GyroError {
        GyroError(
            bias: c.bb * v.bias + c.bs * v.scale,
            scale: c.bs.transposedTimes(v.bias) + c.ss * v.scale)
    }

    /// Subtracts the matrix `s v vᵀ`.
    @inline(always) @_noLocks @_noAllocation
    mutating func subtractOuter(_ v: GyroError, times s: Double) {
        bb.subtractOuter(v.bias, times: s)
        bs.subtractOuter(v.bias, v.scale, times: s)
        ss.subtractOuter(v.scale, times: s)
    }

    /// Replaces the variance of the bias, and removes the correlation of the bias with all other
    /// errors.
    ///
    /// - Parameter variance: Variance of the bias on each axis, (rad/s)².
    @_noLocks @_noAllocation
    mutating func restartBias(variance: Double) {
        bb = Symmetric3(diagonal: variance)
        bs = .zero
    }

    /// Covariance of all errors with the bias about one body axis.
    ///
    /// - Parameter axis: Index of the body axis, 0...2.
    /// - Returns: Covariances of all errors with the bias about the given axis.
    @_noLocks @_noAllocation
    func biasColumn(_ axis: Int) -> GyroError {
        switch axis {
        case 0: GyroError(bias: Vector3(bb.xx, bb.xy, bb.xz), scale: bs.rowX)
        case 1: GyroError(bias: Vector3(bb.xy, bb.yy, bb.yz), scale: bs.rowY)
        default: GyroError(bias: Vector3(bb.xz, bb.yz, bb.zz), scale: bs.rowZ)
        }
    }
}

extension Vector3 {
    /// The component with index 0...2.
    @inline(always) @_noLocks @_noAllocation
    func component(_ axis: Int) -> Double { axis == 0 ? x : axis == 1 ? y : z }
}
