/// The vertical at the start: the direction of the mean specific force.
///
/// One sample of a sensor in motion may point anywhere: between two steps a runner's shows up as
/// down, and a filter that starts upside down stays there. In the mean over a running step the
/// sensor's own acceleration largely cancels. A sensor that may be at rest starts with its first
/// sample, and again if a later one shows motion. At rest the specific force stays where it is; its
/// length alone is gravity's for 20 ms in a runner, too, wherever it points.
///
/// Loop thread only; constant time, no allocation.
struct FirstVertical: Sendable, BitwiseCopyable {
    /// Sensor to the frame of the first sample.
    private var turn = Quaternion.identity
    /// Specific force of the first sample, m/s².
    private var first = Vector3.zero
    /// Integral of the specific force, frame of the first sample, m/s.
    private var impulse = Vector3.zero
    private var time = 0.0

    /// Length of the mean, s: a step at 2.5 to 2.8 steps a second (Cavagna et al., J. Physiol. 399,
    /// 1988).
    private static var seconds: Double { @_noLocks @_noAllocation get { 0.4 } }
    /// Largest deviation of a sample from gravity's length and from the first sample, as a share of
    /// gravity, in a sensor that may be at rest.
    private static var quiet: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Time without a larger deviation after which the first sample is believed, s: a quarter of a
    /// running step.
    private static var quietSeconds: Double { @_noLocks @_noAllocation get { 0.1 } }

    /// Standard deviation of the vertical that a mean shows, about each axis, rad: 2.1° in walkers
    /// and 2.7° in runners with the statistics of recorded people, and as much again for others.
    static var meanSigma: Double { @_noLocks @_noAllocation get { 5 * .pi / 180 } }

    /// True where the sensor is in motion: the vertical is a mean's.
    private(set) var isMean = false

    /// True once nothing more is to be gathered.
    var isComplete: Bool {
        @_noLocks @_noAllocation get { time > (isMean ? Self.seconds : Self.quietSeconds) }
    }

    /// Mean specific force, body frame of the last sample, m/s².
    var force: Vector3 { @_noLocks @_noAllocation get { turn.inverseRotate(impulse) / time } }

    /// A start without a sample.
    @_noLocks @_noAllocation
    init() {}

    /// Takes one sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate, body frame, rad/s.
    ///   - accel: Specific force, body frame, m/s².
    ///   - gravity: Length of the specific force at rest, m/s².
    ///   - dt: Seconds since the previous sample; ignored for the first one.
    @_noLocks @_noAllocation
    mutating func note(gyro: Vector3, accel: Vector3, gravity: Double, dt: Double) {
        let step = time == 0 ? 1e-3 : max(dt, 0)
        turn = turn * AttitudeEstimator.rotation(gyro * step)
        let force = turn.rotate(accel)
        if time == 0 { first = force }
        impulse += force * step
        time += step
        let most = Self.quiet * gravity
        isMean = isMean || abs(accel.norm - gravity) > most || (force - first).norm > most
    }
}
