/// Monitor of the motors' supply voltage, with two stages: low and empty. The current time is a
/// parameter; this type does not read a clock.
///
/// The voltage is smoothed, because motor current causes short voltage drops. Each condition ends
/// only when the voltage is 3 % above its threshold. The hysteresis is needed because the voltage
/// rises again when the motors are off.
public struct SupplyWatch: Sendable, BitwiseCopyable {
    /// Voltage thresholds of the two stages, V; 0 disables a stage.
    public struct Limits: Sendable, BitwiseCopyable, Equatable {
        /// Voltage below which the supply is low.
        public var low: Double
        /// Voltage below which the supply is empty.
        public var empty: Double

        /// Creates limits.
        public init(low: Double, empty: Double) {
            self.low = low
            self.empty = empty
        }
    }

    /// Smoothed voltage, V; NaN before the first measurement.
    public private(set) var voltage = Double.nan
    /// Active conditions: `supplyLow`, `supplyEmpty`, both or none.
    public private(set) var conditions = Conditions.none

    private let limits: Limits
    private var last = Instant(nanoseconds: 0)

    /// Time constant of the smoothing, s.
    private static var smoothing: Double { 1 }
    /// Hysteresis: ratio of the voltages at which a condition ends and begins.
    private static var recovery: Double { 1.03 }

    /// Creates a monitor that has no measurement yet.
    public init(limits: Limits) { self.limits = limits }

    /// Evaluates a measured voltage, V. NaN and 0 mean that the voltage is unknown; the conditions
    /// then do not change.
    public mutating func step(voltage measured: Double, now: Instant) {
        let dt = min(max(now.seconds(since: last), 0), 1)
        last = now
        guard measured.isFinite, measured > 0 else { return }
        voltage =
            voltage.isNaN
            ? measured : voltage + (measured - voltage) * (dt / (Self.smoothing + dt))
        judge(.supplyLow, below: limits.low)
        judge(.supplyEmpty, below: limits.empty)
    }

    private mutating func judge(_ condition: Conditions, below limit: Double) {
        let holds = conditions.intersects(condition)
        if limit > 0, voltage < limit * (holds ? Self.recovery : 1) {
            conditions.insert(condition)
        } else if holds {
            conditions = conditions.subtracting(condition)
        }
    }
}

/// Reaction of the stabilizer to a low supply voltage: first slower motion, then the rest pose,
/// then motors off.
struct SupplyReaction: Sendable, BitwiseCopyable {
    /// Time since the supply became empty, s; nil while it is not empty.
    var emptySeconds: Double?

    /// Scale factor for the rates and accelerations of requested motion while the supply is low.
    static var share: Double { @_noLocks get { 0.5 } }
    /// Timeout of the motion to the rest pose, s; the motors are then switched off.
    static var foldSeconds: Double { @_noLocks get { 8 } }

    @_noLocks
    init() {}
}

extension Stabilizer {
    /// Slows the set-point's motion while the supply voltage is low. Moves the camera to its rest
    /// pose when the supply is empty. If the joint angles are unknown, or after `foldSeconds`, the
    /// motors are switched off at the camera's present attitude.
    @_noLocks
    mutating func reactToSupply(dt: Double) {
        adaptMotion(isSlow: external.intersects(.supplyLow | .supplyEmpty))
        guard external.intersects(.supplyEmpty) else { return supply.emptySeconds = nil }
        let seconds = (supply.emptySeconds ?? 0) + dt
        supply.emptySeconds = seconds
        switch pointing.mode {
        case .inactive: return
        case .retract where supervisor.isEnabled && seconds < SupplyReaction.foldSeconds: return
        case .locked, .panFollow, .fpv, .tracking, .neutral, .retract: break
        }
        let folds =
            supervisor.isEnabled && showsJoints && seconds < SupplyReaction.foldSeconds
        pointing.fall(to: folds ? .retract : .inactive)
    }
}
