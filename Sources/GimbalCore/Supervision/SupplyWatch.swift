/// Watch over the voltage of the motors' supply: low, then empty. Pure; the caller passes the times.
///
/// The voltage is smoothed, because the current of a motor lowers it for a moment. Each condition ends
/// only when the voltage is 3 % above its limit, because a supply recovers when the motors are off.
public struct SupplyWatch: Sendable, BitwiseCopyable {
    /// Voltages at which the stages begin, V; 0 means that the stage does not exist.
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
    /// The conditions `supplyLow` and `supplyEmpty`, as far as they hold.
    public private(set) var conditions = Conditions.none

    private let limits: Limits
    private var last = Instant(nanoseconds: 0)

    /// Time constant of the smoothing, s.
    private static var smoothing: Double { 1 }
    /// Ratio of the voltage at which a condition ends to the voltage at which it begins.
    private static var recovery: Double { 1.03 }

    /// Creates a watch without a measurement.
    public init(limits: Limits) { self.limits = limits }

    /// Evaluates a measured voltage, V; NaN or 0 if it is unknown, in which case nothing changes.
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

/// Reaction of the stabilizer to a low supply: slower motion, then the rest pose, then off.
struct SupplyReaction: Sendable, BitwiseCopyable {
    /// True if the limits of the set-point's motion are reduced now.
    var isSlow = false
    /// Time since the supply became empty, s; nil while it is not empty.
    var emptySeconds: Double?

    /// Factor on the rates of requested motion while the supply is low.
    static var share: Double { @_noLocks get { 0.5 } }
    /// Time that the camera has for its way to the rest pose, s.
    static var foldSeconds: Double { @_noLocks get { 8 } }

    @_noLocks
    init() {}
}

extension Stabilizer {
    /// Sets the limits of requested motion, with rates and accelerations times `share`.
    @_noLocks
    mutating func limitPointing(share: Double) {
        pointing.parameters = parameters.setpoint.slower(share)
        pointing.modes = parameters.modes.slower(share)
    }

    /// Slows the set-point down while the supply is low, and moves the camera to its rest pose when it
    /// is empty. Without joint angles, or after `foldSeconds`, the motors go off where the camera is.
    @_noLocks
    mutating func reactToSupply(now: Instant, dt: Double) {
        let isSlow = external.intersects(.supplyLow | .supplyEmpty)
        if isSlow != supply.isSlow {
            supply.isSlow = isSlow
            let share = isSlow ? SupplyReaction.share : 1
            limitPointing(share: share)
        }
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
        pointing.change(to: folds ? .retract : .inactive, now: now)
    }
}
