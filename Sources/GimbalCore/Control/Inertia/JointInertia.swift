internal import CMathShim

/// Camera's inertia about its own axes, from inertias that were measured about the joints' axes.
///
/// A motor turns the camera about its joint's axis. In a tilted pose, this axis is not one of the
/// camera's axes: if the camera points straight down, the roll motor turns the camera about the
/// camera's yaw axis. Each measurement determines a mean of the reciprocal inertias about the
/// camera's axes, whose weights depend on the pose (`JointKinematics.weights`). The estimate is the
/// least-squares solution for the logarithms, with the configured ratios of the axes as prior
/// knowledge. At a pitch of 45°, roll and yaw measure the same mean; their ratio is then the
/// configured ratio.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct JointInertia: Sendable, BitwiseCopyable {
    /// Measured inertia about each joint's axis, kg·m²; NaN if it has not been measured.
    private(set) var measured = AxisVector.unknown
    /// Weights of each measurement, about the camera's axes.
    private var weights = PerAxis(Vector3.zero)

    /// Standard deviation of the natural logarithm of a measurement: 15 %.
    private static var measuredSigma: Double { @_noLocks get { 0.15 } }
    /// Standard deviation of the natural logarithm of the ratio of two axes, relative to the
    /// configured ratio.
    private static var priorSigma: Double { @_noLocks get { 0.5 } }
    /// Number of Gauss-Newton iterations, because the measurements are not linear in the logarithms.
    private static var passes: Int { @_noLocks get { 4 } }

    @_noLocks
    init() {}

    /// The joints about whose axes the inertia has been measured.
    var found: AxisSet {
        @_noLocks get {
            AxisSet(
                yaw: !measured.yaw.isNaN, roll: !measured.roll.isNaN, pitch: !measured.pitch.isNaN)
        }
    }

    /// Stores the inertia about a joint's axis, kg·m², which was measured in the pose `kinematics`.
    @_noLocks
    mutating func note(_ inertia: Double, _ axis: GimbalAxis, in kinematics: JointKinematics) {
        measured[axis] = inertia
        let mean = kinematics.weights(axis)
        switch axis {
        case .yaw: weights.yaw = mean
        case .roll: weights.roll = mean
        case .pitch: weights.pitch = mean
        }
    }

    /// Multiplies the measured inertias by the ratios `factor`.
    @_noLocks
    mutating func scale(by factor: AxisVector) { measured = measured * factor }

    /// Estimates the inertia about the camera's axes.
    ///
    /// - Parameter first: Configured inertia about the camera's axes, kg·m².
    /// - Returns: Inertia about the camera's axes, kg·m², and the standard deviations of its natural
    ///   logarithm; `first` and `priorSigma` without a measurement.
    @_noLocks
    func camera(first: AxisVector) -> (values: AxisVector, sigmas: AxisVector) {
        let prior = prior(first: first)
        var solution = Solution()
        for _ in 0..<Self.passes {
            let point = solution.logarithms
            solution = Solution()
            solution.correct(measured.yaw, weights.yaw, prior: prior, at: point)
            solution.correct(measured.roll, weights.roll, prior: prior, at: point)
            solution.correct(measured.pitch, weights.pitch, prior: prior, at: point)
        }
        let (logarithms, variances) = (solution.logarithms, solution.covariance.diagonal)
        return (
            AxisVector(
                yaw: cm_exp(-logarithms.z) / prior.z, roll: cm_exp(-logarithms.x) / prior.x,
                pitch: cm_exp(-logarithms.y) / prior.y),
            AxisVector(
                yaw: cm_sqrt(variances.z), roll: cm_sqrt(variances.x), pitch: cm_sqrt(variances.y))
        )
    }

    /// Reciprocals of the inertias about the camera's axes x, y and z (roll, pitch and yaw), 1/(kg·m²),
    /// with the configured ratios and the mean of the measurements.
    private func prior(first: AxisVector) -> Vector3 {
        let configured = Vector3(1 / first.roll, 1 / first.pitch, 1 / first.yaw)
        let ratios = measured * weights.map { $0.dot(configured) }
        return configured * (1 / UnmeasuredInertia.meanRatio(ratios))
    }

    /// Solution of one iteration.
    private struct Solution {
        /// Logarithms of the ratios of the reciprocal inertias to their prior values.
        var logarithms = Vector3.zero
        var covariance = Symmetric3(diagonal: JointInertia.priorSigma * JointInertia.priorSigma)

        /// Adds a measurement, linearised at the logarithms `point`; ignored if it is NaN.
        mutating func correct(
            _ inertia: Double, _ weights: Vector3, prior: Vector3, at point: Vector3
        ) {
            guard !inertia.isNaN else { return }
            let ratio = Vector3(cm_exp(point.x), cm_exp(point.y), cm_exp(point.z))
            let parts = weights.scaled(by: prior).scaled(by: ratio)
            let total = parts.x + parts.y + parts.z
            let slope = parts * (1 / total)
            let spread = covariance * slope
            let sigma = JointInertia.measuredSigma
            let variance = slope.dot(spread) + sigma * sigma
            let lacking = -cm_log(inertia * total) - slope.dot(logarithms - point)
            logarithms += spread * (lacking / variance)
            covariance.subtractOuter(spread, times: 1 / variance)
        }
    }
}
