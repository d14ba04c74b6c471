internal import CMathShim

/// Assumption about the axes of a camera whose inertia has not been measured yet. Before the first
/// measurement the configured inertia applies.
enum UnmeasuredInertia {
    /// Standard deviation of the natural logarithm of an assumed inertia. Two standard deviations
    /// are a factor of four.
    static var sigma: Double { @_noLocks get { 0.7 } }

    /// Completes the inertia of a camera: an axis that has not been measured has the mean ratio of
    /// measured to configured inertia of the others (geometric mean).
    ///
    /// - Parameters:
    ///   - measured: Measured inertia about the camera's axes, kg·m²; NaN if unknown.
    ///   - first: Configured inertia, kg·m².
    /// - Returns: Measured or assumed inertia, kg·m².
    @_noLocks
    static func completed(_ measured: AxisVector, first: AxisVector) -> AxisVector {
        let mean = meanRatio(
            AxisVector(
                yaw: measured.yaw / first.yaw, roll: measured.roll / first.roll,
                pitch: measured.pitch / first.pitch))
        return measured.filled(from: first * mean)
    }

    /// Geometric mean of the ratios that are not NaN; 1 if all are NaN.
    @_noLocks
    static func meanRatio(_ ratios: AxisVector) -> Double {
        let (yaw, roll, pitch) = (cm_log(ratios.yaw), cm_log(ratios.roll), cm_log(ratios.pitch))
        let sum = (yaw.isNaN ? 0 : yaw) + (roll.isNaN ? 0 : roll) + (pitch.isNaN ? 0 : pitch)
        let count = (yaw.isNaN ? 0.0 : 1) + (roll.isNaN ? 0 : 1) + (pitch.isNaN ? 0 : 1)
        return count > 0 ? cm_exp(sum / count) : 1
    }
}
