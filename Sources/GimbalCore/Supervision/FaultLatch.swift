/// Detector of persistent faults. Some faults remain latched until a user resets them.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct FaultLatch: Sendable, BitwiseCopyable {
    /// Observations of one period.
    struct Evidence: Sendable, BitwiseCopyable {
        /// True if the outputs are on.
        var isEnabled: Bool
        /// The joints with a reversed response.
        var reversed: AxisSet
        /// The motors at their torque limit.
        var saturated: AxisSet
        /// Magnitude of the camera's rate, rad/s.
        var rate: Double
        /// Magnitude of the camera's rate minus magnitude of the set-point's rate, rad/s. The
        /// difference is always 0 for motors with encoders and for servos, which cannot lose their
        /// rotors.
        var deviation: Double
        /// Angle between camera and set-point, rad.
        var error: Double
        /// Conditions that other parts of the daemon report.
        var external: Conditions

        @_noLocks
        init(
            isEnabled: Bool, reversed: AxisSet, saturated: AxisSet, rate: Double, deviation: Double,
            error: Double, external: Conditions
        ) {
            self.isEnabled = isEnabled
            self.reversed = reversed
            self.saturated = saturated
            self.rate = rate
            self.deviation = deviation
            self.error = error
            self.external = external
        }
    }

    /// All active faults of this detector, latched or not.
    private(set) var conditions: Conditions = .none
    /// The joints with a reversed response, latched.
    private(set) var reversed = AxisSet.none
    /// The stalled motors: at their torque limit while the camera does not move.
    private(set) var stalled = AxisSet.none

    private var latched: Conditions = .none
    private var stuck = 0.0
    private var rotors = RotorLoss()

    /// Time at the torque limit without camera motion after which a motor counts as stalled, s.
    private static var stallSeconds: Double { @_noLocks get { 3 } }
    /// Largest rate of the camera at which a motor can count as stalled, rad/s.
    private static var stillRate: Double { @_noLocks get { 5 * .pi / 180 } }
    /// Smallest attitude error at which a motor can count as stalled, rad. A working motor at its
    /// torque limit would have corrected a larger attitude error.
    private static var stallError: Double { @_noLocks get { 2 * .pi / 180 } }

    @_noLocks
    init() {}

    /// Resets the latched faults, on a user's request.
    @_noLocks
    mutating func reset() {
        latched = .none
        reversed = .none
        rotors = RotorLoss()
    }

    /// Latches the fault `controlFault`: the controller's output was invalid, and must not reach a
    /// motor.
    @_noLocks
    mutating func noteUnsoundOutput() { latched.insert(.controlFault) }

    /// Updates the faults with the observations of one period.
    @_noLocks
    mutating func step(_ observed: Evidence, dt: Double) {
        let isBlocked =
            observed.isEnabled && !observed.saturated.isEmpty && observed.rate < Self.stillRate
            && observed.error > Self.stallError
        stuck = isBlocked ? stuck + dt : 0
        if observed.isEnabled { reversed.insert(observed.reversed) }
        if observed.external.intersects(.loopUnreliable) { latched.insert(.loopUnreliable) }
        conditions = latched
        if rotors.step(
            deviation: observed.isEnabled ? observed.deviation : nil, rate: observed.rate, dt: dt)
        {
            conditions.insert(.rotorLost)
        }
        stalled = stuck > Self.stallSeconds ? observed.saturated : .none
    }
}

/// Detector for motors without encoders: their rotors do not follow the magnetic field, and the
/// camera is flung. The motors are then switched off until the camera has hung still for a waiting
/// time. If the camera is flung again, the waiting time is doubled, up to 64 s. The waiting time is
/// halved for each minute in which the motors have held the camera.
private struct RotorLoss: Sendable, BitwiseCopyable {
    /// Time with a rate above `flingRate`, s; the value decays with the time constant `memory`.
    private var flung = 0.0
    /// Time for which the camera has been still after it was flung, s; nil if the camera was not
    /// flung.
    private var quietTime: Double?
    /// Waiting time, s: the motors are switched on again after the camera has hung still for this
    /// time.
    private var patience = shortestPatience

    /// Threshold of `deviation` above which the camera is being flung, rad/s. While the motors hold
    /// the camera, neither a request nor a hand can cause a deviation above this threshold.
    private static var flingRate: Double { @_noLocks get { 7 } }
    /// Time above `flingRate` after which the camera counts as flung, s. The camera turns by 60° in
    /// this time.
    private static var flingSeconds: Double { @_noLocks get { 0.15 } }
    /// Time constant of `flung`, s.
    private static var memory: Double { @_noLocks get { 1 } }
    /// Largest rate of a camera that counts as still, rad/s.
    private static var quietRate: Double { @_noLocks get { 1 } }
    /// Bounds of `patience`, s.
    private static var shortestPatience: Double { @_noLocks get { 1 } }
    private static var longestPatience: Double { @_noLocks get { 64 } }
    /// Half-life of `patience` while the motors hold the camera, s.
    private static var recovery: Double { @_noLocks get { 60 } }
    /// Natural logarithm of 2, which converts a half-life to a time constant.
    private static var halving: Double { @_noLocks get { 0.69 } }

    @_noLocks
    init() {}

    /// Updates the detector with the camera's rates in one period.
    ///
    /// - Parameters:
    ///   - deviation: Magnitude of the camera's rate minus magnitude of the set-point's rate,
    ///     rad/s; nil while the outputs are off.
    ///   - rate: Magnitude of the camera's rate, rad/s.
    ///   - dt: Seconds since the previous call of this method.
    /// - Returns: True if the motors must be off because the camera was flung.
    @_noLocks
    mutating func step(deviation: Double?, rate: Double, dt: Double) -> Bool {
        flung *= 1 - min(dt / Self.memory, 1)
        if let deviation, deviation > Self.flingRate {
            flung += dt
        } else if deviation != nil {
            let fade = min(Self.halving * dt / Self.recovery, 1)
            patience = max(Self.shortestPatience, patience * (1 - fade))
        }
        if flung > Self.flingSeconds {
            flung = 0
            quietTime = 0
        }
        guard let before = quietTime else { return false }
        let now = rate < Self.quietRate ? before + dt : 0
        guard now > patience else {
            quietTime = now
            return true
        }
        quietTime = nil
        patience = min(2 * patience, Self.longestPatience)
        return false
    }
}
