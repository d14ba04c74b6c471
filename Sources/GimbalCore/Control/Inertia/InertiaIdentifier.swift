internal import CMathShim

/// Identification of one axis's inertia and its uncertainty by a small sinusoidal probe.
///
/// The probe is the instrumental variable of the identification: only signals that correlate with
/// the probe are evaluated. Therefore neither the feedback nor the hand's motion biases the result
/// (Söderström & Stoica: System Identification, 1989, chapter 8). The torque impulse and the change
/// of the rate in each period are demodulated at the probe's frequency with a Hann window. The
/// in-phase ratio of impulse to rate change is the inertia, at any control period. Coulomb and
/// viscous friction are in phase with the rate (describing function) and do not affect this ratio.
/// If static friction holds the joint, elastic deformation affects the ratio. Therefore the probe's
/// amplitude grows until two measurements agree. Signals at two frequencies without excitation are
/// a measure of the disturbances.
///
/// If a clear response has an impossible phase, the assumed delay is wrong. At a single frequency,
/// a delay cannot be distinguished from a wrong sign or from friction. Therefore the probe's
/// frequency is reduced to a third of its full value. At the low frequency, the phase determines
/// any delay within ±12 ms uniquely. Friction makes the delay measured at the low frequency
/// too short. If the response at the probe's usual frequency is clear, the delay is measured again
/// there. If a search ends without a result, the probe starts again after a pause.
///
/// The estimate has a log-normal distribution. The controller uses a lower bound of the inertia
/// (`caution`). If this bound is too low, the gains are low and the loop is slow; if it is too
/// high, the loop oscillates.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct InertiaIdentifier: Sendable, BitwiseCopyable {
    /// Parameters of the probe.
    struct Parameters: Sendable, BitwiseCopyable {
        /// Initial estimate, kg·m².
        var start = 2.5e-3
        /// Standard deviation of the natural logarithm of `start`; 0 means exact.
        var startSigma = 1.4
        /// Frequency of the probe, Hz.
        var frequency = 38.0
        /// Loop delay from the camera's motion to the responding torque, s.
        var loopDelay = 0.0035
        /// The motor's torque limit, N·m.
        var torqueLimit = 0.25
        /// Delay in addition to `loopDelay`, measured on another axis, s; NaN if unknown.
        var foundDelay = Double.nan

        @_noLocks
        init() {}
    }

    /// Estimated inertia, kg·m².
    private(set) var inertia: Double
    /// Standard deviation of the natural logarithm of `inertia`.
    private(set) var sigma: Double {
        didSet { caution = Self.caution(sigma: sigma) }
    }
    /// Safe fraction of the full gains with the current estimate, 0...1.
    private(set) var caution: Double
    /// Measured delay in addition to `loopDelay`, s; NaN until it has been measured. Only
    /// measurements at the low frequency can give a negative value, because friction can also cause
    /// phase lead.
    private(set) var extraDelay = Double.nan
    /// True if the camera moved against the torque in two consecutive measurements.
    private(set) var isReversed = false
    /// True if a search for the inertia is in progress, including the pauses between searches.
    private(set) var isProbing = false
    /// True if the probe pauses, because the last search ended without a result.
    private(set) var hasGivenUp = false

    /// True from an oscillation of this axis until its next measurement.
    private var isSuspected = false
    private var amplitude = 0.0
    /// Amplitude at the success of the last search, N·m.
    private var usefulAmplitude = 0.0
    private var lastRate = 0.0
    private var lastMoment = 0.0
    private var hasRate = false
    private var previous = 0.0
    private var previousAmplitude = 0.0
    private var rounds = 0
    /// True while the probe measures the delay at the low frequency.
    private var isSlow = false
    /// Amplitude of the probe before the change from full to low frequency, N·m.
    private var fastAmplitude = 0.0
    /// Delay in addition to `loopDelay`, measured at low frequency or on another axis, s.
    private var coarseDelay = 0.0
    /// True if the low-frequency probe has shown motion in the direction of the torque.
    private var isUprightKnown = false
    /// Phase of the previous response, rad; NaN if the response was not clear.
    private var previousPhase = Double.nan
    /// Inertia according to the previous response, kg·m².
    private var previousSize = 0.0
    /// Time since the beginning of the probe's pause, s.
    private var silent = 0.0
    private var block = ProbeBlock(length: blockSeconds)

    /// Creates the identification of one axis with an initial estimate of its inertia.
    @_noLocks
    init(_ parameters: Parameters) {
        inertia = parameters.start
        sigma = parameters.startSigma
        caution = Self.caution(sigma: parameters.startSigma)
    }

    /// True if the inertia estimate is certain enough for the full gains.
    var isKnown: Bool { @_noLocks @inline(always) get { sigma <= Self.knownSigma } }

    private static func caution(sigma: Double) -> Double {
        sigma <= knownSigma ? 1 : cm_exp(-2 * (sigma - knownSigma))
    }

    /// Sets the inertia to `value`, kg·m², for example a configured inertia, and ends the search.
    @_noLocks
    mutating func assume(_ value: Double, sigma new: Double) {
        inertia = min(max(value, Self.smallest), Self.largest)
        sigma = new
        isProbing = false
    }

    /// Marks the estimate as the likely cause of an oscillation, so that only a measurement replaces
    /// it.
    @_noLocks
    mutating func suspect() { isSuspected = true }

    /// Replaces an estimate that is less certain than `sigma`; the search continues.
    ///
    /// - Parameters:
    ///   - value: Inertia, kg·m².
    ///   - new: Standard deviation of its natural logarithm.
    @_noLocks
    mutating func guess(_ value: Double, sigma new: Double) {
        guard sigma > new, !isSuspected else { return }
        inertia = min(max(value, Self.smallest), Self.largest)
        sigma = new
    }

    /// Increases the estimate's standard deviation to at least `least`, because the load may have
    /// changed, and discards a reversed response. If the inertia is then uncertain, a new search
    /// starts.
    @_noLocks
    mutating func raiseSigma(sigma least: Double, parameters p: Parameters) {
        sigma = max(sigma, least)
        isReversed = false
        guard !isKnown else { return }
        isProbing = true
        begin(p)
    }

    /// Takes a change of the assumed delay `loopDelay` into account, s.
    @_noLocks
    mutating func changeAssumedDelay(by change: Double) {
        extraDelay -= change
        if coarseDelay != 0 { coarseDelay -= change }
        forget()
    }

    /// Starts a search for the inertia with the probe at full frequency.
    private mutating func begin(_ p: Parameters) {
        hasGivenUp = false
        isSlow = false
        isUprightKnown = false
        coarseDelay = 0
        silent = 0
        start(p)
    }

    /// Starts the probe with a small amplitude, or with half of the amplitude of the last success.
    private mutating func start(_ p: Parameters) {
        // The initial amplitude is half of the amplitude that was sufficient in the last search.
        amplitude = max(Self.leastProbe * p.torqueLimit, 0.5 * usefulAmplitude)
        rounds = 0
        previous = 0
        previousPhase = .nan
        forget()
    }

    /// Current frequency of the probe, Hz.
    private func frequency(_ p: Parameters) -> Double {
        isSlow ? p.frequency / Self.descent : p.frequency
    }

    /// Restarts the current measurement, because the camera's recent motion is unknown.
    @_noLocks
    mutating func forget() {
        hasRate = false
        clear()
    }

    /// The probe's moment about this axis in this period, N·m.
    @_noLocks
    func probe(_ p: Parameters) -> Double {
        guard isProbing, !hasGivenUp else { return 0 }
        return amplitude * min(1, 4 * block.window) * cm_sin(2 * .pi * frequency(p) * block.time)
    }

    /// The probe's current amplitude, N·m; zero without a probe.
    var swing: Double {
        @_noLocks @inline(always) get { isProbing && !hasGivenUp ? amplitude : 0 }
    }

    /// Updates the measurement with the moment and the measured rate of one control period.
    ///
    /// - Parameters:
    ///   - moment: Total moment of the controller about this axis, probe included, N·m.
    ///   - rate: Measured rate of the camera about this axis, rad/s.
    ///   - p: Parameters of the probe.
    ///   - dt: Time since the previous call, s, more than 0.
    @_noLocks
    mutating func observe(moment: Double, rate: Double, parameters p: Parameters, dt: Double) {
        guard isProbing else { return }
        if hasGivenUp {
            silent += dt
            if silent > Self.silence { begin(p) }
            return
        }
        // All axes have the same delay, so the delay of another axis is adopted.
        let isOther = abs(p.foundDelay) > Self.otherDelay
        let shared = isOther ? p.foundDelay : 0
        if !p.foundDelay.isNaN, isSlow || abs(coarseDelay - shared) > Self.otherDelay {
            isSlow = false
            restart(coarseDelay: shared, p)
        }
        // The inertia is the momentum change divided by the rate change, at any control period.
        let impulse = hasRate ? lastMoment * dt : 0
        let change = hasRate ? rate - lastRate : 0
        lastMoment = moment
        lastRate = rate
        hasRate = true
        block.add(impulse: impulse, change: change, frequency: frequency(p), dt: dt)
        if block.isComplete {
            finishBlock(p, period: block.period)
            clear()
        }
    }

    private mutating func clear() {
        block = ProbeBlock(length: Self.blockSeconds * (isSlow ? Self.descent : 1))
    }

    private mutating func finishBlock(_ p: Parameters, period: Double) {
        let omega = 2 * Double.pi * frequency(p)
        // The measured rate change is delayed by half a period, and the impulse by one period.
        let lag = p.loopDelay + coarseDelay - period / 2
        let answer = block.ratio(lag: lag * omega)
        let size = cm_sqrt(
            answer.inPhase * answer.inPhase + answer.inQuadrature * answer.inQuadrature)
        let phase = cm_atan2(answer.inQuadrature, answer.inPhase)
        let angle = block.changeNorm / (omega * omega) * 4 / block.length
        let isClear =
            block.noise(inertia: size, lag: lag + phase / omega, omega: omega)
            < Self.clear * size * block.changeNorm
        let agrees =
            isClear && abs(phase - previousPhase) < max(Self.samePhase, omega * period / 2)
            && abs(cm_log(size / previousSize)) < Self.sameSize
        let isOther =
            amplitude > Self.otherProbe * previousAmplitude || angle > 0.5 * Self.largestAngle
            || amplitude >= Self.mostProbe * p.torqueLimit
        previousPhase = isClear ? phase : .nan
        previousSize = size
        let before = sigma
        if isSlow {
            // A joint held by static friction acts as a spring: its response is reversed and
            // contains no information about a delay.
            let isUpright = abs(phase) < Self.uprightPhase
            if agrees, isOther, isUpright || angle > Self.brokenAway * Self.largestAngle {
                return ascend(phase: phase, isReversed: !isUpright, omega: omega, p)
            }
        } else {
            // If the response is exactly inverted, a larger amplitude must confirm the wrong sign.
            let isAtMost = amplitude >= Self.mostProbe * p.torqueLimit
            look(
                at: answer, lag: lag, omega: omega, period: period, angle: angle,
                isOther: isOther, heaviest: p.torqueLimit / Self.weakest)
            if !isKnown, agrees, isOther, p.foundDelay.isNaN, !isPlausible(phase: phase) {
                if !isUprightKnown, abs(phase) < Self.reversedPhase || isAtMost {
                    return descend(angle: angle, p)
                }
                // Friction adds phase lead to the response, most at low frequencies. Therefore the
                // sign at the low frequency is correct, but the measured delay is too short.
                let later = coarseDelay + (phase < 0 ? phase + 2 * .pi : phase) / omega
                if isUprightKnown, later < Self.latestDelay {
                    return restart(coarseDelay: later, p)
                }
            }
        }
        previousAmplitude = amplitude
        if sigma == before { rounds += 1 }
        if isKnown {
            usefulAmplitude = amplitude
            isProbing = false
            return
        }
        // Increase the amplitude until the response is clear, up to `largestAngle` or `mostProbe`.
        let room = angle > 0 ? Self.largestAngle / angle : 2
        amplitude = min(
            amplitude * min(2, max(room, Self.leastScale)), Self.mostProbe * p.torqueLimit)
        if rounds >= (isSlow ? Self.mostSlowRounds : Self.mostRounds) { hasGivenUp = true }
    }

    /// Fraction of the rate change that remains after the demodulation. The fraction is below 1,
    /// because the effect of one period's impulse is spread over two samples. `turn` is the probe's
    /// phase increment per period, rad.
    private static func spread(_ turn: Double) -> Double {
        cm_sqrt(1 - (1 - cm_cos(turn)) / 3)
    }

    /// True if inertia and friction, with about the assumed delay, can cause the given phase, rad.
    private func isPlausible(phase: Double) -> Bool {
        phase > Self.plausiblePhases.lowest && phase < Self.plausiblePhases.highest
    }

    /// Evaluates one measurement of the probe at full frequency.
    private mutating func look(
        at answer: (inPhase: Double, inQuadrature: Double), lag: Double, omega: Double,
        period: Double, angle: Double, isOther: Bool, heaviest: Double
    ) {
        // A wrong sign of motor or sensor inverts both the in-phase and the quadrature part.
        let sign = answer.inPhase < 0 ? -1.0 : 1.0
        let ratio = (inPhase: sign * answer.inPhase, inQuadrature: sign * answer.inQuadrature)
        let late = max(0, cm_atan2(ratio.inQuadrature, ratio.inPhase))
        let found = ratio.inPhase * cm_cos(late) + ratio.inQuadrature * cm_sin(late)
        let noise = block.noise(inertia: sign * found, lag: lag + late / omega, omega: omega)
        let signal = found * block.changeNorm
        let isSeen =
            found > 0 && noise < Self.clear * signal && ratio.inQuadrature > -2 * ratio.inPhase
            && late < Self.latestPhase && found > Self.smallest && found < heaviest
        let agrees = previous * sign > 0 && abs(cm_log(found / abs(previous))) < Self.sameSize
        // A joint held by static friction acts as a spring, and the response of a light camera is
        // then also reversed. With an additional delay of 10 ms, the response also appears
        // reversed, but its quadrature part is large.
        let isExact = abs(ratio.inQuadrature) < Self.exactness * ratio.inPhase || coarseDelay > 0
        if isSeen, agrees, sign < 0, angle > Self.brokenAway * Self.largestAngle, isExact,
            !isUprightKnown
        {
            isReversed = true
        }
        if isSeen, isOther, agrees, sign > 0 {
            extraDelay = coarseDelay + late / omega
            // The effect of elastic friction grows with the ratio of friction to accelerating
            // torque.
            let friction = max(0, -ratio.inQuadrature / ratio.inPhase)
            learn(
                found * Self.spread(period * omega),
                sigma: max(noise / signal, max(Self.modelSigma, Self.frictionError * friction)))
        }
        previous = isSeen ? sign * found : 0
    }

    /// Reduces the frequency of the probe to a third of the full frequency. The same torque then
    /// turns the camera by nine times the angle.
    private mutating func descend(angle: Double, _ p: Parameters) {
        let present = amplitude
        isSlow = true
        start(p)
        fastAmplitude = present
        let room =
            Self.largestAngle / (2 * Self.descent * Self.descent * max(angle, Self.leastAngle))
        amplitude = max(amplitude, present * min(1, room))
    }

    /// Returns the probe to full frequency, with the delay that was measured at the low frequency.
    private mutating func ascend(
        phase: Double, isReversed reversed: Bool, omega: Double, _ p: Parameters
    ) {
        // A motion against the torque cannot be the effect of a delay.
        if reversed { isReversed = true }
        isUprightKnown = !reversed
        isSlow = false
        amplitude = fastAmplitude
        restart(coarseDelay: max(phase / omega, -p.loopDelay), p)
    }

    /// Restarts the measurement with the given additional delay, s.
    private mutating func restart(coarseDelay delay: Double, _ p: Parameters) {
        let present = amplitude
        start(p)
        amplitude = present
        coarseDelay = delay
    }

    /// Merges an independent measurement into the inertia estimate.
    @_noLocks
    mutating func learn(_ value: Double, sigma measured: Double) {
        isSuspected = false
        let weight = sigma * sigma / (sigma * sigma + measured * measured)
        let log = cm_log(inertia) + weight * cm_log(value / inertia)
        inertia = min(max(cm_exp(log), Self.smallest), Self.largest)
        sigma *= cm_sqrt(1 - weight)
    }
}
