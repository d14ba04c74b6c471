internal import CMathShim
internal import GimbalCore

/// Body rotation and acceleration of a walking or running person. The values are from recordings at
/// the lower back: Voisard et al., IPOL 2023/497; 18 walks of six people. For each harmonic of the
/// stride, the recordings give the amplitude of the rotation about each axis and of the
/// acceleration along each axis. The recordings also give the fraction of each harmonic's mean
/// square that repeats in the next stride.
///
/// The repeating part is a sum of harmonics with coinciding phases at the heel strikes, twice per
/// stride. The non-repeating part consists of one spectral line near each harmonic. The distance
/// between each non-repeating line and its harmonic is a tenth to a half of the stride's frequency.
/// Therefore the motion never repeats exactly, and every value is a function of the phase.
struct Gait: Sendable {
    /// Motion of the handle relative to the person's path, at one instant.
    struct RelativeMotion {
        /// Yaw, roll and pitch of the handle, rad.
        var angles: AxisVector
        /// Derivatives of `angles`, rad/s.
        var rates: AxisVector
        /// Acceleration of the handle, m/s²: forward, right, down.
        var push: Vector3
    }

    /// Sums over all spectral lines at one phase.
    private struct Sum {
        /// Roll, pitch and yaw, rad, and their derivatives with respect to the phase.
        var angles = Vector3.zero
        var slopes = Vector3.zero
        /// Acceleration, m/s²: forward, right, down.
        var push = Vector3.zero

        mutating func add(_ line: Line, _ c: Double, _ s: Double) {
            angles += line.angleCosine * c + line.angleSine * s
            slopes += (line.angleSine * c - line.angleCosine * s) * line.order
            push += line.pushCosine * c + line.pushSine * s
        }
    }

    /// Spectral line: amplitudes of the cosine and the sine of `order` times the phase.
    private struct Line {
        var order: Double
        var angleCosine = Vector3.zero
        var angleSine = Vector3.zero
        var pushCosine = Vector3.zero
        var pushSine = Vector3.zero

        mutating func add(_ cosine: Double, _ sine: Double, _ axis: Int) {
            let unit =
                switch axis % 3 {
                case 0: Vector3(1, 0, 0)
                case 1: Vector3(0, 1, 0)
                default: Vector3(0, 0, 1)
                }
            if axis < 3 {
                angleCosine += unit * cosine
                angleSine += unit * sine
            } else {
                pushCosine += unit * cosine
                pushSine += unit * sine
            }
        }
    }

    /// Two spectral lines for each harmonic. `comes` repeats in every stride; the frequency of
    /// `strays` differs from the harmonic by an element of `distances`.
    private var lines: [(comes: Line, strays: Line)] = []
    /// Distances of the non-repeating lines from their harmonics, as fractions of the stride's
    /// frequency.
    private var distances: [Double] = []

    /// Duration of a stride, s.
    private var stride: Double
    /// Variation of the pace as a sum of waves. The sum is the time by which a step comes earlier
    /// than at constant pace, s.
    private var hurry: [BaseMotion.Wave] = []

    /// Creates the gait of a walking person, with strides of 1.0 to 1.2 s.
    static func walker(scale: Double, _ random: inout RandomSource) -> Gait {
        Gait(stride: 1 + 0.2 * random.uniform(), turning: scale, shaking: scale, random: &random)
    }

    /// Creates the gait of a running person, with 2.7 to 2.9 steps per second.
    static func runner(scale: Double, _ random: inout RandomSource) -> Gait {
        Gait(
            stride: 0.69 + 0.05 * random.uniform(), turning: 1.6 * scale, shaking: 2.15 * scale,
            random: &random)
    }

    /// Creates a gait.
    ///
    /// - Parameters:
    ///   - stride: Duration from one left heel strike to the next, s.
    ///   - turning: Factor applied to the recorded angular rates.
    ///   - shaking: Factor applied to the recorded accelerations.
    ///   - random: Source of phases and distances.
    init(stride: Double, turning: Double, shaking: Double, random: inout RandomSource) {
        self.stride = stride
        // The pace varies with periods of 2 to 11 strides.
        hurry = [0.09, 0.17, 0.26, 0.37, 0.48].map { share in
            let angularRate = 2 * Double.pi * share * (0.85 + 0.3 * random.uniform()) / stride
            return BaseMotion.Wave(
                amplitude: Self.paceVariation * cm_sqrt(2 / 5.0) / angularRate,
                angularRate: angularRate, phase: 2 * .pi * random.uniform())
        }
        let orders = Self.rate.count
        distances = [0.14, -0.23, 0.34, -0.45].map { $0 + 0.08 * (random.uniform() - 0.5) }
        // The heel strikes are at the phases 0 and π; each axis has its own delay and sign.
        let strike = (0..<6).map { _ in 0.25 * (2 * random.uniform() - 1) }
        for i in 0..<orders {
            let order = Double(i + 1)
            let away = distances[i % 4]
            var comes = Line(order: order)
            var strays = Line(order: order + away)
            for axis in 0..<6 {
                let isAngle = axis < 3
                let lost = 1 - (isAngle ? Self.rateShare : Self.pushShare)[i][axis % 3]
                // Consecutive strides differ less than two arbitrary strides of a walk.
                let rateLoss = i < 2 ? Self.slowLoss : Self.rateLoss
                let share = 1 - lost * (isAngle ? rateLoss : Self.pushLoss)
                // The first harmonics have random phases; from the fifth harmonic on the phases
                // coincide.
                let phase =
                    i < 4 ? 2 * .pi * random.uniform() : order * strike[axis]
                let stray = 2 * Double.pi * random.uniform()
                for (isBack, power, phase) in [(true, share, phase), (false, 1 - share, stray)] {
                    let at = isBack ? order : order + away
                    let root = cm_sqrt(2 * power)
                    let size =
                        isAngle
                        ? root * turning * Self.rate[i][axis % 3] * .pi / 180 * stride
                            / (2 * .pi * at)
                        : root * shaking * Self.push[i][axis % 3]
                    let (c, s) = (size * cm_cos(phase), size * cm_sin(phase))
                    if isBack {
                        comes.add(c, s, axis)
                    } else {
                        strays.add(c, s, axis)
                    }
                }
            }
            lines.append((comes, strays))
        }
    }

    /// Handle motion due to the person's steps; `seconds` is the time since the start.
    func at(_ seconds: Double) -> RelativeMotion {
        var (ahead, pace) = (seconds, 1.0)
        for wave in hurry {
            let angle = wave.angularRate * seconds + wave.phase
            ahead += wave.amplitude * cm_sin(angle)
            pace += wave.amplitude * wave.angularRate * cm_cos(angle)
        }
        let sum = sum(at: 2 * .pi / stride * ahead)
        func axes(_ v: Vector3) -> AxisVector { AxisVector(yaw: v.z, roll: v.x, pitch: v.y) }
        return RelativeMotion(
            angles: axes(sum.angles), rates: axes(sum.slopes) * (2 * .pi / stride * pace),
            push: sum.push)
    }

    /// Sum of all spectral lines at the given phase, rad; one stride is 2π.
    private func sum(at phase: Double) -> Sum {
        var result = Sum()
        let (c1, s1) = (cm_cos(phase), cm_sin(phase))
        var beside = (
            Rotor(distances[0] * phase), Rotor(distances[1] * phase),
            Rotor(distances[2] * phase), Rotor(distances[3] * phase)
        )
        var (c, s) = (c1, s1)
        for line in lines {
            result.add(line.comes, c, s)
            let away = beside.0
            result.add(line.strays, c * away.c - s * away.s, s * away.c + c * away.s)
            beside = (beside.1, beside.2, beside.3, away)
            (c, s) = (c * c1 - s * s1, s * c1 + c * s1)
        }
        return result
    }

    /// Course of a walking person, in a repeating pattern. The person walks for 24 s, and slows to
    /// a stop during the last second. After 12 s the path turns by 60°, alternately to the right
    /// and to the left. After the stop the person stands still for 2 s, and then begins to walk
    /// again within a second.
    ///
    /// - Returns: Amplitude of the steps, 0...1, and heading, rad, with their derivatives.
    static func course(
        _ seconds: Double
    ) -> (walking: (value: Double, slope: Double), heading: (value: Double, slope: Double)) {
        guard seconds > 0 else { return ((1, 0), (0, 0)) }
        let round = cm_floor(seconds / 27)
        let time = seconds - 27 * round
        let isEven = round - 2 * cm_floor(round / 2) == 0
        let (stop, start) = (rise(time - 23, over: 1), rise(time - 26, over: 1))
        // The largest rate in this turn is 112°/s, as in a turn of 180° within 1.6 s.
        let corner = rise(time - 12, over: 0.84)
        let sense = isEven ? 1.0 : -1
        let angle = Double.pi / 3
        return (
            (1 - stop.value + start.value, start.slope - stop.slope),
            ((isEven ? 0 : angle) + sense * angle * corner.value, sense * angle * corner.slope)
        )
    }

    /// A raised cosine from 0 to 1.
    private static func rise(
        _ time: Double, over seconds: Double
    ) -> (value: Double, slope: Double) {
        guard time > 0 else { return (0, 0) }
        guard time < seconds else { return (1, 0) }
        let omega = Double.pi / seconds
        return (0.5 - 0.5 * cm_cos(omega * time), 0.5 * omega * cm_sin(omega * time))
    }

    /// Cosine and sine of an angle.
    private struct Rotor {
        var c: Double
        var s: Double

        init(_ angle: Double) {
            c = cm_cos(angle)
            s = cm_sin(angle)
        }
    }

    /// RMS of the relative pace variation. With this variation of the pace, the durations of the
    /// strides vary by 1.5 %.
    private static let paceVariation = 0.013
    /// Factor applied to the recorded non-repeating fraction of the rotation, for the first two
    /// harmonics. With the factor 0.8, two strides differ as much as in 220 recordings of 19 people
    /// who walk straight ahead.
    private static let slowLoss = 0.8
    private static let rateLoss = 0.36
    private static let pushLoss = 0.22

    /// RMS of the angular rate about x, y, z at each harmonic of the stride, deg/s.
    private static let rate: [[Double]] = [
        [10.5, 5.5, 16.7], [2.8, 9.0, 4.6], [15.7, 3.7, 6.8], [3.0, 5.8, 3.4], [4.7, 3.6, 4.6],
        [2.3, 8.0, 2.8], [3.8, 3.2, 4.6], [2.2, 5.9, 3.1], [3.5, 3.5, 4.0], [1.9, 5.3, 2.5],
        [3.0, 3.3, 3.4], [1.4, 5.4, 1.6], [2.0, 3.5, 2.4], [0.9, 3.7, 1.3], [1.6, 3.4, 1.5],
        [0.9, 3.5, 1.1],
    ]
    /// Fraction of the angular rate's mean square that repeats in the next stride, for x, y, z at
    /// each harmonic.
    private static let rateShare: [[Double]] = [
        [0.92, 0.61, 0.89], [0.55, 0.92, 0.11], [0.94, 0.50, 0.76], [0.20, 0.82, 0.26],
        [0.65, 0.49, 0.66], [0.15, 0.77, 0.22], [0.55, 0.30, 0.65], [0.29, 0.61, 0.48],
        [0.62, 0.24, 0.75], [0.32, 0.48, 0.29], [0.71, 0.14, 0.62], [0.19, 0.59, 0.32],
        [0.65, 0.29, 0.61], [0.13, 0.49, 0.27], [0.50, 0.30, 0.49], [0.17, 0.36, 0.16],
    ]
    /// RMS of the acceleration along x, y, z at each harmonic of the stride, m/s².
    private static let push: [[Double]] = [
        [0.19, 0.39, 0.13], [0.99, 0.15, 1.41], [0.16, 0.38, 0.30], [0.54, 0.19, 0.37],
        [0.16, 0.41, 0.23], [0.63, 0.22, 0.80], [0.17, 0.40, 0.26], [0.37, 0.25, 0.66],
        [0.15, 0.36, 0.23], [0.36, 0.24, 0.48], [0.16, 0.35, 0.24], [0.35, 0.17, 0.39],
        [0.15, 0.31, 0.19], [0.19, 0.15, 0.26], [0.13, 0.24, 0.14], [0.18, 0.12, 0.21],
    ]
    private static let pushShare: [[Double]] = [
        [0.53, 0.87, 0.27], [0.95, 0.27, 0.96], [0.21, 0.69, 0.24], [0.85, 0.12, 0.71],
        [0.22, 0.77, 0.17], [0.84, 0.18, 0.83], [0.16, 0.63, 0.21], [0.69, 0.27, 0.78],
        [0.25, 0.58, 0.26], [0.65, 0.21, 0.77], [0.27, 0.63, 0.23], [0.68, 0.25, 0.60],
        [0.29, 0.65, 0.21], [0.55, 0.26, 0.52], [0.29, 0.56, 0.27], [0.45, 0.13, 0.45],
    ]
}
