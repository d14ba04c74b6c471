internal import CMathShim

/// Estimator of one brushless motor's rotor angle from the camera's gyroscope, for motors without
/// encoders.
///
/// The observer is an extended-state observer (Han: From PID to active disturbance rejection
/// control, IEEE Transactions on Industrial Electronics 56, 2009). The observer's model is the
/// magnetic spring `torque = peak * power * sin(field - electrical angle)`. The observer's states
/// are the camera rate, the rotor's electrical angle, and the unmeasured part of the joint rate. An
/// unmodelled load on the camera (friction, imbalance) appears as a displacement of the estimated
/// rotor angle. The controller sets the field relative to this estimate, and thus compensates the
/// load as an integral term would. The sine repeats with every pole pair, so the observer locks on
/// from any angle, like a phase-locked loop. If a hand turns the rotor by force, the observer
/// follows.
///
/// Runs on the loop thread only, in constant time.
struct FieldObserver: Sendable, BitwiseCopyable {
    /// Estimated electrical angle of the rotor, rad, continuous over whole turns. The estimated
    /// angle includes the displacement by an unmodelled load.
    private(set) var electrical = 0.0
    /// Unmeasured part of the joint rate, rad/s.
    private(set) var hiddenRate = 0.0
    /// Measured minus expected rate of the joint in the last step, rad/s.
    private(set) var innovation = 0.0
    private static var largestShare: Double { @_noLocks get { 0.25 } }
    /// Limit of the RMS difference between the fast and the slow estimate of the rotor's angle,
    /// electrical rad. Below this limit, the sine of the load angle has the right sign.
    private static var placedWithin: Double { @_noLocks get { 0.6 } }
    /// Time constant of `separation`, s. With a wrong sign of the motor, the fast and the slow
    /// estimate also differ. Therefore the time constant is twenty times the time in which a wrong
    /// sign is detected.
    private static var placedMemory: Double { @_noLocks get { 1 } }

    /// True if `expected` is reliable: the fast and the slow estimate of the rotor's angle
    /// (`electrical` and `kinematic`) agreed over the last second. If the handle turns too fast for
    /// the slow estimate, the two estimates differ by more than the load angle.
    var isPlaced: Bool { @_noLocks get { separation < Self.placedWithin * Self.placedWithin } }

    /// True if the rotor is lost: for more than 0.15 s, neither the largest hidden rate nor the
    /// largest correction of the rotor's angle has explained the gyroscope's readings.
    var isLost: Bool { @_noLocks get { atBound > 0.15 } }

    /// Expected torque of the motor in the last period, as a fraction of the torque at a load angle
    /// of 90 electrical degrees, for the identification of the inertia. The torque is computed from
    /// `kinematic`, the slow estimate of the rotor's angle.
    private(set) var expected = 0.0

    /// Slow estimate of the electrical angle, rad. The estimate follows the joint's measured motion
    /// immediately, and follows the observer's corrections slowly.
    private var kinematic = 0.0
    /// Mean square of the difference between `electrical` and `kinematic`, rad².
    private var separation = 0.0
    private var rate = 0.0
    /// Time for which `hiddenRate` and the correction of `electrical` have been at their bounds, s.
    private var atBound = 0.0
    private var hasRate = false

    /// Creates an observer. The rotor is assumed to be at electrical angle zero.
    @_noLocks
    init() {}

    /// Bound of `hiddenRate`, rad/s. Without this bound, the estimate would grow without limit
    /// after the loss of the rotor, and the field would turn faster and faster. A hand can turn the
    /// handle faster; the correction of `electrical` then follows the rest of the motion.
    private static var largestHiddenRate: Double { @_noLocks get { 2.5 } }

    /// Resets the observer. The rotor is assumed to be at the given electrical angle, rad.
    @_noLocks
    mutating func reset(electrical angle: Double) {
        self = FieldObserver()
        electrical = angle
        kinematic = angle
    }

    /// Adopts a measured electrical angle, rad, up to whole turns, if the estimate is so far away
    /// that the field can pull the rotor in the wrong direction. A smaller difference is the
    /// displacement by a load.
    @_noLocks
    mutating func adopt(measured angle: Double) {
        let turns = cm_floor((electrical - angle) / (2 * .pi) + 0.5)
        let measured = angle + turns * 2 * .pi
        if abs(measured - electrical) > Self.largestDisplacement { reset(electrical: measured) }
    }

    /// Largest displacement by a load that a measured angle does not replace, electrical rad.
    private static var largestDisplacement: Double { @_noLocks get { .pi / 3 } }

    /// Searches for the rotor again, starting at its last known angle.
    @_noLocks
    mutating func search() {
        hiddenRate = 0
        atBound = 0
        hasRate = false
    }

    /// Torque of the motor on the estimated rotor, as a fraction of the torque at a load angle of 90
    /// electrical degrees. `field` is the angle of the field, electrical rad.
    @_noLocks
    func share(field: Double) -> Double { cm_sin(field - electrical) }

    /// Advances the estimates to the sampling instant of the gyroscope.
    ///
    /// - Parameters:
    ///   - measured: Rate of the joint from the gyroscope, rad/s; the handle is assumed at rest.
    ///   - knownJointRate: Measured part of the joint rate, rad/s.
    ///   - acceleration: Acceleration of the joint by the motors, for the estimated angles of the
    ///     rotors, rad/s².
    ///   - field: Angle of the field at the sampling instant, electrical rad.
    ///   - polePairs: Number of pole pairs of the rotor.
    ///   - dt: Time since the previous control period, s.
    @_noLocks
    mutating func predict(
        measured: Double, knownJointRate: Double, acceleration: Double, field: Double,
        polePairs: Double, dt: Double
    ) {
        if !hasRate {
            rate = measured
            hasRate = true
        }
        expected = cm_sin(field - kinematic)
        kinematic +=
            knownJointRate * polePairs * dt + (electrical - kinematic) * min(6 * dt, 1)
        rate += acceleration * dt
        let apart = electrical - kinematic
        separation += (apart * apart - separation) * min(dt / Self.placedMemory, 1)
        electrical += (knownJointRate + hiddenRate) * polePairs * dt
        innovation = measured - rate
    }

    /// Corrects the estimates by the innovation.
    ///
    /// - Parameters:
    ///   - unexplained: Change of the motor's torque, as a fraction of the torque at a load angle of
    ///     90 electrical degrees, that would cause the innovation within one second, s.
    ///   - polePairs: Number of pole pairs of the rotor.
    ///   - bandwidth: Natural frequency of the observer, rad/s.
    ///   - dt: Time since the previous control period, s.
    @_noLocks
    mutating func correct(unexplained: Double, polePairs: Double, bandwidth: Double, dt: Double) {
        // With these gains, the observer of the sampled triple integrator has an exact triple pole.
        let decay = cm_exp(-bandwidth * dt)
        let fade = 1 - decay
        // The observer represents a disturbance as a displacement of the rotor, up to two thirds of
        // the pull (the torque at a load angle of 90 electrical degrees).
        let bound = Self.largestShare / bandwidth
        let push = min(max(unexplained, -bound), bound)
        rate += (1 - decay * decay * decay) * innovation
        electrical -= 1.5 * fade * fade * (1 + decay) / dt * push
        let change = fade * fade * fade / (dt * dt) / polePairs * push
        hiddenRate = min(
            max(hiddenRate - change, -Self.largestHiddenRate), Self.largestHiddenRate)
        let isAtBound = abs(hiddenRate) >= Self.largestHiddenRate && abs(push) >= bound
        atBound = isAtBound ? atBound + dt : 0
    }
}
