internal import CMathShim

/// Where the rotor of one open-loop brushless motor is, from what the gyroscope says about the
/// camera it carries.
///
/// An extended-state observer (J. Han, "From PID to Active Disturbance Rejection Control", IEEE
/// Trans. Ind. Electron. 56 (2009)) of the magnetic spring `torque = peak * power * sin(field -
/// electrical angle)`: camera rate, electrical angle of the rotor, and the part of the joint's rate
/// that no sensor shows. What accelerates the camera and is not in the model (friction, imbalance)
/// appears as a displacement of the rotor of that much load, so that a field set on the estimate
/// takes it out as an integral would. Because the sine repeats itself every pole pair, the observer
/// locks on from any angle like a phase-locked loop, and follows a rotor that is turned by force.
///
/// Loop thread only; constant time.
struct FieldObserver: Sendable, BitwiseCopyable {
    /// Electrical angle of the rotor, rad, not wrapped; includes the load that nobody modelled.
    private(set) var electrical = 0.0
    /// Joint rate that no sensor shows, rad/s.
    private(set) var hiddenRate = 0.0
    /// What was last left between measured and expected rate, rad/s.
    private(set) var innovation = 0.0
    private static var largestShare: Double { @_noLocks get { 0.25 } }
    /// RMS of the separation up to which the sine of the load angle keeps its sign, electrical rad.
    private static var placedWithin: Double { @_noLocks get { 0.6 } }
    /// Memory of the separation, s: twenty times as long as a wrong sign takes to be seen, which
    /// separates them as well.
    private static var placedMemory: Double { @_noLocks get { 1 } }

    /// Whether `expected` can be relied on: the fast and the slow estimate of the rotor's place
    /// agreed over the last second. A handle that turns faster than the slow estimate follows
    /// separates them by more than the load angle.
    var isPlaced: Bool { @_noLocks get { separation < Self.placedWithin * Self.placedWithin } }

    /// Whether the rotor is lost: for some time no motion that a hand can make has explained what
    /// the gyroscope sees.
    var isLost: Bool { @_noLocks get { atBound > 0.15 } }

    /// Acceleration that the motor should have given over the last period, with the rotor where its
    /// joint's motion and only slowly the observer says, rad/s²: what an inertia can be judged by.
    private(set) var expected = 0.0

    /// Electrical angle that follows the known motion at once and the corrections slowly, rad.
    private var kinematic = 0.0
    /// Mean square of the difference between `electrical` and `kinematic`, rad².
    private var separation = 0.0
    private var rate = 0.0
    /// Seconds since `hiddenRate` has been at its bound.
    private var atBound = 0.0
    private var hasRate = false

    /// A rotor at electrical angle zero.
    @_noLocks
    init() {}

    /// Fastest motion of a joint that no sensor shows, rad/s. Without this bound an observer that
    /// has lost its rotor runs away with the field turning ever faster.
    private static var largestHiddenRate: Double { @_noLocks get { 2.5 } }

    /// Forgets everything; the rotor is believed at this electrical angle.
    @_noLocks
    mutating func reset(electrical angle: Double) {
        self = FieldObserver()
        electrical = angle
        kinematic = angle
    }

    /// Looks for the rotor again, from where it was last believed to be.
    @_noLocks
    mutating func search() {
        hiddenRate = 0
        atBound = 0
        hasRate = false
    }

    /// One period.
    ///
    /// - Parameters:
    ///   - measured: Rate of the camera about the joint's axis, rad/s, as the gyroscope shows it.
    ///   - knownJointRate: Joint rate as far as a sensor shows it, rad/s.
    ///   - field: Field that acted when the gyroscope saw this, electrical rad.
    ///   - pull: Angular acceleration that 90° of load gave then, rad/s²: torque over inertia.
    ///   - smallestPull: From here on the rotor's place is corrected in full, rad/s².
    ///   - polePairs: Pairs of magnet poles.
    ///   - bandwidth: Natural frequency of the observer, rad/s.
    ///   - dt: Seconds since the previous period.
    /// - Returns: How far the correction moved the rotor beyond its own motion, electrical rad.
    @_noLocks
    mutating func update(
        measured: Double, knownJointRate: Double, field: Double, pull: Double,
        smallestPull: Double, polePairs: Double, bandwidth: Double, dt: Double
    ) -> Double {
        if !hasRate {
            rate = measured
            hasRate = true
        }
        expected = pull * cm_sin(field - kinematic)
        kinematic +=
            knownJointRate * polePairs * dt + (electrical - kinematic) * min(6 * dt, 1)
        rate += pull * cm_sin(field - electrical) * dt
        let apart = electrical - kinematic
        separation += (apart * apart - separation) * min(dt / Self.placedMemory, 1)
        electrical += (knownJointRate + hiddenRate) * polePairs * dt
        innovation = measured - rate
        // Three poles at one place, exact for the sampled triple integrator.
        let decay = cm_exp(-bandwidth * dt)
        let fade = 1 - decay
        // Two thirds of the pull is the largest disturbance that a displacement can stand for.
        let bound = Self.largestShare / bandwidth
        let push = min(max(innovation / max(pull, smallestPull), -bound), bound)
        rate += (1 - decay * decay * decay) * innovation
        let slip = -1.5 * fade * fade * (1 + decay) / dt * push
        electrical += slip
        let change = fade * fade * fade / (dt * dt) / polePairs * push
        hiddenRate = min(
            max(hiddenRate - change, -Self.largestHiddenRate), Self.largestHiddenRate)
        atBound = abs(hiddenRate) < Self.largestHiddenRate ? 0 : atBound + dt
        return slip
    }
}
