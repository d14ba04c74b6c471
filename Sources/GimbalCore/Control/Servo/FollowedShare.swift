internal import CMathShim

/// Estimator of the fraction of the handle's fast motion that the servos should compensate. With
/// this fraction, the residual motion of the camera is smallest.
///
/// A servo responds late. Therefore the prediction, which compensates slow motion, amplifies fast
/// motion by up to 1.9 times at 25 Hz. The camera can move less if the servos ignore the tremor of
/// a hand. The part of the prediction above 3 Hz is called its fast part. The prediction and its
/// fast part are delayed by the servos' delay and lag, and compared with the handle's true angles.
/// A least-squares fit over the last two seconds gives the fraction of the fast part, 0...1, with
/// the smallest error. If a loop is stable with the fractions 0 and 1, it is stable with every
/// constant fraction between them. Runs on the loop thread only, in constant time.
struct FollowedShare: Sendable, BitwiseCopyable {
    /// Fraction of the predicted motion's high-frequency part that the servos compensate, 0...1.
    private(set) var share = AxisVector(repeating: 1)

    private var isKnown = false
    /// Integral of the handle's rate about its own axes since the start, rad.
    private var path = AxisVector.zero
    private var axes = PerAxis(Axis())
    /// Recent predictions of `path`, and their fast parts, rad.
    private var predictions = JointHistory(spacing: JointHistory.servoSpacing)
    private var fastParts = JointHistory(spacing: JointHistory.servoSpacing)

    /// State of one axis.
    private struct Axis: Sendable, BitwiseCopyable {
        /// Slow part of the prediction, rad.
        var slow = 0.0
        /// Rate of the prediction's slow part, rad/s.
        var slowRate = 0.0
        /// Earlier prediction and its fast part, delayed by the servo's delay and lag, rad.
        var answered = 0.0
        var answeredFast = 0.0
        /// Mean of the product of the prediction error and the prediction's fast part, rad².
        var product = 0.0
        /// Mean square of the prediction's fast part, rad².
        var square = 0.0
    }

    /// Corner frequency of the second-order filter that separates slow from fast motion, rad/s.
    private static var corner: Double { @_noLocks get { 2 * .pi * 3 } }
    /// Damping ratio of the filter that separates slow from fast motion.
    private static var damping: Double { @_noLocks get { 0.7 } }
    /// Time constant of the means in the least-squares fit, s.
    private static var memory: Double { @_noLocks get { 2 } }
    /// Largest prediction error that has full weight, as a multiple of the RMS of the fast part.
    private static var jolt: Double { @_noLocks get { 8 } }
    /// Apparent motion of a handle at rest, caused by the sensor's noise, rad.
    private static var noise: Double { @_noLocks get { 0.02 * .pi / 180 } }

    /// Creates the initial state: the servos compensate all motion of the handle.
    @_noLocks
    init() {}

    /// Updates `share` with the handle's motion in one control period.
    ///
    /// - Parameters:
    ///   - turn: Rotation of the handle since the previous call, handle frame, rad.
    ///   - lead: Rotation from the handle's attitude to the predicted attitude, handle frame, rad.
    ///   - servo: Delays, lag and dead band of the servos. Motion smaller than the dead band does
    ///     not move a servo and has little weight.
    ///   - learns: True if the fraction is updated; false while an excitation shakes the servos.
    ///   - dt: Time since the previous call, s, more than 0.
    /// - Returns: The part of the predicted rotation that the servos ignore, handle frame, rad.
    @_noLocks @_noAllocation
    mutating func step(
        turn: Vector3, lead: Vector3, servo: ServoController.Parameters, learns: Bool, dt: Double
    ) -> Vector3 {
        if isKnown { path = path + AxisVector(yaw: turn.z, roll: turn.x, pitch: turn.y) }
        let predicted = path + AxisVector(yaw: lead.z, roll: lead.x, pitch: lead.y)
        if !isKnown {
            isKnown = true
            predictions.fill(predicted)
            axes.change {
                $0.slow = predicted[$1]
                $0.answered = predicted[$1]
            }
        }
        let delay = servo.delay + servo.sensorDelay
        let commanded = predictions.value(age: delay, dt: dt)
        let commandedFast = fastParts.value(age: delay, dt: dt)
        let answer = dt / (servo.lag + dt)
        let memory = learns ? dt / (Self.memory + dt) : 0
        let floor = max(servo.deadBand, Self.noise) * max(servo.deadBand, Self.noise)
        let here = path
        axes.change { axis, name in
            axis.answered += (commanded[name] - axis.answered) * answer
            axis.answeredFast += (commandedFast[name] - axis.answeredFast) * answer
            // Prediction error if the servos compensate only the slow part.
            let left = here[name] - axis.answered + axis.answeredFast
            let square = axis.answeredFast * axis.answeredFast
            // A jolt or a momentary sensor fault must not affect the fraction for several seconds.
            let size = max(left * left, square)
            let bound = Self.jolt * Self.jolt * (axis.square + floor)
            let weight = size > bound ? bound / size : 1
            axis.product += (weight * left * axis.answeredFast - axis.product) * memory
            axis.square += (weight * square - axis.square) * memory
            let away = predicted[name] - axis.slow
            let pull = Self.corner * Self.corner * away
            axis.slowRate += (pull - 2 * Self.damping * Self.corner * axis.slowRate) * dt
            axis.slow += axis.slowRate * dt
        }
        let slow = axes.map { $0.slow }
        let fast = predicted - slow
        predictions.append(predicted, dt: dt)
        fastParts.append(fast, dt: dt)
        share = axes.map { min(max(($0.product + floor) / ($0.square + floor), 0), 1) }
        let rest = fast * (AxisVector(repeating: 1) - share)
        return Vector3(rest.roll, rest.pitch, rest.yaw)
    }
}
