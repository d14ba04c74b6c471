/// Measurement of the camera's inertia about one joint by a small oscillation.
///
/// The amplitude of a torque at 8 Hz grows until the gyroscope measures a swing of a quarter of a
/// degree. A hand moves at lower frequencies, and the loop delay has an effect only at higher
/// frequencies. Expected and measured acceleration are filtered by identical band-passes. The
/// regression slope of measured against expected acceleration is the ratio of assumed to true
/// inertia. The slope is determined by least squares. The direction of motion is a second
/// regressor, for the friction.
///
/// Runs on the loop thread only, in constant time.
struct InertiaProbe: Sendable, BitwiseCopyable {
    /// Frequency of the test swing, rad/s.
    private static var frequency: Double { @_noLocks get { 2 * Double.pi * 8 } }
    /// Rate of the camera at which the amplitude stops growing, rad/s.
    private static var enough: Double { @_noLocks get { 0.2 } }
    /// Time constant with which the largest recent rate is forgotten, s: about one swing. A motion
    /// that the test swing has not caused then stops the growth for a short time only.
    private static var swungMemory: Double { @_noLocks get { 0.1 } }
    /// Rise time of the amplitude from zero to its bound, s, if the camera does not reach the rate
    /// `enough`.
    private static var growth: Double { @_noLocks get { 0.35 } }
    /// Total duration of the measurement, s: four swings.
    static var duration: Double { @_noLocks get { 0.5 } }

    /// Ratio of measured to expected acceleration, which is the ratio of assumed to true inertia.
    private(set) var scale = 1.0
    /// True if `scale` has been measured.
    private(set) var isKnown = false

    private var time = 0.0
    private var amplitude = 0.0
    /// Largest recent rate of the camera at the frequency of the test swing, rad/s.
    private var swung = 0.0
    // Band-pass (state-variable filter) of the measured rate and of the expected acceleration.
    private var rateBand = 0.0
    private var rateLow = 0.0
    private var expectedBand = 0.0
    private var expectedLow = 0.0
    private var frictionBand = 0.0
    private var frictionLow = 0.0
    // Sums of products for the least-squares fit. x = acceleration due to the motor, s = direction
    // of motion (for the friction), y = measured acceleration.
    private var sumXX = 0.0
    private var sumXS = 0.0
    private var sumSS = 0.0
    private var sumXY = 0.0
    private var sumSY = 0.0
    private var sumYY = 0.0

    /// Creates a probe without a result.
    @_noLocks
    init() {}

    /// Starts the test swing again and clears the measured ratio.
    @_noLocks
    mutating func begin() { self = InertiaProbe() }

    /// True if the test swing is in progress.
    var isRunning: Bool { @_noLocks get { time < Self.duration } }

    /// Rate at which the model of the friction reaches half of the sliding friction, rad/s. A
    /// smooth model avoids a jump at every noisy zero of the rate.
    private static var slidingRate: Double { @_noLocks get { 0.03 } }

    /// Direction of the sliding friction of each joint, -1...1, at the given rates of the joints,
    /// rad/s.
    @_noLocks
    static func slide(_ rates: AxisVector) -> AxisVector {
        AxisVector(
            yaw: rates.yaw / (abs(rates.yaw) + slidingRate),
            roll: rates.roll / (abs(rates.roll) + slidingRate),
            pitch: rates.pitch / (abs(rates.pitch) + slidingRate))
    }

    /// Updates the measurement with the signals of one control period, and computes the next torque
    /// of the test swing.
    ///
    /// - Parameters:
    ///   - measured: Rate of the camera about one of its axes, rad/s.
    ///   - expected: Acceleration by the motor at the sampling instant of the gyroscope, for the
    ///     assumed inertia, rad/s².
    ///   - slide: Signal that is proportional to the joints' friction (see `slide(_:)`).
    ///   - bound: Largest acceleration that can be requested, for the assumed inertia, rad/s².
    ///   - sine: Sine of the phase of the test swing.
    ///   - dt: Time since the previous control period, s.
    /// - Returns: Acceleration to request, for the assumed inertia, rad/s².
    @_noLocks
    mutating func step(
        measured: Double, expected: Double, slide: Double, bound: Double, sine: Double, dt: Double
    ) -> Double {
        time += dt
        let w = Self.frequency
        let high = measured - rateBand - rateLow
        rateBand += w * dt * high
        rateLow += w * dt * rateBand
        expectedBand += w * dt * (expected - expectedBand - expectedLow)
        expectedLow += w * dt * expectedBand
        frictionBand += w * dt * (slide - frictionBand - frictionLow)
        frictionLow += w * dt * frictionBand
        let y = w * high
        sumXS += expectedBand * frictionBand
        sumSS += frictionBand * frictionBand
        sumSY += frictionBand * y
        sumXX += expectedBand * expectedBand
        sumXY += expectedBand * y
        sumYY += y * y
        swung = max(abs(rateBand), swung * (1 - min(dt / Self.swungMemory, 1)))
        if swung < Self.enough { amplitude = min(amplitude + bound * dt / Self.growth, bound) }
        if !isRunning { conclude() }
        return amplitude * sine
    }

    /// Phase of the test swing `time` seconds after its beginning, rad. The test swing has the same
    /// phase on all joints.
    @_noLocks
    static func phase(at time: Double) -> Double { frequency * time }

    /// Smallest determinant of the fit relative to its largest possible value. Below it, friction
    /// and acceleration are proportional, and cannot be separated.
    private static var leastDeterminant: Double { @_noLocks get { 1e-9 } }
    /// Lower bound of the measured ratio: a camera with 20 times the configured inertia.
    private static var leastScale: Double { @_noLocks get { 0.05 } }
    /// Upper bound of the measured ratio: a camera with a thirtieth of the configured inertia.
    private static var mostScale: Double { @_noLocks get { 30 } }

    private mutating func conclude() {
        let determinant = sumXX * sumSS - sumXS * sumXS
        guard determinant > Self.leastDeterminant * sumXX * sumSS else { return }
        let slope = (sumXY * sumSS - sumSY * sumXS) / determinant
        let friction = (sumSY * sumXX - sumXY * sumXS) / determinant
        // Motor and friction must explain at least half of the measured acceleration's sum of
        // squares. If the fit explains less, an end stop, a hand or static friction dominated the
        // motion.
        guard slope > 0, slope * sumXY + friction * sumSY > 0.5 * sumYY else { return }
        scale = min(max(slope, Self.leastScale), Self.mostScale)
        isKnown = true
    }
}
