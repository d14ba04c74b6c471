internal import CMathShim

/// Search for one rotor, for motors without encoders: measures the rotor's electrical angle, the
/// inertia that turns with it, and the loop delay.
///
/// The magnetic field turns so fast that the rotor cannot follow. The motor's torque then
/// alternates, so the camera trembles and keeps its angle. The power grows until the tremor is
/// measurable. Two powers are measured, because the difference of the squared amplitudes is free of
/// sliding friction. The field turns forwards at the first power, and backwards at the second. The
/// loop delay changes the two phases in opposite directions, and the rotor's angle changes them in
/// the same direction, so both follow.
///
/// Friction advances the tremor by up to 90°, like a shorter delay. Therefore the measured delay is
/// too short if the friction is not small.
///
/// Runs on the loop thread only, in constant time.
struct RotorSearch: Sendable, BitwiseCopyable {
    /// Result of a search.
    struct Result: Sendable, BitwiseCopyable {
        /// Electrical angle of the rotor, rad, within half a turn of the field's angle; the field's
        /// angle if nothing was measured.
        var electrical: Double
        /// Inertia about the joint, kg·m²; NaN if nothing was measured.
        var inertia = Double.nan
        /// Sliding friction of the joint, N·m; NaN if it was not measured.
        var friction = Double.nan
        /// Loop delay from the motion to the responding torque, s; NaN if nothing was measured.
        var delay = Double.nan
    }

    /// Input of one control period.
    struct Sample: Sendable, BitwiseCopyable {
        /// Rate of the camera about the joint's axis, rad/s.
        var cameraRate: Double
        /// Rate of the joint, rad/s.
        var jointRate: Double
        /// Largest permitted power, 0...1, which rises from 0 to the value at full authority.
        var power: Double
        /// True at full authority.
        var isFull: Bool
        /// Torque of the motor at full power and 90 electrical degrees, N·m.
        var peakTorque: Double
        /// Number of pole pairs of the rotor.
        var polePairs: Double
        /// Frequency of the field, rad/s.
        var frequency: Double
    }

    /// Exponentially weighted means of the tremor, in the frame of the field.
    private struct Tremor: Sendable, BitwiseCopyable {
        var cosine = 0.0
        var sine = 0.0
        var torque = 0.0
        /// Sum of the weights, 0...1.
        var weight = 0.0

        mutating func add(_ rate: Double, torque push: Double, angle: Double, fade: Double) {
            let circle = cm_sincos(angle)
            cosine += (2 * rate * circle.cos - cosine) * fade
            sine += (2 * rate * circle.sin - sine) * fade
            torque += (push - torque) * fade
            weight += (1 - weight) * fade
        }

        /// Means of the rate's amplitude, rad/s, and of the torque, N·m.
        var means: (rate: Double, torque: Double) {
            (cm_sqrt(cosine * cosine + sine * sine) / weight, torque / weight)
        }
    }

    private enum Stage {
        /// The power rises until the camera trembles.
        case rising
        /// The field turns forwards at constant power.
        case forwards
        /// The field turns backwards at a higher constant power.
        case backwards
        case over
    }

    /// Amplitude of the tremor at which the power stops rising, rad/s. The tremor of a hand is
    /// weaker at these frequencies.
    private static var enough: Double { @_noLocks get { 0.12 } }
    /// Amplitude of the tremor at which a measurement ends early, rad/s.
    private static var most: Double { @_noLocks get { 0.8 } }
    /// Smallest amplitude of the tremor with a result, rad/s.
    private static var least: Double { @_noLocks get { 0.045 } }
    /// Ratio of the second power to the first.
    private static var powerStep: Double { @_noLocks get { 1.35 } }
    /// Slow rate of the camera above which the search ends without a result, rad/s. A falling
    /// camera must be held first.
    private static var falling: Double { @_noLocks get { 0.6 } }
    /// Time constant of the high-pass that removes the motion of a hand, s.
    private static var handTime: Double { @_noLocks get { 0.03 } }
    /// Time constant of the means, s: one to two turns of the field.
    private static var memory: Double { @_noLocks get { 0.06 } }
    /// Duration of a measurement at constant power, s.
    private static var settling: Double { @_noLocks get { 0.14 } }
    /// Longest duration at full power without a tremor, s.
    private static var patience: Double { @_noLocks get { 0.3 } }
    /// Smallest difference of the two squared torques, as a fraction of the larger, for a result
    /// without friction. The nominal difference is 0.45.
    private static var leastTorqueChange: Double { @_noLocks get { 0.2 } }
    /// The same for the squared amplitudes.
    private static var leastRateChange: Double { @_noLocks get { 0.1 } }

    /// Delay that the mean rate of a period and the hold of the field cause together at 1 kHz, s. The
    /// loop delay excludes this delay, and includes the additional delay of a slower loop.
    private static var usualHold: Double { @_noLocks get { 1e-3 } }

    /// Largest number of restarts. Each gap restarts the measurement before and after its period; the
    /// search must end although the loop is late ten times per second.
    private static var mostRestarts: Int { @_noLocks get { 10 } }

    /// Power of the motor, 0...1; at most the permitted power.
    private(set) var power = 0.0
    /// Angle of the field relative to its first angle, electrical rad.
    private(set) var turned = 0.0
    /// True if the search has ended.
    var isOver: Bool { @_noLocks get { stage == .over } }

    private var stage: Stage
    /// Time since the beginning of the stage; while the power rises, since full authority, s.
    private var time = 0.0
    /// Angle through which the rotor has moved, electrical rad.
    private var moved = 0.0
    private var slowRate = Double.nan
    private var tremor = Tremor()
    private var first = Tremor()
    /// Number of restarts of the measurement at constant power.
    private var restarts = 0

    /// Creates a search that begins, or that is already over.
    @_noLocks
    init(isOver: Bool) { stage = isOver ? .over : .rising }

    /// Advances the search by one control period of `dt` seconds.
    ///
    /// - Returns: The result when the search ends; nil before and after.
    @_noLocks
    mutating func step(_ sample: Sample, dt: Double) -> Result? {
        if slowRate.isNaN { slowRate = sample.cameraRate }
        slowRate += (sample.cameraRate - slowRate) * min(dt / Self.handTime, 1)
        moved += sample.jointRate * sample.polePairs * dt
        tremor.add(
            sample.cameraRate - slowRate, torque: sample.peakTorque * power,
            angle: turned - moved, fade: min(dt / Self.memory, 1))
        turned += stage == .backwards ? -sample.frequency * dt : sample.frequency * dt
        time += dt
        let amplitude = tremor.means.rate * tremor.weight / Self.passed(sample.frequency).gain
        power = stage == .rising ? sample.power : min(power, sample.power)
        switch stage {
        case .rising:
            if !sample.isFull { time = 0 }
            if abs(slowRate) > Self.falling { return end(Result(electrical: turned)) }
            if amplitude > Self.enough || time > Self.patience { begin(.forwards) }
        case .forwards where time > Self.settling || amplitude > Self.most:
            first = tremor
            tremor = Tremor()
            power = min(power * Self.powerStep, sample.power)
            begin(.backwards)
        case .backwards where time > Self.settling || amplitude > Self.most:
            return end(result(frequency: sample.frequency, dt: dt))
        case .forwards, .backwards, .over: break
        }
        return nil
    }

    /// Restarts the measurement at constant power, because the motion since the last period is
    /// unknown. The means extend over `memory`, so the motion in a gap would replace the tremor.
    @_noLocks
    mutating func restart() {
        switch stage {
        case .over: return
        case .rising: break
        case .forwards, .backwards:
            guard restarts < Self.mostRestarts else { return }
            restarts += 1
            if stage == .backwards { power /= Self.powerStep }
            begin(.forwards)
        }
        tremor = Tremor()
        slowRate = .nan
    }

    private mutating func begin(_ next: Stage) {
        stage = next
        time = 0
    }

    private mutating func end(_ result: Result) -> Result {
        begin(.over)
        return result
    }

    /// Amplitude ratio and phase lead, rad, of the high-pass at this frequency, rad/s.
    @_noLocks
    private static func passed(_ frequency: Double) -> (gain: Double, lead: Double) {
        let x = frequency * handTime
        return (x / cm_sqrt(1 + x * x), cm_atan2(1, x))
    }

    private func result(frequency: Double, dt: Double) -> Result {
        let pass = Self.passed(frequency)
        let (weak, strong) = (first.means, tremor.means)
        guard strong.rate > Self.least * pass.gain else { return Result(electrical: turned) }
        // The forward field lags behind the rotor by the delay, the backward field leads.
        let forwards = cm_atan2(-first.sine, -first.cosine)
        let backwards = cm_atan2(tremor.sine, tremor.cosine)
        // The lag is known up to half a turn; the range is -45°...135°.
        var lag = 0.5 * (forwards - backwards)
        lag -= Double.pi * cm_floor(lag / Double.pi + 0.25)
        let angle = moved + forwards - lag
        let turns = cm_floor((turned - angle) / (2 * Double.pi) + 0.5)
        let (impedance, friction) = Self.load(weak: weak, strong: strong)
        return Result(
            electrical: angle + turns * 2 * Double.pi,
            inertia: impedance * pass.gain / frequency, friction: friction,
            delay: (lag + pass.lead) / frequency - min(dt, Self.usualHold))
    }

    /// Ratio of torque to rate without sliding friction, N·m·s, and sliding friction, N·m; NaN if
    /// the two measurements cannot be told apart.
    @_noLocks
    private static func load(
        weak: (rate: Double, torque: Double), strong: (rate: Double, torque: Double)
    ) -> (impedance: Double, friction: Double) {
        let most = strong.torque / strong.rate
        let torques = strong.torque * strong.torque - weak.torque * weak.torque
        let rates = strong.rate * strong.rate - weak.rate * weak.rate
        guard torques > leastTorqueChange * strong.torque * strong.torque,
            rates > leastRateChange * strong.rate * strong.rate
        else { return (most, .nan) }
        let impedance = min(cm_sqrt(torques / rates), most)
        let accelerating = impedance * strong.rate
        let squared = strong.torque * strong.torque - accelerating * accelerating
        // A sliding friction of F has a fundamental with the amplitude 4 F / π.
        return (impedance, 0.25 * Double.pi * cm_sqrt(max(squared, 0)))
    }
}
