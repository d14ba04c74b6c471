internal import CMathShim

/// Whether the gyroscope shows the mirror image of what the motor does about one axis: one of the two has changed its sign.
///
/// Over the last moments the change of the rate from sample to sample is compared with the change that the motor has
/// exerted. A loop with the right sign cannot make them opposites: for a disturbance at one frequency their phase is that
/// of the open loop, between 90° and 180° behind, so their values and their slopes are never opposite at once; at the beginning
/// of a push their correlation is -0.5. A wrong sign makes both grow along one exponential, opposite in value and slope. So
/// the test is a correlation below -0.85 with and without the mean, of something that the motor with the right sign does
/// not explain and that stands out of the usual scatter. What a motor with a wrong sign is told keeps its direction; a swing that looks
/// mirrored is one of a loop that is later than believed.
///
/// Loop thread only; constant time, no allocation.
struct MirrorTest: Sendable, BitwiseCopyable {
    /// What holds for one sample about all axes.
    struct Rule: Sendable, BitwiseCopyable {
        /// Mean square of the changes that the motors do not explain as a rule, rad²/s².
        var scatter: Double
        /// Seconds since the sample before, more than 0.
        var dt: Double

        @_noLocks
        init(scatter: Double, dt: Double) {
            self.scatter = scatter
            self.dt = dt
        }
    }

    /// Sums over the memory, rad²/s²: of squares, of products, and of squares of the difference.
    private var told = 0.0
    private var seen = 0.0
    private var product = 0.0
    private var unexplained = 0.0
    /// Sums over the memory, rad/s.
    private var pushes = 0.0
    private var changes = 0.0
    /// For how long the image has been mirrored, s.
    private var lasting = 0.0

    /// Time constant of the sums, s; six samples at least.
    private static var memory: Double { @_noLocks get { 0.008 } }

    /// Time for which an image must be mirrored, s; at least five samples.
    private static var patience: Double { @_noLocks get { 0.008 } }

    /// Share of the mean in the power of what was told, from which on it has kept its direction.
    private static var steadiness: Double { @_noLocks get { 0.4 } }
    /// A camera that turns slower goes nowhere, rad/s.
    private static var leastRate: Double { @_noLocks get { 0.1 } }

    /// Whether the image is mirrored, as of the last step.
    private(set) var isMirrored = false

    /// Correlation of what is told and what is seen over the last moments, -1...1; 0 where nothing is told.
    var correlation: Double {
        @_noLocks get {
            let scale = cm_sqrt(told * seen)
            return scale > 1e-9 ? product / scale : 0
        }
    }

    @_noLocks
    init() {}

    /// One sample.
    ///
    /// - Parameters:
    ///   - push: Change of the rate by what the motor does about an error since the sample before, rad/s.
    ///   - change: Change of the rate by the gyroscope, without the set-point's own, rad/s.
    ///   - rate: The gyroscope's rate, without the set-point's own, rad/s.
    ///   - rule: What holds for this sample.
    @_noLocks
    mutating func step(push: Double, change: Double, rate: Double, _ rule: Rule) {
        let dt = rule.dt
        let memory = max(Self.memory, 6 * dt)
        let keep = 1 - dt / memory
        told = told * keep + push * push
        seen = seen * keep + change * change
        product = product * keep + push * change
        unexplained = unexplained * keep + (change - push) * (change - push)
        pushes = pushes * keep + push
        changes = changes * keep + change
        let share = dt / memory
        let slopes = cm_sqrt(
            max(told - pushes * pushes * share, 0) * max(seen - changes * changes * share, 0))
        let isImage =
            product < -0.85 * cm_sqrt(told * seen) && product < -0.2 * told
            && product - pushes * changes * share < -0.85 * slopes
            && abs(rate) > Self.leastRate && changes * rate > 0
            && pushes * pushes * share > Self.steadiness * told
            && unexplained > 9 * rule.scatter * (memory / dt)
        lasting = isImage ? lasting + dt : 0
        isMirrored = lasting > max(Self.patience, 4.5 * dt)
    }
}

/// `MirrorTest` about the camera's three axes.
///
/// Loop thread only; constant time, no allocation.
struct MirrorImages: Sendable, BitwiseCopyable {
    private var roll = MirrorTest()
    private var pitch = MirrorTest()
    private var yaw = MirrorTest()

    @_noLocks
    init() {}

    /// The axes whose image is mirrored, as of the last step.
    var mirrored: AxisSet {
        @_noLocks get {
            AxisSet(yaw: yaw.isMirrored, roll: roll.isMirrored, pitch: pitch.isMirrored)
        }
    }

    /// One sample; arguments as of `MirrorTest.step`, camera frame.
    @_noLocks
    mutating func step(push: Vector3, change: Vector3, rate: Vector3, _ rule: MirrorTest.Rule) {
        roll.step(push: push.x, change: change.x, rate: rate.x, rule)
        pitch.step(push: push.y, change: change.y, rate: rate.y, rule)
        yaw.step(push: push.z, change: change.z, rate: rate.z, rule)
    }

    /// Sign of the gyroscope about each axis.
    ///
    /// - Parameter reversed: The axes that are known to answer the wrong way round.
    /// - Returns: 1, -1, or 0 where the answers to the motors show none, camera frame.
    @_noLocks
    func signs(reversed: AxisSet) -> Vector3 {
        Vector3(
            Self.sign(roll, isReversed: reversed.contains(.roll)),
            Self.sign(pitch, isReversed: reversed.contains(.pitch)),
            Self.sign(yaw, isReversed: reversed.contains(.yaw)))
    }

    private static func sign(_ image: MirrorTest, isReversed: Bool) -> Double {
        let correlation = image.correlation
        if abs(correlation) > 0.5 { return correlation > 0 ? 1 : -1 }
        return isReversed ? -1 : 0
    }
}
