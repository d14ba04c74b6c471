internal import CMathShim

/// The inertia of all three axes: three probes at frequencies of their own, so that one does not
/// hide another.
///
/// Loop thread only; constant time, no allocation.
struct InertiaSearch: Sendable, BitwiseCopyable {
    private var yaw: InertiaIdentifier
    private var roll: InertiaIdentifier
    private var pitch: InertiaIdentifier
    private var yawParameters = InertiaIdentifier.Parameters()
    private var rollParameters = InertiaIdentifier.Parameters()
    private var pitchParameters = InertiaIdentifier.Parameters()
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
        yawParameters.start = start.yaw
        rollParameters.start = start.roll
        pitchParameters.start = start.pitch
        let sigma = isKnown ? 0 : Self.startSigma
        yawParameters.startSigma = sigma
        rollParameters.startSigma = sigma
        pitchParameters.startSigma = sigma
        yaw = InertiaIdentifier(yawParameters)
        roll = InertiaIdentifier(rollParameters)
        pitch = InertiaIdentifier(pitchParameters)
    }

    /// What is believed, kg·m².
    var values: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.inertia, roll: roll.inertia, pitch: pitch.inertia)
        }
    }

    /// Standard deviations, natural logarithm.
    var sigmas: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.sigma, roll: roll.sigma, pitch: pitch.sigma)
        }
    }

    /// Share of the full gains that is safe on each axis.
    var caution: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.caution, roll: roll.caution, pitch: pitch.caution)
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
            return mean < 0 ? min(0, mean + 0.0003) : max(0, mean - 0.0003)
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
            var (sum, count) = (0.0, 0.0)
            if yaw.isKnown {
                sum += yaw.extraDelay
                count += 1
            }
            if roll.isKnown {
                sum += roll.extraDelay
                count += 1
            }
            if pitch.isKnown {
                sum += pitch.extraDelay
                count += 1
            }
            return count > 0 ? sum / count : .nan
        }
    }

    /// The axes whose search has ended without a result.
    var abandoned: AxisSet {
        @_noLocks @inline(__always) get {
            AxisSet(yaw: yaw.hasGivenUp, roll: roll.hasGivenUp, pitch: pitch.hasGivenUp)
        }
    }

    /// Whether a set-point can be followed on every axis.
    var isReady: Bool {
        @_noLocks @inline(__always) get {
            yaw.sigma <= Self.readySigma && roll.sigma <= Self.readySigma
                && pitch.sigma <= Self.readySigma
        }
    }

    /// The camera's axes that answered their probe the wrong way round.
    var reversed: AxisSet {
        @_noLocks @inline(__always) get {
            AxisSet(yaw: yaw.isReversed, roll: roll.isReversed, pitch: pitch.isReversed)
        }
    }

    /// Whether a probe is at work.
    var isProbing: Bool {
        @_noLocks @inline(__always) get { yaw.isProbing || roll.isProbing || pitch.isProbing }
    }

    /// The outputs are about to come on: look, unless the inertia is given and not to be checked.
    @_noLocks
    mutating func begin(torqueLimit: AxisVector, loopDelay: Double) {
        yawParameters.torqueLimit = torqueLimit.yaw
        rollParameters.torqueLimit = torqueLimit.roll
        pitchParameters.torqueLimit = torqueLimit.pitch
        yawParameters.loopDelay = loopDelay
        rollParameters.loopDelay = loopDelay
        pitchParameters.loopDelay = loopDelay
        // A slow loop has too few periods in one of the probe's.
        let highest = Self.frequencies.pitch * min(1, Self.swiftDelay / max(loopDelay, 1e-4))
        let shift = Self.frequencies.pitch - highest
        yawParameters.frequency = Self.frequencies.yaw - shift
        rollParameters.frequency = Self.frequencies.roll - shift
        pitchParameters.frequency = highest
        guard given == nil || isChecked else { return }
        // What is given may belong to any other camera, what was found to another lens.
        let sigma = given == nil ? Self.doubtSigma : Self.startSigma
        yaw.doubt(sigma: sigma, parameters: yawParameters)
        roll.doubt(sigma: sigma, parameters: rollParameters)
        pitch.doubt(sigma: sigma, parameters: pitchParameters)
    }

    /// These of the camera's axes are shaken by their own motors: believe less, so that the gains
    /// go down, and look again. The other axes belong to the same camera and swing next: they are
    /// believed less as well, once.
    @_noLocks
    mutating func suspect(_ axes: AxisSet) {
        Self.suspect(&yaw, axes.contains(.yaw), yawParameters)
        Self.suspect(&roll, axes.contains(.roll), rollParameters)
        Self.suspect(&pitch, axes.contains(.pitch), pitchParameters)
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
        yaw.forget()
        roll.forget()
        pitch.forget()
    }

    /// The moment to add in this period, camera frame, N·m.
    var probe: Vector3 {
        @_noLocks @inline(__always) get {
            Vector3(
                roll.probe(rollParameters), pitch.probe(pitchParameters), yaw.probe(yawParameters))
        }
    }

    /// What the loop may make of the probe, N·m: its answer to what the probe moves is no
    /// oscillation.
    var swings: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.swing, roll: roll.swing, pitch: pitch.swing)
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
        yawParameters.foundDelay = found
        rollParameters.foundDelay = found
        pitchParameters.foundDelay = found
        yaw.observe(moment: moment.z, rate: rate.z, parameters: yawParameters, dt: dt)
        roll.observe(moment: moment.x, rate: rate.x, parameters: rollParameters, dt: dt)
        pitch.observe(moment: moment.y, rate: rate.y, parameters: pitchParameters, dt: dt)
        if !foundDelay.isNaN { lastDelay = foundDelay }
        if let given {
            let isYaw = Self.compare(&yaw, with: given.yaw)
            let isRoll = Self.compare(&roll, with: given.roll)
            let isPitch = Self.compare(&pitch, with: given.pitch)
            stale = AxisSet(yaw: isYaw, roll: isRoll, pitch: isPitch)
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
