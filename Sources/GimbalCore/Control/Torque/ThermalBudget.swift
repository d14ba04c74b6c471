/// Thermal model of the motors' windings, which limits the torque.
///
/// The copper loss grows with the square of the torque, and the heat dissipates with one time
/// constant. Servo amplifiers use the same model (I²t). The continuous torque corresponds to duty
/// type S1 of IEC 60034-1. `heat` is the temperature rise of the windings relative to the final
/// temperature rise at the continuous torque. If `heat` exceeds 0.9, the torque limit decreases
/// smoothly from the peak torque to the continuous torque.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct ThermalBudget: Sendable, BitwiseCopyable {
    /// Thermal properties of the motors.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Torque that a motor can exert permanently, N·m; 0 disables the thermal model.
        public var continuousTorque = AxisVector(repeating: 0.15)
        /// Thermal time constant of the windings, s.
        public var timeConstant = 30.0

        /// Creates the default values: a continuous torque of 60 % of the default torque limit.
        public init() {}
    }

    /// Threshold of `heat` above which the torque limit decreases.
    private static var knee: Double { @_noLocks get { 0.9 } }

    /// Temperature rise of each motor's windings, relative to the final temperature rise at the
    /// continuous torque.
    private(set) var heat = AxisVector.zero

    /// Creates cold motors.
    @_noLocks
    init() {}

    /// The motors whose torque limit is reduced because they are hot. `peak` is the torque limit of
    /// cold motors, N·m.
    @_noLocks
    func lowered(peak: AxisVector, parameters p: Parameters) -> AxisSet {
        limit(peak: peak, parameters: p).differing(from: peak)
    }

    /// Updates `heat` for one control period.
    ///
    /// - Parameters:
    ///   - torque: Torque of the motors, N·m.
    ///   - p: Thermal properties of the motors.
    ///   - dt: Length of the control period, s, not negative.
    @_noLocks
    mutating func pass(torque: AxisVector, parameters p: Parameters, dt: Double) {
        let share = dt / (p.timeConstant + dt)
        heat = AxisVector(
            yaw: Self.warmed(heat.yaw, torque.yaw, p.continuousTorque.yaw, share),
            roll: Self.warmed(heat.roll, torque.roll, p.continuousTorque.roll, share),
            pitch: Self.warmed(heat.pitch, torque.pitch, p.continuousTorque.pitch, share))
    }

    /// Adapts `heat` to a change of the continuous torque, N·m, because the copper losses of the past
    /// do not change.
    @_noLocks
    mutating func adapt(from old: AxisVector, to new: AxisVector) {
        heat = AxisVector(
            yaw: Self.adapted(heat.yaw, from: old.yaw, to: new.yaw),
            roll: Self.adapted(heat.roll, from: old.roll, to: new.roll),
            pitch: Self.adapted(heat.pitch, from: old.pitch, to: new.pitch))
    }

    /// Present torque limit of the motors, N·m. `peak` is the torque limit of cold motors.
    @_noLocks
    func limit(peak: AxisVector, parameters p: Parameters) -> AxisVector {
        AxisVector(
            yaw: Self.limit(heat.yaw, peak.yaw, p.continuousTorque.yaw),
            roll: Self.limit(heat.roll, peak.roll, p.continuousTorque.roll),
            pitch: Self.limit(heat.pitch, peak.pitch, p.continuousTorque.pitch))
    }

    @_noLocks
    private static func warmed(
        _ heat: Double, _ torque: Double, _ continuous: Double, _ share: Double
    ) -> Double {
        guard continuous > 0 else { return 0 }
        let load = torque / continuous
        return heat + share * (load * load - heat)
    }

    @_noLocks
    private static func adapted(_ heat: Double, from old: Double, to new: Double) -> Double {
        guard old != new, new > 0 else { return heat }
        return heat * (old / new) * (old / new)
    }

    @_noLocks
    private static func limit(_ heat: Double, _ peak: Double, _ continuous: Double) -> Double {
        guard continuous > 0, continuous < peak else { return peak }
        let fall = min(max((heat - knee) / (1 - knee), 0), 1)
        return peak + fall * (continuous - peak)
    }
}
