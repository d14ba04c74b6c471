/// Power of each motor without encoder: the power without load, and more under load.
///
/// The field acts on the rotor like a spring, whose stiffness is proportional to the power. With
/// the configured power, this spring makes a light camera swing faster than the controller can
/// damp. Therefore the power without load is so low that the camera would swing in the field at
/// `swing`, but exceeds the torque of the sliding friction. After a slip, the power without load is
/// the configured power.
///
/// Runs on the loop thread only, in constant time.
struct FieldPower: Sendable, BitwiseCopyable {
    /// Power of each motor, as a fraction of the power stage's maximum, 0...1.
    private(set) var shares = AxisVector.zero
    /// Power of each motor without load, 0...1.
    private(set) var rest = AxisVector.zero
    private var hasSlipped = false

    /// Sine of the load-angle threshold (45 electrical degrees), above which the power is raised.
    private static var fullLoad: Double { @_noLocks get { 0.7 } }
    /// Time constant of the power's decrease after a load, s.
    private static var memory: Double { @_noLocks get { 0.5 } }
    /// Natural frequency of the camera in the field without load, rad/s. The value is below half
    /// the bandwidth of the observers, which must follow this motion.
    private static var swing: Double { @_noLocks get { 40 } }
    /// Smallest ratio of the torque without load, at a load angle of 90 electrical degrees, to the
    /// sliding friction.
    private static var grip: Double { @_noLocks get { 4 } }

    @_noLocks
    init() {}

    /// Sets the power to the power without load.
    ///
    /// - Parameters:
    ///   - load: Inertia about the joints, kg·m², and sliding friction, N·m; NaN if unknown.
    ///   - parameters: Tuning of the controller.
    @_noLocks
    mutating func reset(
        _ load: (inertia: AxisVector, friction: AxisVector),
        _ parameters: FieldController.Parameters
    ) {
        setRest(load, parameters)
        shares = rest
    }

    @_noLocks
    private mutating func setRest(
        _ load: (inertia: AxisVector, friction: AxisVector),
        _ parameters: FieldController.Parameters
    ) {
        let stiffness = load.inertia * (Self.swing * Self.swing / parameters.polePairs)
        let (friction, peak) = (load.friction * Self.grip, parameters.peakTorque)
        let most = parameters.power
        rest = AxisVector(repeating: most)
        if hasSlipped { return }
        rest.yaw = Self.rest(stiffness.yaw, friction.yaw, peak: peak.yaw, most: most)
        rest.roll = Self.rest(stiffness.roll, friction.roll, peak: peak.roll, most: most)
        rest.pitch = Self.rest(stiffness.pitch, friction.pitch, peak: peak.pitch, most: most)
    }

    /// The larger of the two torques, N·m, as a fraction of the torque `peak`, N·m; at most `most`,
    /// which is also the value for an unknown torque.
    @_noLocks
    private static func rest(
        _ stiffness: Double, _ friction: Double, peak: Double, most: Double
    ) -> Double {
        guard !stiffness.isNaN, !friction.isNaN, peak > 0 else { return most }
        return min(max(stiffness, friction) / peak, most)
    }

    /// Sets the power without load to the configured power, because a rotor has slipped.
    @_noLocks
    mutating func noteSlip() { hasSlipped = true }

    /// Raises the power immediately if a load angle would exceed 45 electrical degrees. Afterwards,
    /// the power decreases slowly.
    ///
    /// - Parameters:
    ///   - torques: Requested torques of the motors, N·m.
    ///   - load: Inertia about the joints, kg·m², and sliding friction, N·m; NaN if unknown.
    ///   - parameters: Tuning of the controller.
    ///   - dt: Time since the previous control period, s.
    @_noLocks
    mutating func follow(
        _ torques: AxisVector, load: (inertia: AxisVector, friction: AxisVector),
        _ parameters: FieldController.Parameters, dt: Double
    ) {
        setRest(load, parameters)
        let used = torques.shares(of: parameters.peakTorque)
        let largest = max(abs(used.yaw), max(abs(used.roll), abs(used.pitch)))
        let loaded = min(largest / Self.fullLoad, max(parameters.maxPower, parameters.power))
        let fade = min(dt / Self.memory, 1)
        shares.yaw = Self.next(shares.yaw, to: max(loaded, rest.yaw), fade)
        shares.roll = Self.next(shares.roll, to: max(loaded, rest.roll), fade)
        shares.pitch = Self.next(shares.pitch, to: max(loaded, rest.pitch), fade)
    }

    @_noLocks
    private static func next(_ share: Double, to needed: Double, _ fade: Double) -> Double {
        needed > share ? needed : share + (needed - share) * fade
    }
}
