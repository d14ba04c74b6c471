internal import CMathShim
public import GimbalCore

/// The motion of a handle as an inertial sensor has recorded it, for `BaseMotion`.
///
/// The recorded rate is the truth, less its offset at rest and led by the accelerometer so that it does not drift: the correction
/// is part of the rate that is played, so attitude and rate stay derivatives of each other. The recorded specific force, turned by
/// that attitude, is the acceleration; below 0.1 Hz it is a tilt, because nobody drifts away at a speed that grows. Between two samples rate and acceleration are straight lines, so a recording at 100 Hz has nothing above
/// 50 Hz. Heading begins at zero.
public struct RecordedMotion: Sendable {
    /// What a sensor on the handle has said.
    public struct Sample: Sendable, BitwiseCopyable {
        /// rad/s, handle frame (x forward, y right, z down).
        public var rate: Vector3
        /// m/s², handle frame; [0, 0, -9.81] at rest and level.
        public var specificForce: Vector3

        /// A sample with these values.
        public init(rate: Vector3, specificForce: Vector3) {
            self.rate = rate
            self.specificForce = specificForce
        }
    }

    /// Length of the recording, s; before and after it the handle is at rest where it was.
    public var duration: Double { Double(knots.count - 1) / sampleRate }

    private struct Knot: Sendable {
        var attitude: Quaternion
        var rate: Vector3
        var acceleration: Vector3
    }

    private let sampleRate: Double
    private var knots: [Knot] = []

    /// Reads what was recorded.
    ///
    /// - Parameters:
    ///   - samples: At equal times, two at least.
    ///   - sampleRate: Per second.
    ///   - restSeconds: How long nothing moves at first: it says the gyroscope's offset.
    public init(_ samples: [Sample], sampleRate: Double, restSeconds: Double = 1) {
        precondition(samples.count >= 2 && sampleRate > 0)
        self.sampleRate = sampleRate
        let rest = samples.prefix(max(1, Int(restSeconds * sampleRate)))
        var bias = Vector3.zero
        var down = Vector3.zero
        for sample in rest {
            bias += sample.rate * (1 / Double(rest.count))
            down += sample.specificForce * (-1 / Double(rest.count))
        }
        let scale = GimbalPlant.gravity / max(down.norm, 1e-3)
        var upright = Self.upright(down)
        var corrections = [Vector3](repeating: .zero, count: samples.count)
        for _ in 0..<3 {
            integrate(samples, bias: bias, scale: scale, from: upright, corrections: corrections)
            // An attitude that leans about one horizontal lets gravity appear along the other.
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
    }

    /// Attitude, rate and acceleration of every sample.
    ///
    /// `corrections` are what the gyroscope lacks, earth frame, rad/s.
    private mutating func integrate(
        _ samples: [Sample], bias: Vector3, scale: Double, from start: Quaternion,
        corrections: [Vector3]
    ) {
        knots.removeAll(keepingCapacity: true)
        var attitude = start
        for (sample, correction) in zip(samples, corrections) {
            let rate = sample.rate - bias + attitude.inverseRotate(correction)
            if let last = knots.last {
                let straight = Knot(attitude: attitude, rate: rate, acceleration: .zero)
                attitude = Self.turned(last, straight, share: 1, dt: 1 / sampleRate)
            }
            let force = attitude.rotate(sample.specificForce * scale)
            knots.append(
                Knot(
                    attitude: attitude, rate: rate,
                    acceleration: force + Vector3(0, 0, GimbalPlant.gravity)))
        }
    }

    /// The acceleration below 0.1 Hz, without a delay: filtered forwards and backwards.
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

    /// The handle at `seconds` after the start.
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

    /// The attitude with heading zero in which `down` is straight down, handle frame.
    private static func upright(_ down: Vector3) -> Quaternion {
        let roll = cm_atan2(down.y, down.z)
        let pitch = cm_atan2(-down.x, cm_sqrt(down.y * down.y + down.z * down.z))
        return .aboutY(pitch) * .aboutX(roll)
    }

    /// The attitude a share of the way from one knot to the next, between which the rate is a straight line.
    private static func turned(_ here: Knot, _ next: Knot, share: Double, dt: Double) -> Quaternion
    {
        let time = share * dt
        let turn = here.rate * time + (next.rate - here.rate) * (0.5 * share * time)
        return (here.attitude * Quaternion(rotationVector: turn)).normalized
    }
}
