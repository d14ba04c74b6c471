internal import CMathShim

/// Share of the handle's fast motion that servos follow: the share with the calmest camera.
///
/// A servo answers late, so a prediction that removes slow motion amplifies fast motion, by up to
/// 1.9 times at 25 Hz. It is then better to ignore the tremor of a hand. The part of the prediction
/// above 3 Hz is its fast part. At the time at which the servos would have answered, the prediction
/// and its fast part are compared with the handle's true path. Least squares over the last two
/// seconds give the share of the fast part, between 0 and 1, with the smallest error. A loop that
/// is stable with both ends is stable with each constant share between them. Loop thread only,
/// constant time.
struct FollowedShare: Sendable, BitwiseCopyable {
    /// Share of the fast part, 0 to 1.
    private(set) var share = AxisVector(repeating: 1)

    private var isKnown = false
    /// Turn of the handle about its own axes since the start, rad.
    private var path = AxisVector.zero
    private var axes = PerAxis(Axis())
    /// Predicted paths, and their fast parts, rad.
    private var predictions = JointHistory()
    private var fastParts = JointHistory()

    /// State of one axis.
    private struct Axis: Sendable, BitwiseCopyable {
        /// Slow part of the prediction, rad, and its rate, rad/s.
        var slow = 0.0
        var slowRate = 0.0
        /// Prediction and fast part after the servo's delay and lag, rad.
        var answered = 0.0
        var answeredFast = 0.0
        /// Means of error times fast part, and of the fast part's square, rad².
        var product = 0.0
        var square = 0.0
    }

    /// Corner between slow and fast, rad/s, of second order; its damping.
    private static var corner: Double { @_noLocks get { 2 * .pi * 3 } }
    private static var damping: Double { @_noLocks get { 0.7 } }
    /// Time constant of the means, s.
    private static var memory: Double { @_noLocks get { 2 } }
    /// Limit of an error's weight, as a multiple of the usual fast part.
    private static var jolt: Double { @_noLocks get { 8 } }
    /// Apparent motion of a handle at rest, caused by the sensor's noise, rad.
    private static var noise: Double { @_noLocks get { 0.02 * .pi / 180 } }

    /// Creates a state in which all motion is followed.
    @_noLocks
    init() {}

    /// Advances by one period.
    ///
    /// - Parameters:
    ///   - turn: Of the handle since the previous call, handle frame, rad.
    ///   - lead: Turn from the handle's attitude to the predicted one, handle frame, rad.
    ///   - servo: Delays, lag and dead band; a smaller motion does not move the servo and has little
    ///     weight.
    ///   - learns: Whether the share can change; false while an excitation shakes the servos.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The part of the predicted turn that the servos ignore, handle frame, rad.
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
        let told = predictions.value(age: delay, dt: dt)
        let toldFast = fastParts.value(age: delay, dt: dt)
        let answer = dt / (servo.lag + dt)
        let memory = learns ? dt / (Self.memory + dt) : 0
        let floor = max(servo.deadBand, Self.noise) * max(servo.deadBand, Self.noise)
        let here = path
        axes.change { axis, name in
            axis.answered += (told[name] - axis.answered) * answer
            axis.answeredFast += (toldFast[name] - axis.answeredFast) * answer
            // Error with the slow part alone.
            let left = here[name] - axis.answered + axis.answeredFast
            let square = axis.answeredFast * axis.answeredFast
            // A jolt, or a sensor's momentary fault, must not determine the share for seconds.
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
