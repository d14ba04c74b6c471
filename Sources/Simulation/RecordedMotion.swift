internal import CMathShim
public import GimbalCore

/// Motion of a handle, computed from the recording of an inertial sensor, for `BaseMotion`.
///
/// The recorded rate is used as the true rate, after two corrections. The mean over the interval
/// with the least motion is subtracted, and a correction by the accelerometer prevents drift of the
/// attitude. The resulting rate includes the accelerometer's correction; it therefore remains the
/// derivative of the attitude. The acceleration is the recorded specific force, rotated by the
/// computed attitude, without gravity. Acceleration below 0.1 Hz is treated as a tilt error,
/// because a person cannot accelerate for many seconds. Rate and acceleration are interpolated
/// linearly between two samples. A recording at 100 Hz therefore has no content above 50 Hz. The
/// heading begins at zero. If the recording begins or ends during a motion, the motion starts from
/// rest or ends at rest within a third of a second.
public struct RecordedMotion: Sendable {
    /// Duration of the recording, s; the handle is at rest before and after the recording.
    public var duration: Double { Double(knots.count - 1) / sampleRate }

    private struct Knot: Sendable {
        var attitude: Quaternion
        var rate: Vector3
        var acceleration: Vector3
    }

    private let sampleRate: Double
    private var knots: [Knot] = []

    /// Creates the handle's motion from recorded samples.
    ///
    /// - Parameters:
    ///   - samples: Rate and specific force in the handle's frame (x forward, y right, z down);
    ///     finite, at least two samples. The intervals between the samples are assumed to be equal,
    ///     regardless of the samples' own times.
    ///   - sampleRate: Samples per second.
    ///   - restSeconds: Duration of the interval with the least motion. The mean rate in the
    ///     interval with the least motion is used as the gyroscope's offset. In a recording without
    ///     rest, the mean rate of the whole recording is used.
    public init(_ samples: [IMUSample], sampleRate: Double, restSeconds: Double = 1) {
        precondition(samples.count >= 2 && sampleRate > 0)
        self.sampleRate = sampleRate
        let count = min(samples.count, max(1, Int(restSeconds * sampleRate)))
        let bias = Self.calmest(samples, count: count)
        var down = Vector3.zero
        for sample in samples.prefix(count) { down += sample.accel * (-1 / Double(count)) }
        let scale = GimbalPlant.gravity / max(down.norm, 1e-3)
        var upright = Self.upright(down)
        var corrections = [Vector3](repeating: .zero, count: samples.count)
        for _ in 0..<3 {
            integrate(samples, bias: bias, scale: scale, from: upright, corrections: corrections)
            // If the computed attitude has a tilt error about one horizontal axis, gravity appears
            // along the other horizontal axis.
            let leans = slow.map { Vector3($0.y, -$0.x, 0) * (1 / GimbalPlant.gravity) }
            upright = (Quaternion(rotationVector: -leans[0]) * upright).normalized
            for i in corrections.indices {
                let (before, after) = (max(i - 1, 0), min(i + 1, leans.count - 1))
                corrections[i] -=
                    (leans[after] - leans[before]) * (sampleRate / Double(max(after - before, 1)))
            }
        }
        integrate(samples, bias: bias, scale: scale, from: upright, corrections: corrections)
        for (i, drift) in slow.enumerated() { knots[i].acceleration -= drift }
        slowEnds()
    }

    /// Mean rate over the `count` consecutive samples that deviate least from their mean. If even
    /// the steadiest samples deviate by more than 3 °/s RMS (a hand at rest), the result is the
    /// mean over all samples.
    private static func calmest(_ samples: [IMUSample], count: Int) -> Vector3 {
        var (sum, squares) = (Vector3.zero, 0.0)
        var (best, least) = (Vector3.zero, Double.infinity)
        for (i, sample) in samples.enumerated() {
            sum += sample.gyro
            squares += sample.gyro.squaredNorm
            if i >= count {
                sum -= samples[i - count].gyro
                squares -= samples[i - count].gyro.squaredNorm
            }
            guard i + 1 >= count else { continue }
            let spread = squares - sum.squaredNorm / Double(count)
            if spread < least { (best, least) = (sum * (1 / Double(count)), spread) }
        }
        let rest = 3 * Double.pi / 180
        guard least > rest * rest * Double(count) else { return best }
        var all = Vector3.zero
        for sample in samples { all += sample.gyro }
        return all * (1 / Double(samples.count))
    }

    /// Modifies both ends of the motion, so that the motion starts from rest and ends at rest.
    /// Between the ends, only the heading of the attitudes changes, by a common angle. The first
    /// heading is then zero.
    private mutating func slowEnds() {
        let count = min(Int(sampleRate / 3), (knots.count - 1) / 2)
        guard count > 0 else { return }
        let dt = 1 / sampleRate
        for i in 0..<count {
            let share = 0.5 - 0.5 * cm_cos(.pi * Double(i) / Double(count))
            for place in [i, knots.count - 1 - i] {
                knots[place].rate = knots[place].rate * share
                knots[place].acceleration = knots[place].acceleration * share
            }
        }
        for i in (0..<count).reversed() {
            // The attitude of this knot is the next knot's attitude, turned back by the rotation
            // between the two knots.
            var here = knots[i]
            here.attitude = .identity
            let turn = Self.turned(here, knots[i + 1], share: 1, dt: dt)
            knots[i].attitude = (knots[i + 1].attitude * turn.conjugate).normalized
        }
        for i in (knots.count - count)..<knots.count {
            knots[i].attitude = Self.turned(knots[i - 1], knots[i], share: 1, dt: dt)
        }
        let heading = Quaternion.aboutZ(-EulerZXY.angles(knots[0].attitude).yaw)
        for i in knots.indices {
            knots[i].attitude = heading * knots[i].attitude
            knots[i].acceleration = heading.rotate(knots[i].acceleration)
        }
    }

    /// Computes attitude, rate and acceleration of every sample.
    ///
    /// `corrections` are added to the gyroscope's rates, earth frame, rad/s.
    private mutating func integrate(
        _ samples: [IMUSample], bias: Vector3, scale: Double, from start: Quaternion,
        corrections: [Vector3]
    ) {
        knots.removeAll(keepingCapacity: true)
        var attitude = start
        for (sample, correction) in zip(samples, corrections) {
            let rate = sample.gyro - bias + attitude.inverseRotate(correction)
            if let last = knots.last {
                let straight = Knot(attitude: attitude, rate: rate, acceleration: .zero)
                attitude = Self.turned(last, straight, share: 1, dt: 1 / sampleRate)
            }
            let force = attitude.rotate(sample.accel * scale)
            knots.append(
                Knot(
                    attitude: attitude, rate: rate,
                    acceleration: force + Vector3(0, 0, GimbalPlant.gravity)))
        }
    }

    /// Acceleration below 0.1 Hz, earth frame, m/s². The filter runs forwards and backwards, so it
    /// has no delay.
    private var slow: [Vector3] {
        let share = 2 * Double.pi * 0.1 / sampleRate
        var result = knots.map(\.acceleration)
        for _ in 0..<2 {
            var state = result.reduce(.zero, +) * (1 / Double(result.count))
            for i in result.indices {
                state += (result[i] - state) * share
                result[i] = state
            }
            result.reverse()
        }
        return result
    }

    /// State of the handle `seconds` after the start.
    public func state(at seconds: Double) -> BaseMotion.State {
        let place = seconds * sampleRate
        guard place >= 0, place < Double(knots.count - 1) else {
            return BaseMotion.State(
                attitude: knots[place < 0 ? 0 : knots.count - 1].attitude, rate: .zero,
                acceleration: .zero)
        }
        let index = Int(place)
        let (here, next) = (knots[index], knots[index + 1])
        let share = place - Double(index)
        return BaseMotion.State(
            attitude: Self.turned(here, next, share: share, dt: 1 / sampleRate),
            rate: here.rate + (next.rate - here.rate) * share,
            acceleration: here.acceleration + (next.acceleration - here.acceleration) * share)
    }

    /// Interval between two repetitions, s; in this interval the handle turns back to its initial
    /// attitude.
    public static let returnSeconds = 4.0

    /// State of the handle `seconds` after the start of a repeated recording; before the start the
    /// handle is at rest.
    ///
    /// Between two repetitions the handle turns back to its initial attitude, by the shortest
    /// rotation, with a smooth start and stop.
    public func repeated(at seconds: Double) -> BaseMotion.State {
        let round = duration + Self.returnSeconds
        guard seconds > 0 else { return state(at: seconds) }
        let time = seconds - cm_floor(seconds / round) * round
        guard time >= duration else { return state(at: time) }
        let (end, start) = (knots[knots.count - 1].attitude, knots[0].attitude)
        // The handle rests for a fifth of the interval at each end, and turns along a raised cosine
        // in between.
        let moving = 0.6 * Self.returnSeconds
        let place = min(max((time - duration - 0.2 * Self.returnSeconds) / moving, 0), 1)
        let whole = end.error(to: start)
        let share = 0.5 - 0.5 * cm_cos(.pi * place)
        let speed = 0.5 * .pi / moving * cm_sin(.pi * place)
        return BaseMotion.State(
            attitude: (end * Quaternion(rotationVector: whole * share)).normalized,
            rate: whole * speed, acceleration: .zero)
    }

    /// Attitude with heading zero in which the handle-frame vector `down` points down.
    private static func upright(_ down: Vector3) -> Quaternion {
        let roll = cm_atan2(down.y, cm_sqrt(down.x * down.x + down.z * down.z))
        return .aboutX(roll) * .aboutY(cm_atan2(-down.x, down.z))
    }

    /// Attitude between two knots, at the fraction `share` of the time between the knots. The rate
    /// changes linearly between the knots.
    private static func turned(_ here: Knot, _ next: Knot, share: Double, dt: Double) -> Quaternion
    {
        let time = share * dt
        let turn = here.rate * time + (next.rate - here.rate) * (0.5 * share * time)
        return (here.attitude * Quaternion(rotationVector: turn)).normalized
    }
}
