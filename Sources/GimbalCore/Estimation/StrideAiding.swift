import CMathShim

/// What whole strides of somebody who walks say about the vertical.
///
/// "Velocity is zero" is good to 0.4 m/s for whoever carries a camera. Between two moments one
/// stride apart it is the same to some cm/s: the specific force, integrated over the stride, is
/// gravity's and nothing else, and what remains along the horizontal is tilt, and bias that became
/// tilt. That is one more measurement of the attitude filter. It knows within two strides what
/// "velocity is zero" takes five seconds for, and takes a walker's steps out of the estimate later
/// on.
///
/// The period is where the specific force differs least from itself (the difference function of de
/// Cheveigné & Kawahara, "YIN", J. Acoust. Soc. Am. 111, 2002): force, because motors that hold the
/// camera leave no rate to look at, and differences, because the tilt that is looked for is in
/// both. How much is left of them says what the measurement is worth; whoever does not walk is not
/// measured at all.
///
/// All sums are kept in a frame of their own, which the gyroscope carries from the start with the
/// bias believed then: no later correction has to be applied to what was summed before. Its
/// vertical leans over as that bias turns out to be wrong, and its sums lose digits; then it begins
/// again.
///
/// Loop thread only; constant time, of which most passes once in 40 ms.
public struct StrideAiding: Sendable, BitwiseCopyable {
    /// Seconds of a stride; nil = the motion does not repeat itself, or strides are not used.
    private(set) var period: Double?

    /// Between two entries of `past`, s.
    private static var spacing: Double { @_noLocks @inline(__always) get { 0.04 } }
    /// Strides of 0.64...1.68 s: from running (2.8 steps a second) to strolling. One lag more on
    /// each side shows a minimum.
    private static var shortest: Int { @_noLocks @inline(__always) get { 15 } }
    private static var lags: Int { @_noLocks @inline(__always) get { 29 } }
    /// Share of a stride that must have come back before it is believed.
    private static var leastOverlap: Double { @_noLocks @inline(__always) get { 0.4 } }
    /// A stride differs from the one before by at most this share of what two moments differ by.
    private static var mostDifference: Double { @_noLocks @inline(__always) get { 0.15 } }
    /// Less motion than this is not looked at, mean square of the specific force less its mean,
    /// (m/s²)².
    private static var leastMotion: Double { @_noLocks @inline(__always) get { 0.1 } }
    /// Over which differences are forgotten, s.
    private static var memory: Double { @_noLocks @inline(__always) get { 2 } }
    /// By how much the velocity of someone who walks steadily differs between two strides, m/s: 2 %
    /// of walking speed (Hausdorff, "Gait dynamics, fractals and falls", Human Movement Science 26,
    /// 2007: 1...3 % of the stride's time).
    private static var velocitySigma: Double { @_noLocks @inline(__always) get { 0.02 } }
    /// A difference of forces times this is one of velocities, s: a sine's at 1.6 Hz, between
    /// stride and step.
    private static var differenceTime: Double { @_noLocks @inline(__always) get { 0.1 } }
    /// How far the own vertical may lean: cosine of half a radian. The lever is then an eighth too
    /// short.
    private static var leastUpright: Double { @_noLocks @inline(__always) get { 0.88 } }
    /// How long sums are kept, s.
    private static var longest: Double { @_noLocks @inline(__always) get { 3600 } }

    /// What was summed until some moment.
    private struct Sums: Sendable, BitwiseCopyable {
        /// Since the start, s.
        var time = 0.0
        /// Integral of the specific force, m/s.
        var impulse = Vector3.zero
        /// Integral of `turned` times the vertical force, m.
        var lever = Matrix3.zero

        @_noLocks
        init() {}
    }

    /// The estimator's frame that `orientation` is in; in another one everything begins again.
    private var frame = UInt64.max
    private var firstBias = Vector3.zero
    /// Body to the own frame.
    private var attitude = Quaternion.identity
    /// Body to earth and bias at the end of the last period, corrections included.
    private var orientation = Quaternion.identity
    private var bias = Vector3.zero
    private var sums = Sums()
    /// Integral of `attitude` as a matrix, s: what an error of the bias has turned by now.
    private var turned = Matrix3.zero
    private var past = InlineArray<64, Sums>(repeating: Sums())
    /// Specific force between two entries of `past`, m/s².
    private var forces = InlineArray<64, Vector3>(repeating: .zero)
    private var taken = 0
    private var differences = InlineArray<29, Double>(repeating: 0)
    private var difference = 0.0
    private var meanForce = Vector3.zero
    private var meanSquare = 0.0

    /// Nothing seen yet.
    @_noLocks
    public init() {}

    /// Corrects the estimator where a filter period has ended with the last sample: to be called
    /// after each `update`.
    ///
    /// - Parameter estimator: Always the same one. Beside it and not in it, because this is 8 kB
    ///   and estimators are copied.
    @_noLocks @_noAllocation
    public mutating func follow(_ estimator: inout AttitudeEstimator) {
        guard let ended = estimator.ended else { return }
        guard estimator.parameters.usesStrides else {
            period = nil
            return
        }
        guard frame == estimator.frame, isUpright, sums.time < Self.longest else {
            return begin(estimator)
        }
        add(ended)
        if sums.time - past[(taken &- 1) & 63].time >= Self.spacing - 0.5 * ended.duration {
            take()
            if !estimator.isAtRest, let stride = lastStride() { estimator.correct(stride) }
        }
        orientation = estimator.orientation
        bias = estimator.bias
    }

    private mutating func begin(_ estimator: AttitudeEstimator) {
        self = StrideAiding()
        frame = estimator.frame
        firstBias = estimator.bias
        bias = estimator.bias
        attitude = estimator.orientation
        orientation = estimator.orientation
    }

    private var isUpright: Bool {
        @inline(__always) get {
            let toEarth = orientation * attitude.conjugate
            return 1 - 2 * (toEarth.x * toEarth.x + toEarth.y * toEarth.y) > Self.leastUpright
        }
    }

    /// One filter period.
    private mutating func add(_ ended: AttitudeEstimator.EndedPeriod) {
        let impulse = (attitude * orientation.conjugate).rotate(ended.impulse)
        let turn =
            orientation.conjugate * ended.orientation
            * AttitudeEstimator.rotation((bias - firstBias) * ended.duration)
        attitude = (attitude * turn).normalized
        turned.add(Matrix3(attitude), times: ended.duration)
        sums.time += ended.duration
        sums.impulse += impulse
        sums.lever.add(turned, times: impulse.z)
    }

    /// Keeps the sums, and looks for the period.
    private mutating func take() {
        let last = past[(taken &- 1) & 63]
        let force = (sums.impulse - last.impulse) / (sums.time - last.time)
        past[taken & 63] = sums
        forces[taken & 63] = force
        taken += 1
        let share = max(1 / Double(taken), Self.spacing / Self.memory)
        meanForce += (force - meanForce) * share
        meanSquare += (force.squaredNorm - meanSquare) * share
        var best = 0
        var least = Double.infinity
        var i = 0
        while i < Self.lags, taken > Self.shortest + i {
            let lag = Self.shortest + i
            let seen = Double(taken - lag)
            let change = (force - forces[(taken - 1 - lag) & 63]).squaredNorm
            differences[i] +=
                (change - differences[i]) * max(1 / seen, Self.spacing / Self.memory)
            // Two strides differ as little as one.
            let value = differences[i] * (1 + 0.005 * Double(i))
            if seen > Self.leastOverlap * Double(lag), value < least {
                best = i
                least = value
            }
            i += 1
        }
        period = minimum(at: best)
    }

    /// The period where the differences have a minimum that is low enough.
    private mutating func minimum(at i: Int) -> Double? {
        guard i > 0, i + 1 < Self.lags, taken > Self.shortest + i + 1 else { return nil }
        let motion = meanSquare - meanForce.squaredNorm
        difference = differences[i]
        let (left, right) = (differences[i - 1], differences[i + 1])
        guard motion > Self.leastMotion, difference < 2 * motion * Self.mostDifference,
            left > difference, right > difference
        else { return nil }
        let vertex = 0.5 * (left - right) / (left - 2 * difference + right)
        let lag = Self.shortest + i
        let spacing = (sums.time - past[(taken - 1 - lag) & 63].time) / Double(lag)
        return (Double(lag) + vertex) * spacing
    }

    /// What the last stride has summed up.
    private mutating func lastStride() -> Stride? {
        guard let period else { return nil }
        let start = sums.time - period
        var i = taken - 1
        while i > 0, past[i & 63].time > start { i -= 1 }
        let (here, there) = (past[i & 63], past[(i + 1) & 63])
        let share = (start - here.time) / (there.time - here.time)
        var lever = Matrix3.zero
        let impulse =
            sums.impulse - here.impulse - (there.impulse - here.impulse) * share
        lever.add(turned, times: impulse.z)
        lever.add(sums.lever, times: -1)
        lever.add(here.lever, times: 1 - share)
        lever.add(there.lever, times: share)
        let sigma = Self.velocitySigma + Self.differenceTime * cm_sqrt(difference)
        // A stride counts once, in as many parts as there are others that overlap it.
        return Stride(
            impulse: impulse, lever: lever, attitude: attitude, firstBias: firstBias,
            variance: sigma * sigma * period / Self.spacing)
    }
}

/// One stride, in a frame that was never corrected.
struct Stride: Sendable, BitwiseCopyable {
    /// Integral of the specific force, m/s.
    var impulse: Vector3
    /// What an error of the bias, constant over the stride, has done to that: times the error it is
    /// a turn times a vertical force, m.
    var lever: Matrix3
    /// Body to that frame, at the stride's end.
    var attitude: Quaternion
    /// The bias that the frame was carried with, rad/s.
    var firstBias: Vector3
    /// Of the change of the velocity along each horizontal, m²/s².
    var variance: Double
}

extension AttitudeEstimator {
    /// "The velocity is what it was one stride ago", along both horizontals.
    @inline(never) @_noLocks @_noAllocation
    mutating func correct(_ stride: Stride) {
        let x = inEarth(stride)
        let columnX = covariance.column(tiltX: 0, tiltY: x.impulse.z, bias: x.leverY)
        correct(
            columnX, innovation: -x.impulse.x,
            variance: columnX.tiltY * x.impulse.z + columnX.gyro.bias.dot(x.leverY)
                + stride.variance,
            limit: 3)
        let y = inEarth(stride)
        let columnY = covariance.column(tiltX: -y.impulse.z, tiltY: 0, bias: -y.leverX)
        correct(
            columnY, innovation: -y.impulse.y,
            variance: -columnY.tiltX * y.impulse.z - columnY.gyro.bias.dot(y.leverX)
                + stride.variance,
            limit: 3)
    }

    /// Impulse, with the present bias, and lever in the earth frame as it is believed now.
    @inline(__always)
    private func inEarth(
        _ stride: Stride
    ) -> (impulse: Vector3, leverX: Vector3, leverY: Vector3) {
        let toEarth = orientation * stride.attitude.conjugate
        let leverX = stride.lever.transposedTimes(toEarth.inverseRotate(Vector3(1, 0, 0)))
        let leverY = stride.lever.transposedTimes(toEarth.inverseRotate(Vector3(0, 1, 0)))
        let change = bias - stride.firstBias
        var impulse = toEarth.rotate(stride.impulse)
        impulse.x += leverY.dot(change)
        impulse.y -= leverX.dot(change)
        return (impulse, leverX, leverY)
    }
}
