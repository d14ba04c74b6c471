internal import CMathShim

/// Identification of the inertia of all three axes. The probes of the axes have different
/// frequencies, so they do not disturb each other.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct InertiaSearch: Sendable, BitwiseCopyable {
    private var axes: PerAxis<InertiaIdentifier>
    private var parameters = PerAxis(InertiaIdentifier.Parameters())
    /// Configured inertia, kg·m², valid until a probe contradicts this value; nil if the inertia
    /// must be identified.
    private var given: AxisVector?
    /// Last known value of the measured delay minus the assumed delay, s; NaN until the delay of an
    /// axis is known.
    private var lastDelay = Double.nan
    /// True if the probe checks a configured inertia when the outputs are switched on.
    private var isChecked = false
    /// The camera axes on which the probe has contradicted the configured inertia.
    private(set) var stale = AxisSet.none

    /// Initial standard deviation of the inertia's natural logarithm. A heavy camera has 70 times
    /// the inertia of a phone, so both are 1.5 standard deviations away from their geometric mean.
    private static var startSigma: Double { @_noLocks get { 1.4 } }
    /// Standard deviation of the inertia's natural logarithm after the outputs have been off. While
    /// the outputs are off, a person can swap the lens.
    private static var doubtSigma: Double { @_noLocks get { 0.5 } }
    /// Largest difference between identified and configured inertia that counts as agreement, as
    /// natural logarithm of their ratio. Elastic friction of a joint can cause a difference of up
    /// to 0.3, and the loop's margins tolerate this difference.
    private static var agreement: Double { @_noLocks get { 0.3 } }
    /// Increase of the standard deviation of the inertia's natural logarithm after an oscillation.
    /// The gains are thus reduced to one third, the correct value for a camera with one third of
    /// the estimated inertia.
    private static var suspicion: Double { @_noLocks get { 0.55 } }
    /// Largest standard deviation of the inertia's natural logarithm. At this standard deviation,
    /// the gains are reduced to about a hundredth.
    private static var mostSigma: Double { @_noLocks get { 2.5 } }
    /// Largest standard deviation of the inertia's natural logarithm at which the controller can
    /// follow a set-point.
    private static var readySigma: Double { @_noLocks get { 0.6 } }

    /// Frequencies of the probes, Hz. The differences between the probes' frequencies exceed the
    /// frequency resolution of a measurement.
    private static var frequencies: AxisVector {
        @_noLocks get { AxisVector(yaw: 42, roll: 47, pitch: 52) }
    }
    /// Largest delay error that the stability margins tolerate, s.
    private static var covered: Double { @_noLocks get { 0.0003 } }
    /// Longest loop delay for the full probe frequencies, s: the delay at a loop rate of 200 Hz.
    private static var swiftDelay: Double { @_noLocks get { 0.0075 } }
    /// Lower limit of the highest probe frequency, Hz; the lowest is then 2.5 Hz.
    private static var leastHighest: Double { @_noLocks get { 12.5 } }

    /// Creates a search with an initial estimate of the inertia.
    ///
    /// - Parameters:
    ///   - start: Initial estimate of the inertia about the camera's axes, kg·m².
    ///   - isKnown: True if the initial estimate is considered exact.
    ///   - isChecked: True if the probe also checks a known inertia whenever the outputs are
    ///     switched on.
    @_noLocks
    init(start: AxisVector, isKnown: Bool, isChecked: Bool = false) {
        if isKnown { given = start }
        self.isChecked = isChecked
        parameters.change {
            $0.start = start[$1]
            $0.startSigma = isKnown ? 0 : Self.startSigma
        }
        let parameters = parameters
        axes = PerAxis(InertiaIdentifier(parameters.yaw))
        axes.change { $0 = InertiaIdentifier(parameters[$1]) }
    }

    /// Estimated inertias, kg·m².
    var values: AxisVector {
        @_noLocks @inline(always) get {
            axes.map { $0.inertia }
        }
    }

    /// Standard deviations of the natural logarithm of each axis's inertia.
    var sigmas: AxisVector {
        @_noLocks @inline(always) get {
            axes.map { $0.sigma }
        }
    }

    /// Safe fraction of the full gains on each axis, 0...1.
    var caution: AxisVector {
        @_noLocks @inline(always) get {
            axes.map { $0.caution }
        }
    }

    /// Measured loop delay minus assumed loop delay, s: the mean of the axes. A small difference
    /// counts as 0, because the loop's margins cover this difference.
    var extraDelay: Double {
        @_noLocks @inline(always) get {
            let found = foundDelay
            // The delay is a property of the loop, not of the camera. Therefore the measured delay
            // remains valid when the inertia becomes uncertain.
            let mean = found.isNaN ? lastDelay : found
            guard !mean.isNaN else { return 0 }
            return mean < 0 ? min(0, mean + Self.covered) : max(0, mean - Self.covered)
        }
    }

    /// True if the loop's delay has been measured, or no probe will measure it.
    var isDelayKnown: Bool {
        @_noLocks @inline(always) get { !isProbing || !foundDelay.isNaN || !lastDelay.isNaN }
    }

    /// Measured loop delay minus assumed loop delay, s: the mean of the axes with known inertia;
    /// NaN if the inertia of all axes is unknown.
    private var foundDelay: Double {
        @_noLocks @inline(always) get {
            // All axes have the same delay. The mean excludes axes that have not responded to a
            // probe yet. For a configured inertia that no probe has checked, the assumed delay
            // applies.
            let known = axes.map { $0.isKnown ? 1 : 0 }
            let found = axes.map { $0.isKnown && !$0.extraDelay.isNaN ? $0.extraDelay : 0 }
            let count = known.yaw + known.roll + known.pitch
            return count > 0 ? (found.yaw + found.roll + found.pitch) / count : .nan
        }
    }

    /// The camera axes on which the search for the inertia has ended without a result.
    var abandoned: AxisSet {
        @_noLocks @inline(always) get {
            axes.axes { $0.hasGivenUp }
        }
    }

    /// True if the inertia of every axis is known well enough to follow a set-point.
    var isReady: Bool {
        @_noLocks @inline(always) get {
            axes.axes { $0.sigma > Self.readySigma }.isEmpty
        }
    }

    /// The camera axes with a reversed response to the probe.
    var reversed: AxisSet {
        @_noLocks @inline(always) get {
            axes.axes { $0.isReversed }
        }
    }

    /// True if a probe is active.
    var isProbing: Bool {
        @_noLocks @inline(always) get { !axes.axes { $0.isProbing }.isEmpty }
    }

    /// Starts the search before the outputs are switched on, unless the inertia is configured and
    /// need not be checked. Every earlier result about the motors' signs is discarded.
    @_noLocks
    mutating func begin(torqueLimit: AxisVector, loopDelay: Double) {
        // In a slow loop, the probe's frequency is reduced, because each period of the probe needs
        // enough ticks. The lowest of the three frequencies stays well above 0.
        let highest = max(
            Self.frequencies.pitch * min(1, Self.swiftDelay / loopDelay), Self.leastHighest)
        let shift = Self.frequencies.pitch - highest
        parameters.change {
            $0.torqueLimit = torqueLimit[$1]
            $0.loopDelay = loopDelay
            $0.frequency = Self.frequencies[$1] - shift
        }
        parameters.pitch.frequency = highest
        // While the outputs were off, a person may have swapped the load. For an identified
        // inertia, the standard deviation is increased to allow for another lens; for a configured
        // inertia that is checked, to allow for any other camera.
        let sigma = given == nil ? Self.doubtSigma : isChecked ? Self.startSigma : 0
        let parameters = parameters
        axes.change { $0.raiseSigma(sigma: sigma, parameters: parameters[$1]) }
    }

    /// Marks the inertia of the oscillating axes as more uncertain, which reduces the gains, and
    /// starts a new search. The cause of an oscillation can be an error that affects all axes.
    /// Therefore the inertia of the other axes is also marked as uncertain, but only once.
    @_noLocks
    mutating func increaseUncertainty(_ swinging: AxisSet) {
        let parameters = parameters
        axes.change { Self.increaseUncertainty(&$0, swinging.contains($1), parameters[$1]) }
    }

    private static func increaseUncertainty(
        _ axis: inout InertiaIdentifier, _ isSwinging: Bool,
        _ parameters: InertiaIdentifier.Parameters
    ) {
        if isSwinging { axis.suspect() }
        let once = InertiaIdentifier.knownSigma + suspicion
        guard isSwinging || axis.sigma < once else { return }
        let sigma = max(axis.sigma, InertiaIdentifier.knownSigma) + suspicion
        axis.raiseSigma(sigma: min(sigma, isSwinging ? mostSigma : once), parameters: parameters)
    }

    /// Takes a change of the assumed delay into account, s. The loop's delay itself has not changed,
    /// so a measured delay remains valid.
    @_noLocks
    mutating func changeAssumedDelay(by change: Double) {
        lastDelay -= change
        parameters.change { parameters, _ in parameters.loopDelay += change }
        axes.change { axis, _ in axis.changeAssumedDelay(by: change) }
    }

    /// Adapts a running search to a change of the motors' torque limit, N·m. The limit determines
    /// the largest probe and the largest plausible inertia.
    @_noLocks
    mutating func changeTorqueLimit(to limit: AxisVector) {
        parameters.change { $0.torqueLimit = limit[$1] }
    }

    /// Restarts the current measurements of the inertia, because the motion since the last period
    /// is unknown.
    @_noLocks
    mutating func forget() {
        axes.change { axis, _ in axis.forget() }
    }

    /// The probes' moment in this period, camera frame, N·m.
    var probe: Vector3 {
        @_noLocks @inline(always) get {
            Vector3(
                axes.roll.probe(parameters.roll), axes.pitch.probe(parameters.pitch),
                axes.yaw.probe(parameters.yaw))
        }
    }

    /// Amplitude of each axis's probe, N·m. A response of the loop up to this amplitude does not
    /// count as an oscillation.
    var swings: AxisVector {
        @_noLocks @inline(always) get {
            axes.map { $0.swing }
        }
    }

    /// Updates the inertia estimates with the motors' moment, N·m, and the measured rate, rad/s, in
    /// the camera frame.
    ///
    /// - Returns: True if the inertia estimate of an axis has changed.
    @_noLocks
    mutating func observe(moment: Vector3, rate: Vector3, dt: Double) -> Bool {
        guard isProbing else { return false }
        let before = sigmas
        let known = axes.axes { $0.isKnown }
        let delay = foundDelay
        parameters.change { parameters, _ in parameters.foundDelay = delay }
        let parameters = parameters
        axes.change {
            $0.observe(moment: moment[$1], rate: rate[$1], parameters: parameters[$1], dt: dt)
        }
        if !foundDelay.isNaN { lastDelay = foundDelay }
        if let given {
            stale = axes.judge { Self.compare(&$0, with: given[$1]) }
        } else if !axes.axes(where: { $0.isKnown }).subtracting(known).isEmpty {
            guessOthers()
        }
        return !(sigmas == before)
    }

    /// Assumes an inertia for the axes whose estimate is less certain than `UnmeasuredInertia`.
    private mutating func guessOthers() {
        let guess = UnmeasuredInertia.completed(
            axes.map { $0.isKnown ? $0.inertia : .nan }, first: parameters.map { $0.start })
        axes.change { $0.guess(guess[$1], sigma: UnmeasuredInertia.sigma) }
    }

    /// Keeps the configured inertia if the probe's result agrees with it.
    ///
    /// - Returns: True if the result of the probe contradicts the configured inertia.
    private static func compare(_ axis: inout InertiaIdentifier, with given: Double) -> Bool {
        guard axis.isKnown else { return false }
        if abs(cm_log(axis.inertia / given)) > agreement { return true }
        if axis.sigma > 0 { axis.assume(given, sigma: 0) }
        return false
    }
}
