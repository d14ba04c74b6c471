/// The inertia of all three axes: three probes at frequencies of their own, so that one does not hide another.
///
/// Loop thread only; constant time, no allocation.
struct InertiaSearch: Sendable, BitwiseCopyable {
    private var yaw: InertiaIdentifier
    private var roll: InertiaIdentifier
    private var pitch: InertiaIdentifier
    private var yawParameters = InertiaIdentifier.Parameters()
    private var rollParameters = InertiaIdentifier.Parameters()
    private var pitchParameters = InertiaIdentifier.Parameters()

    /// Standard deviation at the start, natural logarithm: a phone and a heavy camera differ 70-fold, ± 1.5 of these
    /// around their geometric mean.
    private static var startSigma: Double { @_noLocks get { 1.4 } }
    /// Standard deviation after the outputs were off, in which time anybody may have put on another lens.
    private static var doubtSigma: Double { @_noLocks get { 0.5 } }
    /// A set-point is followed from here on.
    private static var readySigma: Double { @_noLocks get { 0.6 } }

    /// Where the probes are, Hz: apart from each other by more than the length of a measurement blurs.
    private static var frequencies: AxisVector {
        @_noLocks get { AxisVector(yaw: 42, roll: 47, pitch: 52) }
    }
    /// The longest delay of a loop that can follow probes of these frequencies, s: at 200 Hz.
    private static var swiftDelay: Double { @_noLocks get { 0.0075 } }

    /// A belief to start with.
    ///
    /// - Parameters:
    ///   - start: kg·m² about the camera's axes.
    ///   - isKnown: Whether that is taken as true for ever.
    @_noLocks
    init(start: AxisVector, isKnown: Bool) {
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
        @_noLocks get { AxisVector(yaw: yaw.inertia, roll: roll.inertia, pitch: pitch.inertia) }
    }

    /// Standard deviations, natural logarithm.
    var sigmas: AxisVector {
        @_noLocks get { AxisVector(yaw: yaw.sigma, roll: roll.sigma, pitch: pitch.sigma) }
    }

    /// Share of the full gains that is safe on each axis.
    var caution: AxisVector {
        @_noLocks get { AxisVector(yaw: yaw.caution, roll: roll.caution, pitch: pitch.caution) }
    }

    /// How much later than assumed the torque's effect is seen, s; never less than zero, as friction hides a shorter delay.
    /// Small differences are within the margins.
    var extraDelay: Double {
        @_noLocks get {
            max(0, (yaw.extraDelay + roll.extraDelay + pitch.extraDelay) / 3 - 0.0003)
        }
    }

    /// Whether a set-point can be followed on every axis.
    var isReady: Bool {
        @_noLocks get {
            yaw.sigma <= Self.readySigma && roll.sigma <= Self.readySigma
                && pitch.sigma <= Self.readySigma
        }
    }

    /// The camera's axes that answered their probe the wrong way round.
    var reversed: AxisSet {
        @_noLocks get {
            AxisSet(yaw: yaw.isReversed, roll: roll.isReversed, pitch: pitch.isReversed)
        }
    }

    /// Whether a probe is at work.
    var isProbing: Bool {
        @_noLocks get { yaw.isProbing || roll.isProbing || pitch.isProbing }
    }

    /// The outputs are about to come on: look, unless the inertia is given.
    @_noLocks
    mutating func begin(torqueLimit: AxisVector, loopDelay: Double) {
        guard yawParameters.startSigma > 0 else { return }
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
        yaw.doubt(sigma: Self.doubtSigma, parameters: yawParameters)
        roll.doubt(sigma: Self.doubtSigma, parameters: rollParameters)
        pitch.doubt(sigma: Self.doubtSigma, parameters: pitchParameters)
    }

    /// What happened since the last period is not known: the measurements that are going on begin again.
    @_noLocks
    mutating func forget() {
        yaw.forget()
        roll.forget()
        pitch.forget()
    }

    /// The moment to add in this period, camera frame, N·m.
    var probe: Vector3 {
        @_noLocks get {
            Vector3(
                roll.probe(rollParameters), pitch.probe(pitchParameters), yaw.probe(yawParameters))
        }
    }

    /// Takes what was exerted (N·m) and measured (rad/s), camera frame.
    ///
    /// - Returns: Whether the belief has changed.
    @_noLocks
    mutating func observe(moment: Vector3, rate: Vector3, dt: Double) -> Bool {
        guard isProbing else { return false }
        let before = sigmas
        yaw.observe(moment: moment.z, rate: rate.z, parameters: yawParameters, dt: dt)
        roll.observe(moment: moment.x, rate: rate.x, parameters: rollParameters, dt: dt)
        pitch.observe(moment: moment.y, rate: rate.y, parameters: pitchParameters, dt: dt)
        return !(sigmas == before)
    }
}
