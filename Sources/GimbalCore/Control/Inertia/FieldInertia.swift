internal import CMathShim

/// Camera's inertia and the loop's corner frequencies, for gimbals whose motors have no encoders.
///
/// The search for the rotors measures the inertia (`RotorSearch`, `RotorFit`). If the motors then
/// make the camera oscillate, the loop delay is longer than assumed, so all corner frequencies of
/// the loop are reduced. If they are at their lower limit, or the inertia has not been measured,
/// the estimate of the inertia, and thus all gains, are halved.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct FieldInertia: Sendable, BitwiseCopyable {
    /// Inertia about the joints' axes from the search for the rotors.
    private var joints = JointInertia()
    /// Inertia about the camera's axes from this search, kg·m², and its standard deviations; unused
    /// without a measurement.
    private var camera = (values: AxisVector.unknown, sigmas: AxisVector.unknown)
    /// Sliding friction of the joints from the search for the rotors, N·m; NaN if it has not been
    /// measured.
    private var friction = AxisVector(repeating: .nan)
    private var shaking = OscillationGuard()
    /// Scale factor of all corner frequencies; below 1 if the loop has oscillated with a measured
    /// inertia.
    private(set) var bandwidthFactor = 1.0
    /// Axes that have oscillated with a measured inertia.
    private var late = AxisSet.none
    /// Remaining time, s, after a reduction of the corner frequencies, until an oscillation can
    /// cause another reduction.
    private var settling = 0.0
    /// Time since the last detection of an oscillation, s.
    private var sinceShaking = Double.infinity

    /// Factor by which each reduction multiplies all corner frequencies.
    private static var bandwidthStep: Double { @_noLocks get { 0.7 } }
    /// Lower limit of `bandwidthFactor`.
    private static var leastBandwidthFactor: Double { @_noLocks get { 0.35 } }
    /// Time for an oscillation to decay after a reduction of the corner frequencies, s.
    private static var settlingTime: Double { @_noLocks get { 0.2 } }
    /// Longest time for which the camera can still oscillate after the detection of an oscillation,
    /// s.
    private static var calmingTime: Double { @_noLocks get { 3 } }

    @_noLocks
    init() {}

    /// True if the motors have made the camera oscillate within the last seconds.
    var isShaking: Bool { @_noLocks get { sinceShaking < Self.calmingTime } }

    /// The camera axes with reduced gains after an oscillation.
    var oscillating: AxisSet {
        @_noLocks get {
            var all = shaking.oscillating
            all.insert(late)
            return all
        }
    }

    /// Inertia about the joints' axes, kg·m², and sliding friction, N·m, from the search for the
    /// rotors; NaN if they have not been measured, or `isProbed` is false.
    @_noLocks
    func load(isProbed: Bool) -> (inertia: AxisVector, friction: AxisVector) {
        isProbed ? (joints.measured, friction) : (.unknown, .unknown)
    }

    /// Scale factor of each camera axis's gains after an oscillation, contained in `belief`.
    var gainShares: AxisVector { @_noLocks get { shaking.share } }

    /// Joints about whose axes the inertia has not been measured.
    var unmeasured: AxisSet {
        @_noLocks get { AxisSet(yaw: true, roll: true, pitch: true).subtracting(joints.found) }
    }

    /// True if the inertia about every joint's axis has been measured.
    var isMeasured: Bool {
        @_noLocks get { joints.found == AxisSet(yaw: true, roll: true, pitch: true) }
    }

    /// Standard deviation of the natural logarithm of each axis's inertia.
    var sigmas: AxisVector {
        @_noLocks get {
            joints.found.isEmpty ? AxisVector(repeating: UnmeasuredInertia.sigma) : camera.sigmas
        }
    }

    /// Assumed inertia about the camera's axes, kg·m² (see `JointInertia`).
    ///
    /// - Parameters:
    ///   - first: Configured inertia, kg·m².
    ///   - isProbed: True if measurements replace the configured inertia.
    /// - Returns: Assumed inertia, kg·m².
    @_noLocks
    func belief(first: AxisVector, isProbed: Bool) -> AxisVector {
        (isProbed && !joints.found.isEmpty ? camera.values : first) * shaking.share
    }

    /// Adopts inertia and sliding friction from the search for the rotors, in the pose `kinematics`;
    /// an inertia of NaN leaves both unchanged for its joint. The configured inertia is `first`,
    /// kg·m².
    @_noLocks
    mutating func adopt(
        _ found: FieldSearch.Found, in kinematics: JointKinematics, first: AxisVector
    ) {
        let inertia = found.inertia
        guard !inertia.yaw.isNaN || !inertia.roll.isNaN || !inertia.pitch.isNaN else { return }
        if !inertia.yaw.isNaN { adopt(found, .yaw, in: kinematics, first: first) }
        if !inertia.roll.isNaN { adopt(found, .roll, in: kinematics, first: first) }
        if !inertia.pitch.isNaN { adopt(found, .pitch, in: kinematics, first: first) }
        camera = joints.camera(first: first)
        // The motion so far is a response to other gains.
        shaking.forgetMotion()
    }

    /// Range of a measured inertia, relative to the configured inertia.
    private static var range: (least: Double, most: Double) { @_noLocks get { (1 / 40.0, 8) } }

    private mutating func adopt(
        _ found: FieldSearch.Found, _ axis: GimbalAxis, in kinematics: JointKinematics,
        first: AxisVector
    ) {
        friction[axis] = found.friction[axis]
        let (least, most) = (Self.range.least * first[axis], Self.range.most * first[axis])
        joints.note(min(max(found.inertia[axis], least), most), axis, in: kinematics)
        shaking.restoreGains(axis)
    }

    /// Adapts the measured inertia and friction to a change of the assumed torque of the motors at
    /// full power. The search measures their quotients with this torque, which do not change.
    @_noLocks
    mutating func adapt(from old: FieldController.Parameters, to new: FieldController.Parameters) {
        let isKnown = old.peakTorque.smallest > 0 && new.peakTorque.smallest > 0
        if isKnown, !(old.peakTorque == new.peakTorque) {
            let factor = new.peakTorque.shares(of: old.peakTorque)
            joints.scale(by: factor)
            friction = friction * factor
        }
        camera = joints.camera(first: new.inertia)
    }

    /// Reduces all corner frequencies of the loop. The given axes have oscillated with a measured
    /// inertia, so the loop delay is longer than assumed.
    private mutating func blameDelay(_ axes: AxisSet) {
        guard settling > 0 || bandwidthFactor > Self.leastBandwidthFactor else { return }
        shaking.restoreGains(axes)
        late.insert(axes)
        guard settling == 0 else { return }
        bandwidthFactor = max(Self.leastBandwidthFactor, Self.bandwidthStep * bandwidthFactor)
        settling = Self.settlingTime
    }

    /// Checks whether the motors make the camera oscillate.
    ///
    /// - Parameters:
    ///   - moment: Feedback part of the commanded moment, camera frame, N·m.
    ///   - largest: Largest moment of the motors, N·m.
    ///   - rate: Camera's rate relative to the set-point's rate, camera frame, rad/s.
    ///   - belief: Assumed inertia about the camera's axes, kg·m².
    ///   - delay: Time from a command to the sample that contains its effect, s.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks
    mutating func watch(
        moment: Vector3, largest: AxisVector, rate: Vector3, belief: AxisVector, delay: Double,
        dt: Double
    ) {
        let lowered = shaking.step(
            commanded: Vector3(
                moment.x / belief.roll, moment.y / belief.pitch, moment.z / belief.yaw),
            largest: AxisVector(
                yaw: largest.yaw / belief.yaw, roll: largest.roll / belief.roll,
                pitch: largest.pitch / belief.pitch),
            rate: rate, delay: delay, dt: dt)
        settling = max(0, settling - dt)
        sinceShaking = lowered.isEmpty ? sinceShaking + dt : 0
        if !lowered.isEmpty, lowered.subtracting(joints.found).isEmpty { blameDelay(lowered) }
    }

    /// Ends the check for oscillations. The inertia estimate and the corner frequencies return to
    /// their full values.
    @_noLocks
    mutating func stopWatching() {
        shaking = OscillationGuard()
        forgetDelay()
    }

    /// Restarts the check for oscillations, because an excitation shakes the camera.
    @_noLocks
    mutating func forgetMotion() { shaking.forgetMotion() }

    /// Resets the check for oscillations and the reduction of the corner frequencies, before the
    /// motors' outputs are switched on. Reduced gains remain until the inertia is measured again;
    /// without measurement (`isProbed` is false), they return to their full values.
    @_noLocks
    mutating func restart(isProbed: Bool) {
        guard isProbed else { return stopWatching() }
        shaking.forgetMotion()
        forgetDelay()
    }

    private mutating func forgetDelay() {
        (bandwidthFactor, late) = (1, .none)
        settling = 0
        sinceShaking = .infinity
    }
}
