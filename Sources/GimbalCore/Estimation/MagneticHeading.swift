import CMathShim

/// Estimator of the magnetic heading: the angle about the vertical from the attitude's heading to
/// magnetic north.
///
/// The attitude from gyroscope and accelerometer rotates the measured field into the earth frame.
/// In the earth frame, the magnitudes of the field's horizontal and vertical components do not
/// depend on the heading. The two components are compared with a slowly updated reference; a
/// deviation counts as a magnetic disturbance. A disturbance can also rotate the measured heading,
/// and this rotation cannot be detected. The estimator assumes that the undetected disturbance is
/// as large as the detected deviation, and increases the heading's measurement noise accordingly.
/// Therefore the weight of the measured field decreases gradually near iron and magnets, without a
/// threshold.
struct MagneticHeading: Sendable, BitwiseCopyable {
    /// Angle from the attitude's heading to magnetic north, rad.
    private(set) var offset = 0.0
    /// Variance of `offset`, rad².
    private(set) var variance = Double.pi * Double.pi
    /// Weight of the last measurement relative to the weight of an undisturbed measurement, 0...1.
    private(set) var weight = 0.0
    private var referenceHorizontal = 0.0
    private var referenceVertical = 0.0
    private var age = 0.0
    private var sum: Vector3 = .zero
    private var duration = 0.0
    private var drift = 0.0

    @_noLocks @_noAllocation
    init() {}

    /// Adds one sample to the period.
    ///
    /// - Parameters:
    ///   - field: Magnetic field in the earth frame of the attitude, in any unit.
    ///   - drift: Increase of the heading's variance since the previous sample, rad².
    ///   - dt: Seconds since the previous sample.
    ///   - period: Length of the period, s.
    /// - Returns: True if the period is complete; the caller must then call `step`.
    @_noLocks @_noAllocation
    mutating func add(field: Vector3, drift: Double, dt: Double, period: Double) -> Bool {
        sum += field * dt
        self.drift += drift
        duration += dt
        return duration >= AttitudeEstimator.wholePeriod * period
    }

    /// Largest variance of the heading, rad²: an unknown heading has a variance of about 3 rad².
    private static var mostVariance: Double { @_noLocks @_noAllocation get { 10 } }
    /// Smallest horizontal field with a direction, µT, or the sensor's unit.
    private static var leastField: Double { @_noLocks @_noAllocation get { 1e-3 } }
    /// Largest usual innovation, standard deviations. The influence of a larger innovation does not
    /// grow further (Huber).
    private static var usualInnovation: Double { @_noLocks @_noAllocation get { 3 } }

    /// Ends a period with one scalar Kalman update of the heading.
    @_noLocks @_noAllocation
    mutating func step(isZUp: Bool, parameters: AttitudeEstimator.Parameters) {
        let field = sum / duration
        let elapsed = duration
        variance = min(variance + drift, Self.mostVariance)
        restartPeriod()
        let horizontal = cm_sqrt(field.x * field.x + field.y * field.y)
        guard horizontal > Self.leastField else { return }
        let deviation = learn(horizontal: horizontal, vertical: field.z, elapsed, parameters)
        let measured = isZUp ? cm_atan2(field.x, field.y) : cm_atan2(-field.y, field.x)
        let sigma = parameters.magneticHeadingSigma
        let single = sigma * sigma + deviation * deviation
        let noise = single * 2 * parameters.magneticCorrelationTime
        weight = sigma * sigma / (sigma * sigma + deviation * deviation)
        // After a long pause, the period contains one sample, which is not better than one sample.
        let total = variance + max(noise / elapsed, single)
        let arc = Angle(radians: offset).shortestArc(to: Angle(radians: measured)).radians
        let square = arc * arc / total
        let isUnusual = square > Self.usualInnovation * Self.usualInnovation
        let gain =
            variance / (isUnusual ? total * cm_sqrt(square) / Self.usualInnovation : total)
        offset += gain * arc
        variance *= 1 - gain
    }

    /// Adapts the offset to a rotation of the earth frame about the vertical by `angle`, rad.
    @_noLocks @_noAllocation
    mutating func turnEarthFrame(by angle: Double) {
        offset -= angle
        restartPeriod()
    }

    /// Resets the variance of the heading, because the attitude's heading has changed. The
    /// reference field does not change.
    @_noLocks @_noAllocation
    mutating func forgetHeading() {
        variance = Double.pi * Double.pi
        restartPeriod()
    }

    @_noLocks @_noAllocation
    private mutating func restartPeriod() {
        sum = .zero
        duration = 0
        drift = 0
    }

    /// Updates the reference field. The larger the deviation of the measured field, the more slowly
    /// the reference changes.
    ///
    /// - Returns: Heading error, rad, if the whole deviation were a horizontal disturbance across
    ///   the field.
    @_noLocks @_noAllocation
    private mutating func learn(
        horizontal: Double, vertical: Double, _ elapsed: Double,
        _ parameters: AttitudeEstimator.Parameters
    ) -> Double {
        age += elapsed
        if referenceHorizontal == 0 {
            referenceHorizontal = horizontal
            referenceVertical = vertical
        }
        let dh = horizontal - referenceHorizontal
        let dv = vertical - referenceVertical
        let deviation = cm_sqrt(dh * dh + dv * dv) / max(referenceHorizontal, Self.leastField)
        let sigma = parameters.magneticHeadingSigma
        let trust = sigma * sigma / (sigma * sigma + deviation * deviation)
        // At first, the reference is the mean of all measurements; later, it is the output of a
        // low-pass.
        let time = min(age, parameters.magneticReferenceTime)
        let gain = trust * elapsed / (time + elapsed)
        referenceHorizontal += dh * gain
        referenceVertical += dv * gain
        return deviation
    }
}
