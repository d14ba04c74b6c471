internal import CMathShim
public import GimbalCore

/// Motion of the handle, a sum of sines with seeded phases. Therefore attitude, rate and
/// acceleration are consistent with each other at every instant.
public struct BaseMotion: Sendable {
    /// State of the handle at one instant.
    public struct State: Sendable, BitwiseCopyable {
        /// Attitude: rotation from the handle frame to the earth frame (NED).
        public var attitude: Quaternion
        /// Angular rate, handle frame, rad/s.
        public var rate: Vector3
        /// Acceleration, earth frame (NED), m/s², without gravity.
        public var acceleration: Vector3
    }

    /// One sine: `amplitude * sin(angularRate * t + phase)`.
    struct Wave: Sendable {
        var amplitude: Double
        var angularRate: Double
        var phase: Double
    }

    /// Kind of the motion.
    public let kind: HandleMotion
    /// Time at rest before the motion begins, s.
    public var stillDuration: Double
    /// Time in which the motion grows from rest to its full amplitude, s.
    public var rampDuration: Double
    /// Mean yaw, roll and pitch of the handle, rad.
    public var pose: AxisVector
    /// Constant rate of an additional turn: yaw, roll, pitch, rad/s. The turn starts and ends as
    /// smoothly as the motion starts.
    public var turnRate = AxisVector.zero
    /// Duration of the turn, s, from the end of the initial rest.
    public var turnDuration = Double.infinity

    /// Recorded motion, which replaces the sines after `stillDuration`; nil without a recording.
    private var recording: RecordedMotion?
    private var isRepeated = false
    /// Rotation and shaking of the handle by a person who walks or runs.
    private var gait: Gait?
    private var yaw: [Wave] = []
    private var roll: [Wave] = []
    private var pitch: [Wave] = []
    private var north: [Wave] = []
    private var east: [Wave] = []
    private var down: [Wave] = []

    /// Creates a motion with seeded phases.
    ///
    /// - Parameters:
    ///   - kind: Kind of the motion.
    ///   - seed: Seed of the phases; the RMS values do not depend on the seed.
    ///   - scale: Factor applied to all amplitudes.
    ///   - stillDuration: Time at rest before the motion begins, s.
    ///   - rampDuration: Duration of the smooth start, s; 0 means that the full motion starts
    ///     immediately.
    ///   - pose: Mean handle angles, rad.
    public init(
        _ kind: HandleMotion, seed: UInt64, scale: Double = 1, stillDuration: Double = 4,
        rampDuration: Double = 2,
        pose: AxisVector = .zero
    ) {
        self.kind = kind
        self.stillDuration = stillDuration
        self.rampDuration = rampDuration
        self.pose = pose
        var random = RandomSource(seed: seed, stream: 0xBA5E)
        let degree = Double.pi / 180
        switch kind {
        case .still:
            break
        case .walking:
            gait = Gait.walker(scale: scale, &random)
        case .running:
            gait = Gait.runner(scale: scale, &random)
        case .handheld:
            let frequencies = [0.5, 0.83, 1.3, 2.1, 3.4, 5.3, 8.7, 12.0]
            func tremor(_ rms: Double) -> [Wave] {
                // The amplitude falls with frequency, except for physiological tremor at 8...12 Hz.
                let weights = [1, 0.8, 0.55, 0.3, 0.15, 0.08, 0.06, 0.04]
                return BaseMotion.waves(frequencies, weights, rms: rms * scale, random: &random)
            }
            roll = tremor(0.6 * degree)
            pitch = tremor(0.6 * degree)
            yaw = tremor(0.6 * degree)
            let sway = [1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.3, 0.2]
            north = BaseMotion.waves(frequencies, sway, rms: 0.2 * scale, random: &random)
            east = BaseMotion.waves(frequencies, sway, rms: 0.2 * scale, random: &random)
            down = BaseMotion.waves(frequencies, sway, rms: 0.2 * scale, random: &random)
        }
    }

    /// Creates a recorded motion, with the handle at rest before and after it.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - stillDuration: Time at rest before the recording begins, s.
    ///   - isRepeated: True if the recording is repeated. Between two repetitions, the handle turns
    ///     back to the initial attitude within `RecordedMotion.returnSeconds`.
    public init(
        _ recording: RecordedMotion, stillDuration: Double = 4, isRepeated: Bool = false
    ) {
        self.init(.still, seed: 0, stillDuration: stillDuration)
        self.recording = recording
        self.isRepeated = isRepeated
    }

    /// State of the handle `seconds` after the start.
    public func state(at seconds: Double) -> State {
        if let recording {
            let since = seconds - stillDuration
            return isRepeated ? recording.repeated(at: since) : recording.state(at: since)
        }
        let since = seconds - stillDuration
        let turn = turned(since)
        let heading = pose + turnRate * turn.time
        if kind == .still {
            return State(
                attitude: EulerZXY.quaternion(heading),
                rate: JointKinematics(joints: heading)
                    .relativeRate(jointRates: turnRate * turn.share), acceleration: .zero)
        }
        // The motion grows along a raised cosine, whose derivative contributes to the rate.
        var gain = 1.0
        var growth = 0.0
        if since <= 0 {
            gain = 0
        } else if since < rampDuration {
            let omega = Double.pi / rampDuration
            gain = 0.5 - 0.5 * cm_cos(omega * since)
            growth = 0.5 * omega * cm_sin(omega * since)
        }
        if let gait {
            return carried(
                by: gait, at: seconds, heading: heading, turn: turn.share, gain: (gain, growth))
        }
        let z = BaseMotion.sum(yaw, at: seconds)
        let x = BaseMotion.sum(roll, at: seconds)
        let y = BaseMotion.sum(pitch, at: seconds)
        let angles = AxisVector(yaw: z.value, roll: x.value, pitch: y.value) * gain + heading
        let rates =
            AxisVector(yaw: z.slope, roll: x.slope, pitch: y.slope) * gain
            + AxisVector(yaw: z.value, roll: x.value, pitch: y.value) * growth
            + turnRate * turn.share
        return State(
            attitude: EulerZXY.quaternion(angles),
            rate: JointKinematics(joints: angles).relativeRate(jointRates: rates),
            acceleration: Vector3(
                BaseMotion.value(north, at: seconds), BaseMotion.value(east, at: seconds),
                BaseMotion.value(down, at: seconds)) * gain)
    }

    /// State of a handle that a walking or running person carries.
    private func carried(
        by gait: Gait, at seconds: Double, heading: AxisVector, turn: Double,
        gain: (value: Double, slope: Double)
    ) -> State {
        let swing = gait.at(seconds)
        let course = Gait.course(seconds - stillDuration)
        // The walk starts and stops according to `course`; the derivative of `course` contributes
        // to the rate.
        let share = gain.value * course.walking.value
        let growth = gain.slope * course.walking.value + gain.value * course.walking.slope
        var angles = swing.angles * share + heading
        angles.yaw += course.heading.value
        var rates = swing.rates * share + swing.angles * growth + turnRate * turn
        rates.yaw += course.heading.slope
        return State(
            attitude: EulerZXY.quaternion(angles),
            rate: JointKinematics(joints: angles).relativeRate(jointRates: rates),
            acceleration: Quaternion.aboutZ(heading.yaw + course.heading.value)
                .rotate(swing.push) * share)
    }

    /// State of the turn, relative to the full rate: `time` = angle / full rate, s; `share` = rate /
    /// full rate.
    private func turned(_ since: Double) -> (time: Double, share: Double) {
        let begin = grown(since)
        let end = grown(since - turnDuration)
        return (begin.time - end.time, begin.share - end.share)
    }

    /// Integral (`time`) and value (`share`) of a raised cosine that rises over `rampDuration`.
    private func grown(_ since: Double) -> (time: Double, share: Double) {
        guard since > 0 else { return (0, 0) }
        guard since < rampDuration else { return (since - 0.5 * rampDuration, 1) }
        let omega = Double.pi / rampDuration
        return (
            0.5 * since - 0.5 * cm_sin(omega * since) / omega, 0.5 - 0.5 * cm_cos(omega * since)
        )
    }

    private static func waves(
        _ frequencies: [Double], _ weights: [Double], rms: Double, random: inout RandomSource
    ) -> [Wave] {
        var power = 0.0
        for weight in weights { power += weight * weight / 2 }
        let scale = rms / cm_sqrt(power)
        var waves: [Wave] = []
        for (frequency, weight) in zip(frequencies, weights) {
            // Each frequency deviates at random by at most 5 %.
            let shift = 1 + 0.05 * (2 * random.uniform() - 1)
            waves.append(
                Wave(
                    amplitude: weight * scale, angularRate: 2 * .pi * frequency * shift,
                    phase: 2 * .pi * random.uniform()))
        }
        return waves
    }

    private static func sum(_ waves: [Wave], at seconds: Double) -> (value: Double, slope: Double) {
        var value = 0.0
        var slope = 0.0
        for wave in waves {
            let angle = wave.angularRate * seconds + wave.phase
            value += wave.amplitude * cm_sin(angle)
            slope += wave.amplitude * wave.angularRate * cm_cos(angle)
        }
        return (value, slope)
    }

    private static func value(_ waves: [Wave], at seconds: Double) -> Double {
        var value = 0.0
        for wave in waves {
            value += wave.amplitude * cm_sin(wave.angularRate * seconds + wave.phase)
        }
        return value
    }
}
