internal import CMathShim

/// Detector of an oscillating control loop.
///
/// Set-point changes and hand motion cause almost no motion above the loop's crossover frequency.
/// Above this frequency, the measured rate comes from the motors, from a vibration or from the
/// gyroscope's noise. When the loop oscillates, the camera's rate is coherent with earlier motor
/// commands above the crossover frequency. The phase between rate and command is arbitrary, so the
/// delay and the inertia need not be known. In addition, the amplitude of the motor command must
/// exceed a fraction of the motors' limit. Noise is not coherent with earlier commands, and the
/// effect of a knock decays. An external vibration has the same symptoms as an oscillation of the
/// loop, but does not end when the gains are lowered. If a vibration continues at lower gains, the
/// caller marks it as tolerated.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct OscillationWatch: Sendable, BitwiseCopyable {
    /// Signals and limits of one axis in one period.
    struct Signals: Sendable, BitwiseCopyable {
        /// Feedback part of the motor command, rad/s², or rad/s for motors with rate commands.
        var commanded: Double
        /// Camera's rate, rad/s.
        var rate: Double
        /// Smallest RMS of `commanded` that counts as an oscillation, in the unit of `commanded`.
        var floor: Double
        /// Lower limit of the monitored frequencies, rad/s, above the loop's crossover frequency.
        var corner: Double
        /// True if no probe excites the camera. Without a probe, only the loop can cause a growing
        /// oscillation.
        var isKnown: Bool
        /// True if the command includes the hand's motion. A command that includes the hand's
        /// motion counts as an oscillation only if the command is a pure tone for six cycles. The
        /// tone must also be larger above the corner frequency than below.
        var followsHand: Bool

        @_noLocks
        init(
            commanded: Double, rate: Double, floor: Double, corner: Double, isKnown: Bool = false,
            followsHand: Bool = false
        ) {
            self.isKnown = isKnown
            self.followsHand = followsHand
            self.commanded = commanded
            self.rate = rate
            self.floor = floor
            self.corner = corner
        }
    }

    private var yaw = AxisOscillation()
    private var roll = AxisOscillation()
    private var pitch = AxisOscillation()
    private var commanded = JointHistory()

    /// Smallest RMS motor command of an oscillation, as a fraction of the motor's limit; noise
    /// alone causes 0.05.
    static var shaken: Double { @_noLocks get { 0.15 } }
    /// Product of the corner frequency `Signals.corner`, rad/s, and the loop delay, s. This value
    /// places the corner frequency half an octave above the crossover frequency.
    static var beyondCrossover: Double { @_noLocks get { 0.85 } }
    /// Upper limit of the frequencies of hand motion and steps, rad/s.
    static var hand: Double { @_noLocks get { 2 * .pi * 10 } }

    /// Age of the command that is compared with the present rate, s. At this age, the noise in the
    /// command is no longer correlated with the noise in the rate.
    private static var age: Double { @_noLocks get { 0.008 } }

    @_noLocks
    init() {}

    /// Restarts the detector. Call this method before the outputs are switched on, and when an
    /// excitation shakes the camera.
    @_noLocks
    mutating func reset() { self = OscillationWatch() }

    /// Checks the signals of one period for an oscillation.
    ///
    /// - Parameters:
    ///   - sightYaw: Signals about the camera's z axis.
    ///   - sightRoll: Signals about the camera's x axis.
    ///   - sightPitch: Signals about the camera's y axis.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The axes with a newly detected or a continuing oscillation. A continuing
    ///   oscillation is reported again after 80 ms.
    @_noLocks
    mutating func step(
        yaw sightYaw: Signals, roll sightRoll: Signals, pitch sightPitch: Signals, dt: Double
    ) -> AxisSet {
        let past = commanded.value(age: Self.age, dt: dt)
        commanded.append(
            AxisVector(
                yaw: sightYaw.commanded, roll: sightRoll.commanded, pitch: sightPitch.commanded),
            dt: dt)
        // The axes usually have the same corner frequency, so the coefficients are reused.
        let paceYaw = AxisOscillation.Pace(sightYaw, dt: dt)
        let paceRoll = paceYaw.adapted(to: sightRoll)
        let isYaw = yaw.step(past.yaw, sightYaw, paceYaw)
        let isRoll = roll.step(past.roll, sightRoll, paceRoll)
        let isPitch = pitch.step(past.pitch, sightPitch, paceRoll.adapted(to: sightPitch))
        return AxisSet(yaw: isYaw, roll: isRoll, pitch: isPitch)
    }

    /// True if no axis shows symptoms of an oscillation.
    var isCalm: Bool { @_noLocks get { yaw.isCalm && roll.isCalm && pitch.isCalm } }

    /// Marks the present oscillation of the given axes as tolerated, because the loop is not the
    /// cause. A tolerated oscillation is reported again only if its amplitude doubles.
    @_noLocks
    mutating func tolerate(_ axes: AxisSet) {
        if axes.contains(.yaw) { yaw.tolerate() }
        if axes.contains(.roll) { roll.tolerate() }
        if axes.contains(.pitch) { pitch.tolerate() }
    }
}

/// One axis of `OscillationWatch`.
private struct AxisOscillation: Sendable, BitwiseCopyable {
    // Second-order high-passes of the rate, the command, and the command's integral.
    private var rateFilter = HighPass()
    private var commandedFilter = HighPass()
    private var sumFilter = HighPass()
    // Means of products of the three signals, with the time constant `memory`. `inPhase` is the
    // mean product of the rate and the command's integral. `inQuadrature` is the mean product of
    // the rate and the command.
    private var rateSquare = 0.0
    private var commandedSquare = 0.0
    private var sumSquare = 0.0
    /// Mean square of the command below the corner frequency.
    private var handSquare = 0.0
    private var inPhase = 0.0
    private var inQuadrature = 0.0
    /// Mean product of the command and its integral: zero for an oscillation, positive for a
    /// divergence without oscillation.
    private var growth = 0.0
    /// Time for which symptoms of an oscillation have been present, s.
    private var evidence = 0.0
    /// Largest absolute command in the present half cycle. `crests` holds the values of the
    /// previous half cycles.
    private var crest = 0.0
    private var crests = HalfCycleAmplitudes()
    private var wasUp = false
    /// Number of consecutive half cycles, each with an amplitude similar to the previous one.
    private var halves = 0
    /// RMS of the command at the last detection of an oscillation.
    private var level = 0.0
    /// Largest RMS command of a tolerated oscillation.
    private var tolerated = 0.0

    /// Time constant of the running means while a probe excites the camera, s. Without a probe, the
    /// time constant is at least `memorySwings` divided by the corner frequency.
    private static var memory: Double { @_noLocks get { 0.04 } }
    /// Minimum product of time constant and corner frequency without a probe, rad (1.5 cycles).
    private static var memorySwings: Double { @_noLocks get { 3 * .pi } }
    /// Shortest duration of a reported oscillation, s. The effect of a knock decays within this
    /// time.
    private static var patience: Double { @_noLocks get { 0.08 } }
    /// Smallest coherence of an oscillation: the fraction of the rate's mean square that the
    /// command explains.
    private static var leastCoherence: Double { @_noLocks get { 0.6 } }
    /// Time constant of `handSquare`, s: the duration of a step.
    private static var handMemory: Double { @_noLocks get { 0.3 } }
    /// Smallest amplitude of a tone in a command that includes the hand's motion, as a multiple of
    /// `Signals.floor`. The limit cycle of a healthy servo within its dead band has a smaller
    /// amplitude.
    private static var crest: Double { @_noLocks get { 2 } }
    /// Interval between two reports of the same oscillation, s.
    private static var repetition: Double { @_noLocks get { 0.08 } }
    /// Threshold of the RMS command, as a multiple of `Signals.floor`; above this threshold,
    /// coherence is not required.
    private static var plenty: Double { @_noLocks get { 3 } }

    /// Minimum number of consecutive half cycles of a tone (five cycles). A heel strike causes only
    /// two or three cycles.
    private static var swings: Int { @_noLocks get { 10 } }
    /// Minimum number of consecutive half cycles of a tone in a command that includes the hand's
    /// motion (six cycles). The motion of a running person causes up to five cycles.
    private static var handSwings: Int { @_noLocks get { 12 } }
    /// Smallest growth factor of a growing tone from one half cycle to the next.
    private static var growing: Double { @_noLocks get { 0.8 } }
    /// Smallest ratio of two consecutive amplitudes in a tone (smaller to larger). A dead band
    /// makes consecutive amplitudes unequal.
    private static var alike: Double { @_noLocks get { 0.6 } }
    /// Smallest growth factor of the amplitude over four half cycles. The amplitude of an external
    /// vibration varies by less than this factor.
    private static var growth: Double { @_noLocks get { 1.3 } }
    /// Smallest coherence of a pure tone: the fraction of the rate's mean square that the command
    /// explains.
    private static var pureCoherence: Double { @_noLocks get { 0.95 } }
    /// Smallest amplitude of a growing pure tone that counts as an oscillation, as a multiple of
    /// `Signals.floor`. The value is small: a light camera can turn by several degrees before
    /// its motors reach their limit.
    private static var early: Double { @_noLocks get { 0.6 } }

    /// Filter coefficients of one period, for one corner frequency.
    struct Pace: Sendable, BitwiseCopyable {
        /// Seconds since the previous period, more than 0.
        let dt: Double
        /// Weights of a new value in the filters: `share` for the high-passes, `fresh` for the
        /// running means, `hand` for `handSquare`.
        let share, fresh, hand: Double
        private let corner: Double
        private let isKnown: Bool

        @_noLocks
        init(_ observed: OscillationWatch.Signals, dt: Double) {
            self.dt = dt
            corner = observed.corner
            isKnown = observed.isKnown
            share = observed.corner * dt / (1 + observed.corner * dt)
            // In a slow loop, `memory` is shorter than three cycles, and a heel strike looks like a
            // pure tone for three cycles. Therefore a slow loop has a longer time constant. While a
            // probe is active, the time constant is always `memory`: the camera can be far lighter
            // than assumed, so a quick response is more important.
            let memory =
                observed.isKnown
                ? max(AxisOscillation.memory, AxisOscillation.memorySwings / observed.corner)
                : AxisOscillation.memory
            fresh = dt / (memory + dt)
            hand = dt / (AxisOscillation.handMemory + dt)
        }

        /// Filter coefficients for the signals `observed`; `self` if corner frequency and time
        /// constant are the same.
        @_noLocks @inline(always)
        func adapted(to observed: OscillationWatch.Signals) -> Pace {
            observed.corner == corner && observed.isKnown == isKnown ? self : Pace(observed, dt: dt)
        }
    }

    /// The amplitudes of the last six half cycles, the newest first.
    private struct HalfCycleAmplitudes: Sendable, BitwiseCopyable {
        var first = 0.0
        var second = 0.0
        var third = 0.0
        var fourth = 0.0
        var fifth = 0.0
        var sixth = 0.0
        @_noLocks
        init() {}

        mutating func push(_ value: Double) {
            sixth = fifth
            fifth = fourth
            fourth = third
            third = second
            second = first
            first = value
        }
    }

    @_noLocks
    init() {}

    /// True if this axis shows no recent symptoms of an oscillation.
    var isCalm: Bool { @_noLocks get { evidence == 0 && halves < 3 } }

    /// Counts the half cycles of the command; a new half cycle begins when the command changes its
    /// sign.
    private mutating func count(_ commanded: Double, _ observed: OscillationWatch.Signals) {
        let isUp = commanded > 0
        if isUp != wasUp {
            let goesOn =
                observed.followsHand
                ? crest > max(Self.alike * crests.first, Self.crest * observed.floor)
                    && Self.alike * crest < crests.first
                : crest > Self.growing * crests.first
            halves = goesOn ? halves + 1 : 0
            crests.push(crest)
            crest = 0
            wasUp = isUp
        }
        crest = max(crest, abs(commanded))
    }

    @_noLocks
    mutating func tolerate() {
        tolerated = 2 * level
        evidence = 0
    }

    /// Fraction of the size at the last reduction of the gains above which the oscillation has not
    /// decayed.
    private static var lastingShare: Double { @_noLocks get { 0.7 } }

    /// Checks the signals of one period. `past` is the command at the time `OscillationWatch.age`
    /// before the rate. Returns true if an oscillation is reported.
    mutating func step(_ past: Double, _ observed: OscillationWatch.Signals, _ pace: Pace) -> Bool {
        let (dt, share, fresh) = (pace.dt, pace.share, pace.fresh)
        let rate = rateFilter.pass(observed.rate, share: share)
        let commanded = commandedFilter.pass(past, share: share)
        // The command's integral is high-passed like the command.
        let sum = sumFilter.passIntegral(past, share: share)
        rateSquare += (rate * rate - rateSquare) * fresh
        commandedSquare += (commanded * commanded - commandedSquare) * fresh
        let slow = commandedFilter.slow
        handSquare += (slow * slow - handSquare) * pace.hand
        sumSquare += (sum * sum - sumSquare) * fresh
        inPhase += (rate * sum - inPhase) * fresh
        inQuadrature += (rate * commanded - inQuadrature) * fresh
        growth += (commanded * sum - growth) * fresh
        let isSwinging = growth * growth < 0.5 * commandedSquare * sumSquare
        let size = cm_sqrt(commandedSquare)
        let least = rateSquare * commandedSquare * sumSquare
        let explained =
            inPhase * inPhase * commandedSquare + inQuadrature * inQuadrature * sumSquare
        let isCoherent = explained > Self.leastCoherence * least
        count(commanded, observed)
        if !observed.isKnown, !observed.followsHand { halves = 0 }
        let isGrowing =
            crests.first + crests.second > Self.growth * (crests.fifth + crests.sixth)
            && crests.first >= crests.third && crests.second >= crests.fourth
        if observed.isKnown, halves >= Self.swings, isGrowing, isSwinging, least > 0,
            explained > Self.pureCoherence * least,
            crests.first > max(tolerated, Self.early * observed.floor)
        {
            halves = 0
            evidence = 0
            level = max(level, size)
            return true
        }
        // An oscillation with an RMS command above about half of a motor's limit is never
        // tolerated.
        let floor = observed.followsHand ? max(observed.floor, cm_sqrt(handSquare)) : observed.floor
        let isLarge = size > max(floor, min(tolerated, Self.plenty * floor))
        guard isLarge, isSwinging, least > 0, isCoherent || size > Self.plenty * floor else {
            evidence = max(0, evidence - dt)
            if evidence == 0, size < 0.5 * level { level = 0 }
            return false
        }
        evidence += size > Self.plenty * floor ? 2 * dt : dt
        // If the oscillation has decayed since the last reduction of the gains, no further
        // reduction is necessary.
        let lasts = observed.followsHand ? halves >= Self.handSwings : evidence > Self.patience
        guard lasts, size > Self.lastingShare * level || level == 0 else { return false }
        evidence -= Self.repetition
        level = size
        return true
    }
}
