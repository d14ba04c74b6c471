internal import CMathShim

/// Sees a loop that shakes its camera.
///
/// No set-point and no hand has power above a loop's crossover; what turns the camera there comes from the motors, from a
/// vibration, or is the gyroscope's noise. An oscillation of the loop is what the motors did some moments ago: rate and
/// acceleration told, both above the crossover, are coherent at any phase (so neither the delay nor the inertia has to be known),
/// and the motors spend a share of what they can give on it. Noise is not coherent with what was told before, and a knock dies
/// away. A vibration from outside cannot be told from it by looking; whoever lowers the gains sees that it does not end, and
/// has it tolerated.
///
/// Loop thread only; constant time, no allocation.
struct OscillationWatch: Sendable, BitwiseCopyable {
    /// What one axis has to offer in a period.
    struct Sight: Sendable, BitwiseCopyable {
        /// What the errors have made the motors do, rad/s², or a rate, rad/s, where motors are told rates.
        var told: Double
        /// Camera's rate, rad/s.
        var rate: Double
        /// From which RMS on `told` counts, its unit.
        var floor: Double
        /// Above which there is nothing to do for the loop, rad/s.
        var corner: Double
        /// Whether no probe moves the camera: only then a swing that grows is the loop's alone.
        var isKnown: Bool
        /// Whether `told` follows the hand as well: an oscillation is then larger above the corner than
        /// below it, and one tone for six swings.
        var followsHand: Bool

        @_noLocks
        init(
            told: Double, rate: Double, floor: Double, corner: Double, isKnown: Bool = false,
            followsHand: Bool = false
        ) {
            self.isKnown = isKnown
            self.followsHand = followsHand
            self.told = told
            self.rate = rate
            self.floor = floor
            self.corner = corner
        }
    }

    private var yaw = AxisOscillation()
    private var roll = AxisOscillation()
    private var pitch = AxisOscillation()
    private var told = JointHistory()

    /// Share of a motor's torque or rate that is spent on an oscillation of the loop, RMS; noise takes a twentieth of it.
    static var shaken: Double { @_noLocks get { 0.15 } }
    /// From where on nothing but an oscillation is expected, times the loop's delay: half an octave above the crossover.
    static var beyondCrossover: Double { @_noLocks get { 0.85 } }
    /// Below it a hand and its steps have their say, rad/s.
    static var hand: Double { @_noLocks get { 2 * .pi * 10 } }

    /// How long before a rate what was told is compared with it, s: longer than noise remembers.
    private static var age: Double { @_noLocks get { 0.008 } }

    @_noLocks
    init() {}

    /// The outputs are about to come on, or something shakes the camera on purpose.
    @_noLocks
    mutating func reset() { self = OscillationWatch() }

    /// One period.
    ///
    /// - Parameters:
    ///   - sightYaw: About the camera's z axis.
    ///   - sightRoll: About x.
    ///   - sightPitch: About y.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The axes whose oscillation has just been seen, or goes on: told again as long as it lasts.
    @_noLocks
    mutating func step(
        yaw sightYaw: Sight, roll sightRoll: Sight, pitch sightPitch: Sight, dt: Double
    ) -> AxisSet {
        let past = told.value(age: Self.age, dt: dt)
        told.append(
            AxisVector(yaw: sightYaw.told, roll: sightRoll.told, pitch: sightPitch.told), dt: dt)
        // The axes mostly have the same corner.
        let paceYaw = AxisOscillation.Pace(sightYaw, dt: dt)
        let paceRoll = paceYaw.adapted(to: sightRoll)
        let isYaw = yaw.step(past.yaw, sightYaw, paceYaw)
        let isRoll = roll.step(past.roll, sightRoll, paceRoll)
        let isPitch = pitch.step(past.pitch, sightPitch, paceRoll.adapted(to: sightPitch))
        return AxisSet(yaw: isYaw, roll: isRoll, pitch: isPitch)
    }

    /// Whether no axis looks as if it swung.
    var isCalm: Bool { @_noLocks get { yaw.isCalm && roll.isCalm && pitch.isCalm } }

    /// These axes have been proved innocent: what shakes them at present comes from outside, and is not told again unless it
    /// doubles.
    @_noLocks
    mutating func tolerate(_ axes: AxisSet) {
        if axes.contains(.yaw) { yaw.tolerate() }
        if axes.contains(.roll) { roll.tolerate() }
        if axes.contains(.pitch) { pitch.tolerate() }
    }
}

/// One axis of `OscillationWatch`.
private struct AxisOscillation: Sendable, BitwiseCopyable {
    // High-passes of second order: the rate, what was told, and its integral.
    private var rateLow = Vector2()
    private var toldLow = Vector2()
    private var sumLow = Vector2()
    // Means over the memory: squares, and products with the rate.
    private var rateSquare = 0.0
    private var toldSquare = 0.0
    private var sumSquare = 0.0
    /// Mean square of what was told below the corner.
    private var handSquare = 0.0
    private var inPhase = 0.0
    private var inQuadrature = 0.0
    /// Products of what was told with its integral: an oscillation has none, what runs away is its own integral.
    private var growth = 0.0
    /// How long it has been going on, s.
    private var evidence = 0.0
    /// Largest of what was told in this half swing and in the ones before it, the newest first.
    private var crest = 0.0
    private var crests = Crests()
    private var wasUp = false
    /// Half swings in a row of which none was much smaller than the one before.
    private var halves = 0
    /// RMS of `told` when it was seen last, and up to where it is tolerated.
    private var level = 0.0
    private var tolerated = 0.0

    /// Over which means are taken, s, and at least this many radians at the corner: one and a half swings.
    private static var memory: Double { @_noLocks get { 0.04 } }
    private static var memorySwings: Double { @_noLocks get { 3 * .pi } }
    /// How long an oscillation must last, s: a knock has died away.
    private static var patience: Double { @_noLocks get { 0.08 } }
    /// How much of the rate what was told must explain.
    private static var leastCoherence: Double { @_noLocks get { 0.6 } }
    /// Over which the hand's part is taken, s: a step.
    private static var handMemory: Double { @_noLocks get { 0.3 } }
    /// Crest of a tone in terms of the floor: a healthy servo that hunts within its dead band has less.
    private static var crest: Double { @_noLocks get { 2 } }
    /// How often it is told again, s.
    private static var repetition: Double { @_noLocks get { 0.08 } }
    /// Share of the motor's means, in terms of the floor, that nothing but an oscillation takes, coherent or not.
    private static var plenty: Double { @_noLocks get { 3 } }

    /// Half swings in a row that make a tone: five swings. A heel strike excites two or three.
    private static var swings: Int { @_noLocks get { 10 } }
    /// The same where what was told follows the hand: a runner excites five swings.
    private static var handSwings: Int { @_noLocks get { 12 } }
    /// Smallest crest of a half swing in terms of the one before, in a tone that grows.
    private static var growing: Double { @_noLocks get { 0.8 } }
    /// Smaller of two crests in a row in terms of the larger, in a tone: a dead band makes them unequal.
    private static var alike: Double { @_noLocks get { 0.6 } }
    /// By how much the crests grow meanwhile: more than a vibration wavers.
    private static var growth: Double { @_noLocks get { 1.3 } }
    /// How much of a pure tone what was told explains.
    private static var pureCoherence: Double { @_noLocks get { 0.95 } }
    /// Crest of it in terms of the floor: a light camera turns by degrees before its motors are at their limit.
    private static var early: Double { @_noLocks get { 0.6 } }

    /// What time does in one period, for one corner.
    struct Pace: Sendable, BitwiseCopyable {
        /// Seconds since the previous period, more than 0.
        let dt: Double
        /// Share of a new value in the high-passes, in the means and in the hand's part.
        let share, fresh, hand: Double
        private let corner: Double
        private let isKnown: Bool

        @_noLocks
        init(_ seen: OscillationWatch.Sight, dt: Double) {
            self.dt = dt
            corner = seen.corner
            isKnown = seen.isKnown
            share = seen.corner * dt / (1 + seen.corner * dt)
            // Three swings of a slow loop are longer than the usual memory, over which a heel strike looks like a pure tone. While
            // a probe is at work the camera may be far lighter than believed, and a quick answer counts more.
            let memory =
                seen.isKnown
                ? max(AxisOscillation.memory, AxisOscillation.memorySwings / seen.corner)
                : AxisOscillation.memory
            fresh = dt / (memory + dt)
            hand = dt / (AxisOscillation.handMemory + dt)
        }

        /// The same for another axis.
        @_noLocks @inline(__always)
        func adapted(to seen: OscillationWatch.Sight) -> Pace {
            seen.corner == corner && seen.isKnown == isKnown ? self : Pace(seen, dt: dt)
        }
    }

    private struct Vector2: Sendable, BitwiseCopyable {
        var first = 0.0
        var second = 0.0
        @_noLocks
        init() {}

        /// High-pass of second order, both poles at one place.
        mutating func pass(_ value: Double, share: Double) -> Double {
            first += (value - first) * share
            let high = value - first
            second += (high - second) * share
            return high - second
        }
    }

    /// The last six crests, the newest first.
    private struct Crests: Sendable, BitwiseCopyable {
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

    /// Whether nothing has spoken for an oscillation of late.
    var isCalm: Bool { @_noLocks get { evidence == 0 && halves < 3 } }

    /// One period of what was told: a new half swing begins where it changes its sign.
    private mutating func count(_ told: Double, _ seen: OscillationWatch.Sight) {
        let isUp = told > 0
        if isUp != wasUp {
            let goesOn =
                seen.followsHand
                ? crest > max(Self.alike * crests.first, Self.crest * seen.floor)
                    && Self.alike * crest < crests.first
                : crest > Self.growing * crests.first
            halves = goesOn ? halves + 1 : 0
            crests.push(crest)
            crest = 0
            wasUp = isUp
        }
        crest = max(crest, abs(told))
    }

    @_noLocks
    mutating func tolerate() {
        tolerated = 2 * level
        evidence = 0
    }

    /// One period; `past` is what was told some moments before the rate.
    mutating func step(_ past: Double, _ seen: OscillationWatch.Sight, _ pace: Pace) -> Bool {
        let (dt, share, fresh) = (pace.dt, pace.share, pace.fresh)
        let rate = rateLow.pass(seen.rate, share: share)
        let told = toldLow.pass(past, share: share)
        // The same filter over the integral of what was told: a quarter turn later, up to half the loop's rate, because the
        // integral is taken to the middle of the period.
        let before = sumLow.first
        sumLow.first += (past - sumLow.first) * share
        let middle = 0.5 * (before + sumLow.first)
        sumLow.second += (middle - sumLow.second) * share
        let sum = middle - sumLow.second
        rateSquare += (rate * rate - rateSquare) * fresh
        toldSquare += (told * told - toldSquare) * fresh
        // The low-pass of second order at the same corner.
        let slow = toldLow.first - toldLow.second
        handSquare += (slow * slow - handSquare) * pace.hand
        sumSquare += (sum * sum - sumSquare) * fresh
        inPhase += (rate * sum - inPhase) * fresh
        inQuadrature += (rate * told - inQuadrature) * fresh
        growth += (told * sum - growth) * fresh
        let isSwinging = growth * growth < 0.5 * toldSquare * sumSquare
        let size = cm_sqrt(toldSquare)
        let least = rateSquare * toldSquare * sumSquare
        let explained = inPhase * inPhase * toldSquare + inQuadrature * inQuadrature * sumSquare
        let isCoherent = explained > Self.leastCoherence * least
        count(told, seen)
        if !seen.isKnown, !seen.followsHand { halves = 0 }
        let isGrowing =
            crests.first + crests.second > Self.growth * (crests.fifth + crests.sixth)
            && crests.first >= crests.third && crests.second >= crests.fourth
        if seen.isKnown, halves >= Self.swings, isGrowing, isSwinging, least > 0,
            explained > Self.pureCoherence * least,
            crests.first > max(tolerated, Self.early * seen.floor)
        {
            halves = 0
            evidence = 0
            level = max(level, size)
            return true
        }
        // Nothing that takes half of a motor is tolerated.
        let floor = seen.followsHand ? max(seen.floor, cm_sqrt(handSquare)) : seen.floor
        let isLarge = size > max(floor, min(tolerated, Self.plenty * floor))
        guard isLarge, isSwinging, least > 0, isCoherent || size > Self.plenty * floor else {
            evidence = max(0, evidence - dt)
            if evidence == 0, size < 0.5 * level { level = 0 }
            return false
        }
        evidence += size > Self.plenty * floor ? 2 * dt : dt
        // What dies away since the gains went down needs no lower ones.
        let lasts = seen.followsHand ? halves >= Self.handSwings : evidence > Self.patience
        guard lasts, size > 0.7 * level || level == 0 else { return false }
        evidence -= Self.repetition
        level = size
        return true
    }
}
