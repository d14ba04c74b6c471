/// The initial estimate of the vertical: the direction of the mean specific force.
///
/// While the sensor moves, the specific force of one sample can have any direction. Between two
/// steps of a runner, the specific force can even be inverted, and a filter that starts upside down
/// stays upside down. Averaged over one step of the runner, the sensor's own acceleration
/// largely cancels. If the first sample is consistent with rest, the estimator starts with this sample; it
/// restarts if a later sample shows motion. At rest, the specific force is constant. The magnitude
/// of the force alone is not sufficient evidence of rest: when a person runs, the magnitude can
/// equal gravity for 20 ms in an arbitrary direction.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct FirstVertical: Sendable, BitwiseCopyable {
    /// Rotation from the sensor's present body frame to its body frame at the first sample.
    private var turn = Quaternion.identity
    /// Specific force of the first sample, m/s².
    private var first = Vector3.zero
    /// Integral of the specific force, body frame at the first sample, m/s.
    private var impulse = Vector3.zero
    private var time = 0.0

    /// Time over which the specific force is averaged, s: one running step at 2.5 to 2.8 steps a
    /// second (Cavagna et al., Journal of Physiology 399, 1988).
    private static var seconds: Double { @_noLocks @_noAllocation get { 0.4 } }
    /// Limit of a sample's deviation for a sensor at rest, as a fraction of gravity. The limit
    /// applies to the deviation of the specific force's magnitude from gravity, and to the
    /// deviation from the first sample.
    private static var quiet: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Time, s, in which no later sample may deviate by more than `quiet`; the first sample is then
    /// accepted. The time is a quarter of a running step.
    private static var quietSeconds: Double { @_noLocks @_noAllocation get { 0.1 } }

    /// Standard deviation of the vertical from a mean, about each axis, rad. With the motion
    /// statistics of recorded people, the error is 2.1° while walking and 2.7° while running. The
    /// standard deviation is about twice this error, as a margin for other people.
    static var meanSigma: Double { @_noLocks @_noAllocation get { 5 * .pi / 180 } }

    /// True if the sensor is in motion; the vertical is then determined from a mean.
    private(set) var isMean = false

    /// True if enough samples have arrived to determine the vertical.
    var isComplete: Bool {
        @_noLocks @_noAllocation get { time > (isMean ? Self.seconds : Self.quietSeconds) }
    }

    /// Mean specific force, body frame of the last sample, m/s².
    var force: Vector3 { @_noLocks @_noAllocation get { turn.inverseRotate(impulse) / time } }

    /// Creates an estimate of the vertical that has not received a sample yet.
    @_noLocks @_noAllocation
    init() {}

    /// Discards all samples, because the rotation and the specific force during a gap are unknown.
    /// A sensor that was in motion still counts as moving.
    @_noLocks @_noAllocation
    mutating func restart() {
        let wasMean = isMean
        self = FirstVertical()
        isMean = wasMean
    }

    /// Weight of the first sample, s. The interval before it is unknown; 1 ms is the usual
    /// interval.
    private static var firstStep: Double { @_noLocks @_noAllocation get { 1e-3 } }

    /// Adds one sample to the mean.
    ///
    /// - Parameters:
    ///   - gyro: Rate, body frame, rad/s.
    ///   - accel: Specific force, body frame, m/s².
    ///   - gravity: Magnitude of the specific force at rest, m/s².
    ///   - dt: Seconds since the previous sample; ignored for the first sample.
    @_noLocks @_noAllocation
    mutating func note(gyro: Vector3, accel: Vector3, gravity: Double, dt: Double) {
        let step = time == 0 ? Self.firstStep : max(dt, 0)
        turn = turn * AttitudeEstimator.rotation(gyro * step)
        let force = turn.rotate(accel)
        if time == 0 { first = force }
        impulse += force * step
        time += step
        let most = Self.quiet * gravity
        isMean = isMean || abs(accel.norm - gravity) > most || (force - first).norm > most
    }
}
