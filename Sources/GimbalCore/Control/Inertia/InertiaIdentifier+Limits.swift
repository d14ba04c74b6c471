// Limits and thresholds of the identification.
extension InertiaIdentifier {
    /// Lower and upper bound of the inertia estimate, kg·m².
    static var smallest: Double { @_noLocks get { 1e-5 } }
    static var largest: Double { @_noLocks get { 10 } }
    /// Smallest plausible acceleration of the camera at the motor's full torque, rad/s². Smaller
    /// accelerations are elastic responses of a joint held by static friction.
    static var weakest: Double { @_noLocks get { 8 } }
    /// Duration of one measurement of the inertia, s.
    static var blockSeconds: Double { @_noLocks get { 0.25 } }
    /// Largest standard deviation of the inertia's natural logarithm at which the gains are full.
    /// The stability margins cover this uncertainty.
    static var knownSigma: Double { @_noLocks get { 0.12 } }
    /// Standard deviation of the inertia's natural logarithm due to elastic friction and timing.
    static var modelSigma: Double { @_noLocks get { 0.1 } }
    /// Largest angle of the camera's motion due to the probe, rad.
    static var largestAngle: Double { @_noLocks get { 0.7 * .pi / 180 } }
    /// Ratio of the probe's full frequency to its frequency during the search for the delay.
    static var descent: Double { @_noLocks get { 3 } }
    /// Largest number of measurements without a result at full frequency in one search.
    static var mostRounds: Int { @_noLocks get { 16 } }
    /// Largest number of measurements at the low frequency in one search.
    static var mostSlowRounds: Int { @_noLocks get { 6 } }
    /// Pause of the probe after a search without a result, s.
    static var silence: Double { @_noLocks get { 10 } }

    /// Initial and largest amplitude of the probe, as a fraction of the motor's torque limit.
    static var leastProbe: Double { @_noLocks get { 0.03 } }
    static var mostProbe: Double { @_noLocks get { 0.5 } }
    /// Largest ratio of disturbance to response at which the response is considered clear.
    static var clear: Double { @_noLocks get { 0.25 } }
    /// Largest difference between the magnitudes of two agreeing responses, as natural logarithm.
    static var sameSize: Double { @_noLocks get { 0.2 } }
    /// Largest phase difference between two agreeing responses, rad. Drift of the sensor's clock
    /// can shift a phase by half a control period.
    static var samePhase: Double { @_noLocks get { 0.3 } }
    /// Smallest ratio of two probe amplitudes at which their responses are considered independent.
    static var otherProbe: Double { @_noLocks get { 1.4 } }
    /// Smallest angle of the camera that proves sliding friction, as a fraction of `largestAngle`.
    static var brokenAway: Double { @_noLocks get { 0.25 } }
    /// Smallest difference between measured and assumed delay that is corrected, s.
    static var otherDelay: Double { @_noLocks get { 0.001 } }
    /// Longest delay in addition to `loopDelay` that can be measured, s.
    static var latestDelay: Double { @_noLocks get { 0.015 } }
    /// Threshold of the absolute phase for a reversed response at the low frequency, rad.
    static var uprightPhase: Double { @_noLocks get { 2 } }
    /// Threshold of the absolute phase for a reversed response at full frequency, rad.
    static var reversedPhase: Double { @_noLocks get { .pi - 0.35 } }
    /// Largest plausible phase lag of the response at full frequency, rad.
    static var latestPhase: Double { @_noLocks get { 1.2 } }
    /// Largest ratio of quadrature part to in-phase part for an exactly inverted response. With an
    /// additional delay of 10 ms, the ratio of quadrature part to in-phase part is larger.
    static var exactness: Double { @_noLocks get { 0.35 } }
    /// Smallest factor of a change of the amplitude. One disturbed measurement must not end the
    /// probe.
    static var leastScale: Double { @_noLocks get { 0.1 } }
    /// Limits of the phase that inertia and friction, with about the assumed delay, can cause, rad.
    static var plausiblePhases: (lowest: Double, highest: Double) {
        @_noLocks get { (-0.8, 1) }
    }
    /// Standard deviation of the inertia's natural logarithm per ratio of friction to accelerating
    /// torque. While the joint begins to slide, friction is half elastic: the error is as large as
    /// the ratio; later it is much smaller.
    static var frictionError: Double { @_noLocks get { 0.5 } }
    /// Smallest angle by which the formula divides, rad, so that an unmoved camera gives a finite
    /// amplitude.
    static var leastAngle: Double { @_noLocks get { 1e-9 } }
}
