internal import CMathShim

/// The inertia of all three axes: three probes at frequencies of their own, so that one does not
/// hide another.
///
/// Loop thread only; constant time, no allocation.
struct InertiaSearch: Sendable, BitwiseCopyable {
    private var axes: PerAxis<InertiaIdentifier>
    private var parameters = PerAxis(InertiaIdentifier.Parameters())
    /// What somebody has written down, kg·m², and is believed as long as no probe says otherwise;
    /// nil: it is looked for.
    private var given: AxisVector?
    /// What was found of the delay the last time that any axis was known, s beyond the believed
    /// one; NaN: nothing yet.
    private var lastDelay = Double.nan
    /// Whether the probe looks at what is given when the outputs come on.
    private var isChecked = false
    /// The camera's axes of which the probe has said otherwise.
    private(set) var stale = AxisSet.none

    /// Standard deviation at the start, natural logarithm: a phone and a heavy camera differ
    /// 70-fold, ± 1.5 of these around their geometric mean.
    private static var startSigma: Double { @_noLocks get { 1.4 } }
    /// Standard deviation after the outputs were off, in which time anybody may have put on another
    /// lens.
    private static var doubtSigma: Double { @_noLocks get { 0.5 } }
    /// By how much the probe may find another inertia than is given, natural logarithm: what a
    /// joint's elastic friction makes of it, and the loop's margins cover.
    private static var agreement: Double { @_noLocks get { 0.3 } }
    /// What an oscillation adds to the standard deviation: gains go down to a third, which a camera
    /// of a third of its inertia needs.
    private static var suspicion: Double { @_noLocks get { 0.55 } }
    /// With that the gains are a hundredth.
    private static var mostSigma: Double { @_noLocks get { 2.5 } }
    /// A set-point is followed from here on.
    private static var readySigma: Double { @_noLocks get { 0.6 } }

    /// Where the probes are, Hz: apart from each other by more than the length of a measurement
    /// blurs.
    private static var frequencies: AxisVector {
        @_noLocks get { AxisVector(yaw: 42, roll: 47, pitch: 52) }
    }
    /// Difference of the delay that the margins cover, s.
    private static var covered: Double { @_noLocks get { 0.0003 } }
    /// The longest delay of a loop that can follow probes of these frequencies, s: at 200 Hz.
    private static var swiftDelay: Double { @_noLocks get { 0.0075 } }

    /// A belief to start with.
    ///
    /// - Parameters:
    ///   - start: kg·m² about the camera's axes.
    ///   - isKnown: Whether that is taken as true.
    ///   - isChecked: Whether the probe looks at what is known as well, whenever the outputs come
    ///     on.
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

    /// What is believed, kg·m².
    var values: AxisVector {
        @_noLocks @inline(__always) get {
            axes.map { $0.inertia }
        }
    }

    /// Standard deviations, natural logarithm.
    var sigmas: AxisVector {
        @_noLocks @inline(__always) get {
            axes.map { $0.sigma }
        }
    }

    /// Share of the full gains that is safe on each axis.
    var caution: AxisVector {
        @_noLocks @inline(__always) get {
            axes.map { $0.caution }
        }
    }

    /// How much later than assumed the torque's effect is seen, s: the mean of the axes. Small
    /// differences are within the margins.
    var extraDelay: Double {
        @_noLocks @inline(__always) get {
            let found = foundDelay
            // The loop's delay is not the camera's: a doubt about the camera leaves it as it was.
            let mean = found.isNaN ? lastDelay : found
            guard !mean.isNaN else { return 0 }
            return mean < 0 ? min(0, mean + Self.covered) : max(0, mean - Self.covered)
        }
    }

    /// Whether the delay has been measured, or no probe is going to measure it.
    var isDelayKnown: Bool {
        @_noLocks @inline(__always) get { !isProbing || !foundDelay.isNaN || !lastDelay.isNaN }
    }

    /// How much longer than believed the delay is, s: the mean of the axes that are known; NaN:
    /// none is.
    private var foundDelay: Double {
        @_noLocks @inline(__always) get {
            // One loop, one delay: the axes that have not answered yet know nothing about it.
            let known = axes.map { $0.isKnown ? 1 : 0 }
            let found = axes.map { $0.isKnown ? $0.extraDelay : 0 }
            let count = known.yaw + known.roll + known.pitch
            return count > 0 ? (found.yaw + found.roll + found.pitch) / count : .nan
        }
    }

    /// The axes whose search has ended without a result.
    var abandoned: AxisSet {
        @_noLocks @inline(__always) get {
            axes.axes { $0.hasGivenUp }
        }
    }

    /// Whether a set-point can be followed on every axis.
    var isReady: Bool {
        @_noLocks @inline(__always) get {
            axes.axes { $0.sigma > Self.readySigma }.isEmpty
        }
    }

    /// The camera's axes that answered their probe the wrong way round.
    var reversed: AxisSet {
        @_noLocks @inline(__always) get {
            axes.axes { $0.isReversed }
        }
    }

    /// Whether a probe is at work.
    var isProbing: Bool {
        @_noLocks @inline(__always) get { !axes.axes { $0.isProbing }.isEmpty }
    }

    /// The outputs are about to come on: look, unless the inertia is given and not to be checked.
    @_noLocks
    mutating func begin(torqueLimit: AxisVector, loopDelay: Double) {
        // A slow loop has too few periods in one of the probe's.
        let highest = Self.frequencies.pitch * min(1, Self.swiftDelay / max(loopDelay, 1e-4))
        let shift = Self.frequencies.pitch - highest
        parameters.change {
            $0.torqueLimit = torqueLimit[$1]
            $0.loopDelay = loopDelay
            $0.frequency = Self.frequencies[$1] - shift
        }
        parameters.pitch.frequency = highest
        guard given == nil || isChecked else { return }
        // What is given may belong to any other camera, what was found to another lens.
        let sigma = given == nil ? Self.doubtSigma : Self.startSigma
        let parameters = parameters
        axes.change { $0.doubt(sigma: sigma, parameters: parameters[$1]) }
    }

    /// These of the camera's axes are shaken by their own motors: believe less, so that the gains
    /// go down, and look again. The other axes belong to the same camera and swing next: they are
    /// believed less as well, once.
    @_noLocks
    mutating func suspect(_ swinging: AxisSet) {
        let parameters = parameters
        axes.change { Self.suspect(&$0, swinging.contains($1), parameters[$1]) }
    }

    private static func suspect(
        _ axis: inout InertiaIdentifier, _ isSwinging: Bool,
        _ parameters: InertiaIdentifier.Parameters
    ) {
        let once = InertiaIdentifier.knownSigma + suspicion
        guard isSwinging || axis.sigma < once else { return }
        let sigma = max(axis.sigma, InertiaIdentifier.knownSigma) + suspicion
        axis.doubt(sigma: min(sigma, isSwinging ? mostSigma : once), parameters: parameters)
    }

    /// What happened since the last period is not known: the measurements that are going on begin
    /// again.
    @_noLocks
    mutating func forget() {
        axes.change { axis, _ in axis.forget() }
    }

    /// The moment to add in this period, camera frame, N·m.
    var probe: Vector3 {
        @_noLocks @inline(__always) get {
            Vector3(
                axes.roll.probe(parameters.roll), axes.pitch.probe(parameters.pitch),
                axes.yaw.probe(parameters.yaw))
        }
    }

    /// What the loop may make of the probe, N·m: its answer to what the probe moves is no
    /// oscillation.
    var swings: AxisVector {
        @_noLocks @inline(__always) get {
            axes.map { $0.swing }
        }
    }

    /// Takes what was exerted (N·m) and measured (rad/s), camera frame.
    ///
    /// - Returns: Whether the belief has changed.
    @_noLocks
    mutating func observe(moment: Vector3, rate: Vector3, dt: Double) -> Bool {
        guard isProbing else { return false }
        let before = sigmas
        let found = foundDelay
        parameters.change { parameters, _ in parameters.foundDelay = found }
        let parameters = parameters
        axes.change {
            $0.observe(moment: moment[$1], rate: rate[$1], parameters: parameters[$1], dt: dt)
        }
        if !foundDelay.isNaN { lastDelay = foundDelay }
        if let given {
            stale = axes.judge { Self.compare(&$0, with: given[$1]) }
        }
        return !(sigmas == before)
    }

    /// What is given holds where the probe agrees with it.
    ///
    /// - Returns: Whether the probe has found another camera.
    private static func compare(_ axis: inout InertiaIdentifier, with given: Double) -> Bool {
        guard axis.isKnown else { return false }
        if abs(cm_log(axis.inertia / given)) > agreement { return true }
        if axis.sigma > 0 { axis.assume(given, sigma: 0) }
        return false
    }
}
