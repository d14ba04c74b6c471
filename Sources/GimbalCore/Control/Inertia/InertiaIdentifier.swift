internal import CMathShim

/// Finds the inertia of one axis with a small sinusoidal probe, and remembers how well it is known.
///
/// The probe serves as the instrument: only what correlates with it counts, so that neither the feedback nor the
/// motion of the hand bias the result (instrumental variables in closed loop: Söderström & Stoica, "System
/// Identification", 1989, ch. 8). The torque's impulse and the change of the rate in each period are demodulated at the
/// probe's frequency under a Hann window; their ratio in phase is the inertia, however unequal the periods are. Coulomb
/// and viscous friction are in phase with the rate (describing function) and drop out; the elastic creep of a joint that
/// has not broken away does not, therefore the probe grows until two blocks agree. Two frequencies beside it, where
/// nothing is exerted, say how large the disturbances are.
///
/// An answer that is clear but comes at a phase that no camera has is one of another delay than believed. At one frequency a delay
/// cannot be told from a wrong sign or from friction, therefore the probe goes down to a third of its frequency, where twelve
/// milliseconds more or less are unambiguous, and comes back with what it has found there. A search without a result ends: the probe
/// is silent for a while, and begins again.
///
/// The belief is log-normal. A controller uses the lower edge (`caution`): too little gain is sluggish, too much
/// oscillates.
///
/// Loop thread only; constant time, no allocation.
struct InertiaIdentifier: Sendable, BitwiseCopyable {
    /// What is chosen beforehand.
    struct Parameters: Sendable, BitwiseCopyable {
        /// Where the belief starts, kg·m².
        var start = 2.5e-3
        /// Standard deviation of the starting belief, natural logarithm; 0 = known.
        var startSigma = 1.4
        /// Hz.
        var frequency = 38.0
        /// From the motion to the torque that answers it, s.
        var loopDelay = 0.0035
        /// The motor's limit, N·m.
        var torqueLimit = 0.25
        /// How much longer than `loopDelay` the delay is as another axis of the same loop has found it, s; NaN: none has.
        var foundDelay = Double.nan

        @_noLocks
        init() {}
    }

    /// Bounds of what is believed, kg·m².
    private static var smallest: Double { @_noLocks get { 1e-5 } }
    private static var largest: Double { @_noLocks get { 10 } }
    /// No motor is fitted to a camera that it turns more slowly than that, rad/s²: such an answer is the creep of a joint that has not
    /// broken away.
    private static var weakest: Double { @_noLocks get { 8 } }
    /// Length of one measurement, s.
    static var blockSeconds: Double { @_noLocks get { 0.25 } }
    /// Uncertainty that does not slow the controller down, as its margins cover it; natural logarithm.
    static var knownSigma: Double { @_noLocks get { 0.12 } }
    /// No measurement counts as better than this: friction's elastic part and timing, natural logarithm.
    private static var modelSigma: Double { @_noLocks get { 0.1 } }
    /// Largest angle of the probe, rad.
    private static var largestAngle: Double { @_noLocks get { 0.7 * .pi / 180 } }
    /// How much slower the probe is where it looks for the delay.
    private static var descent: Double { @_noLocks get { 3 } }
    /// Measurements after which a search without a result ends, fast and slow.
    private static var mostRounds: Int { @_noLocks get { 16 } }
    private static var mostSlowRounds: Int { @_noLocks get { 6 } }
    /// How long nothing is exerted after that, s.
    private static var silence: Double { @_noLocks get { 10 } }

    /// Shares of the motor's limit that a probe begins with, and does not exceed.
    private static var leastProbe: Double { @_noLocks get { 0.03 } }
    private static var mostProbe: Double { @_noLocks get { 0.5 } }
    /// Share of the answer that moves without a torque and leaves it clear.
    private static var clear: Double { @_noLocks get { 0.25 } }
    /// Difference of two answers that agree, natural logarithm and rad. Where the sensor's clock
    /// drifts against the loop's, two phases differ by half a period or more.
    private static var sameSize: Double { @_noLocks get { 0.2 } }
    private static var samePhase: Double { @_noLocks get { 0.3 } }
    /// Growth of the probe from which on a second answer is another one.
    private static var otherProbe: Double { @_noLocks get { 1.4 } }
    /// Share of the largest angle at which a joint has broken away.
    private static var brokenAway: Double { @_noLocks get { 0.25 } }
    /// How much of another delay, s, makes an odd phase the delay's doing.
    private static var otherDelay: Double { @_noLocks get { 0.001 } }
    /// The longest delay beyond `loopDelay` that an answer may show, s.
    private static var latestDelay: Double { @_noLocks get { 0.015 } }
    /// Phase beyond which an answer is the mirror image, slow and fast, rad.
    private static var uprightPhase: Double { @_noLocks get { 2 } }
    private static var mirroredPhase: Double { @_noLocks get { .pi - 0.35 } }
    /// Latest phase of an answer at full speed that is an inertia's, rad.
    private static var latestPhase: Double { @_noLocks get { 1.2 } }
    /// How far a mirror image may be beside its phase, as a share: a delay of 10 ms turns it more.
    private static var exactness: Double { @_noLocks get { 0.35 } }

    /// What is believed, kg·m².
    private(set) var inertia: Double
    /// Standard deviation of that, natural logarithm.
    private(set) var sigma: Double
    /// How much later than `loopDelay` the effect of a torque was seen, s. Below zero only where the slow probe has shown that:
    /// friction leads as well.
    private(set) var extraDelay = 0.0
    /// Whether two blocks in a row have shown a camera that goes against the torque.
    private(set) var isReversed = false
    /// Whether a search is going on, silent or not.
    private(set) var isProbing = false
    /// Whether the last search has ended without a result, and the probe is silent.
    private(set) var hasGivenUp = false

    private var amplitude = 0.0
    /// With which the inertia was found the last time, N·m.
    private var usefulAmplitude = 0.0
    private var time = 0.0
    private var periods = 0
    private var lastRate = 0.0
    private var lastMoment = 0.0
    private var hasRate = false
    private var previous = 0.0
    private var previousAmplitude = 0.0
    private var rounds = 0
    /// Whether the probe looks for the delay.
    private var isSlow = false
    /// Amplitude at full speed before that, N·m.
    private var fastAmplitude = 0.0
    /// Delay that the slow probe or another axis has found, s beyond `loopDelay`.
    private var coarseDelay = 0.0
    /// Whether the slow probe has shown a camera that goes with the torque.
    private var isUprightKnown = false
    /// Phase of the previous answer, rad; NaN: it was not clear.
    private var previousPhase = Double.nan
    /// Size of the previous answer, kg·m².
    private var previousSize = 0.0
    /// How long the probe has been silent, s.
    private var silent = 0.0
    private var centre = Demodulator()
    private var below = Demodulator()
    private var above = Demodulator()

    /// An axis of which only the starting belief is known.
    @_noLocks
    init(_ parameters: Parameters) {
        inertia = parameters.start
        sigma = parameters.startSigma
    }

    /// Whether the belief is good enough for full gains.
    var isKnown: Bool { @_noLocks @inline(__always) get { sigma <= Self.knownSigma } }

    /// Share of the full gains that is safe with this belief, 0...1.
    var caution: Double {
        @_noLocks @inline(__always) get { isKnown ? 1 : cm_exp(-2 * (sigma - Self.knownSigma)) }
    }

    /// Takes a value as known, for instance one that the user has set, kg·m².
    @_noLocks
    mutating func assume(_ value: Double, sigma new: Double) {
        inertia = min(max(value, Self.smallest), Self.largest)
        sigma = new
        isProbing = false
    }

    /// Somebody may have changed the load: look again, starting from what was found.
    @_noLocks
    mutating func doubt(sigma least: Double, parameters p: Parameters) {
        sigma = max(sigma, least)
        guard !isKnown else { return }
        isProbing = true
        isReversed = false
        begin(p)
    }

    /// A search begins, at full speed.
    private mutating func begin(_ p: Parameters) {
        hasGivenUp = false
        isSlow = false
        isUprightKnown = false
        coarseDelay = 0
        silent = 0
        start(p)
    }

    /// The probe begins with a small torque, or with half of what has shown the inertia the last time.
    private mutating func start(_ p: Parameters) {
        // Half of what was useful shows it once more.
        amplitude = max(Self.leastProbe * p.torqueLimit, 0.5 * usefulAmplitude)
        rounds = 0
        previous = 0
        previousPhase = .nan
        forget()
    }

    /// Hz.
    private func frequency(_ p: Parameters) -> Double {
        isSlow ? p.frequency / Self.descent : p.frequency
    }

    /// Length of one measurement now, s.
    private var block: Double { isSlow ? Self.blockSeconds * Self.descent : Self.blockSeconds }

    /// What happened since the last period is not known: the measurement that is going on begins again.
    @_noLocks
    mutating func forget() {
        hasRate = false
        clear()
    }

    /// The moment to add about this axis in this period, N·m.
    @_noLocks
    func probe(_ p: Parameters) -> Double {
        guard isProbing, !hasGivenUp else { return 0 }
        let window = 0.5 - 0.5 * cm_cos(2 * .pi * time / block)
        return amplitude * min(1, 4 * window) * cm_sin(2 * .pi * frequency(p) * time)
    }

    /// The probe's amplitude, N·m.
    var swing: Double {
        @_noLocks @inline(__always) get { isProbing && !hasGivenUp ? amplitude : 0 }
    }

    /// Takes what was exerted and what was measured in this period.
    ///
    /// - Parameters:
    ///   - moment: All that the controller exerted about this axis, probe included, N·m.
    ///   - rate: Measured rate about this axis, rad/s.
    ///   - p: As for `probe`.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks
    mutating func observe(moment: Double, rate: Double, parameters p: Parameters, dt: Double) {
        guard isProbing else { return }
        if hasGivenUp {
            silent += dt
            if silent > Self.silence { begin(p) }
            return
        }
        // One loop, one delay: where it is known, an odd phase is not its doing.
        let isOther = abs(p.foundDelay) > Self.otherDelay
        let shared = isOther ? p.foundDelay : 0
        if !p.foundDelay.isNaN, isSlow || abs(coarseDelay - shared) > Self.otherDelay {
            isSlow = false
            restart(coarseDelay: shared, p)
        }
        // Changes of momentum and of rate: right whatever the length of a period.
        let impulse = hasRate ? lastMoment * dt : 0
        let change = hasRate ? rate - lastRate : 0
        lastMoment = moment
        lastRate = rate
        hasRate = true
        let window = 0.5 - 0.5 * cm_cos(2 * .pi * time / block)
        let (frequency, spacing) = (frequency(p), 2 / block)
        centre.add(
            impulse: impulse, change: change, weight: window,
            angle: 2 * .pi * frequency * time)
        below.add(
            impulse: impulse, change: change, weight: window,
            angle: 2 * .pi * (frequency - spacing) * time)
        above.add(
            impulse: impulse, change: change, weight: window,
            angle: 2 * .pi * (frequency + spacing) * time)
        time += dt
        periods += 1
        if time >= block {
            finishBlock(p, period: time / Double(periods))
            clear()
        }
    }

    private mutating func clear() {
        time = 0
        periods = 0
        centre = Demodulator()
        below = Demodulator()
        above = Demodulator()
    }

    private mutating func finishBlock(_ p: Parameters, period: Double) {
        let omega = 2 * Double.pi * frequency(p)
        // The change of the rate is seen half a period late, the impulse is noted a whole one late.
        let lag = p.loopDelay + coarseDelay - period / 2
        let answer = centre.ratio(lag: lag * omega)
        let size = cm_sqrt(
            answer.inPhase * answer.inPhase + answer.inQuadrature * answer.inQuadrature)
        let phase = cm_atan2(answer.inQuadrature, answer.inPhase)
        let angle = centre.changeNorm / (omega * omega) * 4 / block
        let isClear =
            noise(inertia: size, lag: lag + phase / omega, omega: omega)
            < Self.clear * size * centre.changeNorm
        let agrees =
            isClear && abs(phase - previousPhase) < max(Self.samePhase, omega * period / 2)
            && abs(cm_log(size / previousSize)) < Self.sameSize
        let isOther =
            amplitude > Self.otherProbe * previousAmplitude || angle > 0.5 * Self.largestAngle
            || amplitude >= Self.mostProbe * p.torqueLimit
        previousPhase = isClear ? phase : .nan
        previousSize = size
        if isSlow {
            // A joint that has not broken away is a spring: its answer is mirrored, and says nothing about a delay.
            let isUpright = abs(phase) < Self.uprightPhase
            if agrees, isOther, isUpright || angle > Self.brokenAway * Self.largestAngle {
                return ascend(phase: phase, isReversed: !isUpright, omega: omega, p)
            }
        } else {
            // The mirror image itself is most likely a wrong sign, which a larger swing shows.
            let isAtMost = amplitude >= Self.mostProbe * p.torqueLimit
            look(
                at: answer, lag: lag, omega: omega, period: period, angle: angle,
                isOther: isOther, heaviest: p.torqueLimit / Self.weakest)
            if !isKnown, agrees, isOther, p.foundDelay.isNaN, !isPlausible(phase: phase) {
                if !isUprightKnown, abs(phase) < Self.mirroredPhase || isAtMost {
                    return descend(angle: angle, p)
                }
                // Friction leads, the more the slower the probe: the slow one has shown the sign,
                // and too short a delay.
                let later = coarseDelay + (phase < 0 ? phase + 2 * .pi : phase) / omega
                if isUprightKnown, later < Self.latestDelay {
                    return restart(coarseDelay: later, p)
                }
            }
        }
        previousAmplitude = amplitude
        rounds += 1
        if isKnown {
            usefulAmplitude = amplitude
            isProbing = false
            return
        }
        // Grow until seen, but not beyond a small angle or half of the motor.
        let room = angle > 0 ? Self.largestAngle / angle : 2
        amplitude = min(amplitude * min(2, max(room, 0.1)), Self.mostProbe * p.torqueLimit)
        if rounds >= (isSlow ? Self.mostSlowRounds : Self.mostRounds) { hasGivenUp = true }
    }

    /// What is left of a change of the rate, as a share, when an impulse that lasts one period is seen by two samples: the mean over
    /// all ways to divide it. `turn` is what the probe turns by in a period, rad.
    private static func spread(_ turn: Double) -> Double {
        cm_sqrt(1 - (1 - cm_cos(turn)) / 3)
    }

    /// Whether a camera of some inertia and friction answers at this phase, rad, with about the delay that is believed.
    private func isPlausible(phase: Double) -> Bool { phase > -0.8 && phase < 1 }

    /// What the probe says at its full speed.
    private mutating func look(
        at answer: (inPhase: Double, inQuadrature: Double), lag: Double, omega: Double,
        period: Double, angle: Double, isOther: Bool, heaviest: Double
    ) {
        // A motor or a sensor with the wrong sign mirrors all of it.
        let sign = answer.inPhase < 0 ? -1.0 : 1.0
        let ratio = (inPhase: sign * answer.inPhase, inQuadrature: sign * answer.inQuadrature)
        let late = max(0, cm_atan2(ratio.inQuadrature, ratio.inPhase))
        let found = ratio.inPhase * cm_cos(late) + ratio.inQuadrature * cm_sin(late)
        let noise = noise(inertia: sign * found, lag: lag + late / omega, omega: omega)
        let signal = found * centre.changeNorm
        let isSeen =
            found > 0 && noise < Self.clear * signal && ratio.inQuadrature > -2 * ratio.inPhase
            && late < Self.latestPhase && found > Self.smallest && found < heaviest
        let agrees = previous * sign > 0 && abs(cm_log(found / abs(previous))) < Self.sameSize
        // A joint that has not broken away is a spring, which mirrors a light camera as well; so does an answer that is 10 ms late,
        // the later the less exactly.
        let isExact = abs(ratio.inQuadrature) < Self.exactness * ratio.inPhase || coarseDelay > 0
        if isSeen, agrees, sign < 0, angle > Self.brokenAway * Self.largestAngle, isExact,
            !isUprightKnown
        {
            isReversed = true
        }
        if isSeen, isOther, agrees, sign > 0 {
            extraDelay = coarseDelay + late / omega
            // The larger friction is beside the torque that accelerates, the more of it is elastic.
            let friction = max(0, -ratio.inQuadrature / ratio.inPhase)
            learn(
                found * Self.spread(period * omega),
                sigma: max(noise / signal, max(Self.modelSigma, 0.25 * friction)))
        }
        previous = isSeen ? sign * found : 0
    }

    /// To a third of the frequency, where the same torque swings the camera nine times as far.
    private mutating func descend(angle: Double, _ p: Parameters) {
        let present = amplitude
        start(p)
        isSlow = true
        fastAmplitude = present
        let room = Self.largestAngle / (2 * Self.descent * Self.descent * max(angle, 1e-9))
        amplitude = max(amplitude, present * min(1, room))
    }

    /// The delay is found: back to full speed with it.
    private mutating func ascend(
        phase: Double, isReversed reversed: Bool, omega: Double, _ p: Parameters
    ) {
        // Not a delay, but a camera that goes against the torque.
        if reversed { isReversed = true }
        isUprightKnown = !reversed
        isSlow = false
        amplitude = fastAmplitude
        restart(coarseDelay: max(phase / omega, -p.loopDelay), p)
    }

    /// The probe goes on at its present size with another delay, s beyond `loopDelay`.
    private mutating func restart(coarseDelay delay: Double, _ p: Parameters) {
        let present = amplitude
        start(p)
        amplitude = present
        coarseDelay = delay
    }

    /// What moves beside the probe's frequency without a torque, as an impulse, N·m·s.
    private func noise(inertia: Double, lag: Double, omega: Double) -> Double {
        let spacing = 4 * Double.pi / block
        return cm_sqrt(
            (below.residual(inertia: inertia, lag: lag * (omega - spacing))
                + above.residual(inertia: inertia, lag: lag * (omega + spacing))) / 4)
    }

    /// Merges an independent measurement, kg·m² and natural logarithm, into the belief.
    @_noLocks
    mutating func learn(_ value: Double, sigma measured: Double) {
        let weight = sigma * sigma / (sigma * sigma + measured * measured)
        let log = cm_log(inertia) + weight * cm_log(value / inertia)
        inertia = min(max(cm_exp(log), Self.smallest), Self.largest)
        sigma *= cm_sqrt(1 - weight)
    }
}
