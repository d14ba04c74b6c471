import CMathShim

/// Kalman filter of a person's position and velocity in the horizontal plane around the camera,
/// earth frame, m. The filter's motion model is constant velocity with random acceleration.
///
/// The filter estimates a position instead of a heading, because a person on a straight path has a
/// constant velocity but a varying heading rate. The distance is only approximately known. A wrong
/// distance scales position and velocity by the same factor, so the predicted heading remains
/// correct.
struct GroundFilter: Sendable {
    /// Standard deviation of the heading in an observation, rad.
    static let headingSigma = 0.01
    /// Standard deviation of the distance in an observation, as a fraction of the distance.
    static let distanceSigma = 0.2
    /// Spectral density of a person's acceleration, m²/s³. A walking person starts or stops within
    /// half a second.
    static let acceleration = 1.5
    /// Standard deviation of the initial velocity, m/s.
    static let startSpeed = 1.5
    /// Assumed distance until an observation contains a distance, m.
    static let usualDistance = 4.0

    /// Position north and east, m, and velocity north and east, m/s.
    private(set) var state: SIMD4<Double>
    /// Covariance matrix of the state, row by row.
    private var covariance: [Double]

    /// Creates a filter from the first observation.
    init(_ sighting: Sighting) {
        let distance = sighting.distance ?? Self.usualDistance
        state = SIMD4(
            distance * cm_cos(sighting.yaw), distance * cm_sin(sighting.yaw), 0, 0)
        covariance = Array(repeating: 0, count: 16)
        let (place, v) = (Self.noise(sighting.yaw, distance), Self.startSpeed * Self.startSpeed)
        covariance[0] = place.nn
        covariance[1] = place.ne
        covariance[4] = place.ne
        covariance[5] = place.ee
        covariance[10] = v
        covariance[15] = v
    }

    /// Heading of the person, rad, -π...π.
    var yaw: Double { cm_atan2(state.y, state.x) }
    /// Horizontal distance of the person, m, at least half a metre.
    var distance: Double { max(cm_sqrt(state.x * state.x + state.y * state.y), 0.5) }
    /// Rate of the heading, rad/s.
    var yawRate: Double {
        (state.x * state.w - state.y * state.z) / (distance * distance)
    }
    /// Variance of the heading, rad².
    var yawVariance: Double {
        let (cosine, sine) = (state.x / distance, state.y / distance)
        let across =
            sine * sine * covariance[0] - 2 * sine * cosine * covariance[1]
            + cosine * cosine * covariance[5]
        return across / (distance * distance)
    }

    /// Time in which a person who walks towards the camera halves the distance, s; infinite for all
    /// other people.
    private var halvingSeconds: Double {
        let square = state.x * state.x + state.y * state.y
        let speed = state.z * state.z + state.w * state.w
        let approach = state.x * state.z + state.y * state.w
        // |position + velocity · t|² = |position|² / 4
        let discriminant = approach * approach - 0.75 * square * speed
        guard approach < 0, discriminant > 0 else { return .infinity }
        return (-approach - cm_sqrt(discriminant)) / speed
    }

    /// Advances the state by `dt` seconds from the last observation; a negative `dt` has no effect.
    ///
    /// A person who has halved the distance stops there in the prediction. Without this limit, the
    /// path of a person who walks towards the camera would lead through the camera, and the heading
    /// would turn to the opposite side.
    mutating func predict(_ dt: Double) {
        guard dt > 0 else { return }
        let walked = min(dt, halvingSeconds)
        state.x += walked * state.z
        state.y += walked * state.w
        if walked < dt { (state.z, state.w) = (0, 0) }
        // Covariance of the predicted state: F P Fᵀ, with F = [[1, dt], [0, 1]] for each axis.
        var p = covariance
        for column in 0..<4 {
            p[column] += dt * p[8 + column]
            p[4 + column] += dt * p[12 + column]
        }
        for row in 0..<4 {
            p[4 * row] += dt * p[4 * row + 2]
            p[4 * row + 1] += dt * p[4 * row + 3]
        }
        let q = Self.acceleration
        for axis in 0..<2 {
            p[5 * axis] += q * dt * dt * dt / 3
            p[5 * (axis + 2)] += q * dt
            p[4 * axis + axis + 2] += q * dt * dt / 2
            p[4 * (axis + 2) + axis] += q * dt * dt / 2
        }
        covariance = p
    }

    /// Corrects the state with an observation at the state's time.
    mutating func correct(_ sighting: Sighting) {
        let measured = sighting.distance ?? distance
        let place = SIMD2(
            measured * cm_cos(sighting.yaw), measured * cm_sin(sighting.yaw))
        // The noise depends on the filter's distance, because this distance is more accurate than
        // an observed distance. If the observation has no distance, only its heading has an effect.
        var noise = Self.noise(sighting.yaw, distance)
        if sighting.distance == nil {
            noise = Self.noise(sighting.yaw, distance, distanceSigma: 10)
        }
        let p = covariance
        let s = (nn: p[0] + noise.nn, ne: p[1] + noise.ne, ee: p[5] + noise.ee)
        let determinant = s.nn * s.ee - s.ne * s.ne
        guard determinant > 1e-12 else { return }
        let inverse = (nn: s.ee / determinant, ne: -s.ne / determinant, ee: s.nn / determinant)
        let error = place - SIMD2(state.x, state.y)
        var gain = [SIMD2<Double>]()
        for row in 0..<4 {
            let (a, b) = (p[4 * row], p[4 * row + 1])
            gain.append(
                SIMD2(a * inverse.nn + b * inverse.ne, a * inverse.ne + b * inverse.ee))
        }
        for row in 0..<4 {
            state[row] += gain[row].x * error.x + gain[row].y * error.y
            for column in 0..<4 {
                covariance[4 * row + column] -=
                    gain[row].x * p[column] + gain[row].y * p[4 + column]
            }
        }
    }

    /// Covariance of the position in an observation, m².
    private static func noise(
        _ yaw: Double, _ distance: Double, distanceSigma: Double = Self.distanceSigma
    ) -> (nn: Double, ne: Double, ee: Double) {
        let (cosine, sine) = (cm_cos(yaw), cm_sin(yaw))
        let along = distance * distanceSigma * distance * distanceSigma
        let across = distance * headingSigma * distance * headingSigma
        return (
            cosine * cosine * along + sine * sine * across, cosine * sine * (along - across),
            sine * sine * along + cosine * cosine * across
        )
    }
}
