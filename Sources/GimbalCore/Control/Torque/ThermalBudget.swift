/// How warm the motors' windings are, and what torque that leaves.
///
/// The copper's loss grows with the square of the torque, the heat leaves with one time constant
/// (the I²t model of servo amplifiers; IEC 60034-1 calls the continuous rating duty S1). Heat 1 is
/// what the continuous torque leads to in the end. From nine tenths of it on the limit falls from
/// the peak to the continuous torque, so smoothly that nothing jerks.
///
/// Loop thread only; constant time, no allocation.
public struct ThermalBudget: Sendable, BitwiseCopyable {
    /// What is known about the motors.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Torque that a motor holds for ever, N·m; 0 = no budget is kept.
        public var continuousTorque = AxisVector(repeating: 0.15)
        /// How long the windings take to warm up, s.
        public var timeConstant = 30.0

        /// Motors that hold six tenths of the default limit.
        public init() {}
    }

    /// Share of the heat from which the limit falls.
    private static var knee: Double { @_noLocks get { 0.9 } }

    /// Heat of each motor's windings, 1 at the continuous torque.
    private(set) var heat = AxisVector.zero

    /// Cold motors.
    @_noLocks
    init() {}

    /// The motors whose limit is lowered.
    var lowered: AxisSet {
        @_noLocks get {
            AxisSet(
                yaw: heat.yaw > Self.knee, roll: heat.roll > Self.knee,
                pitch: heat.pitch > Self.knee)
        }
    }

    /// Lets the windings warm and cool for a period.
    ///
    /// - Parameters:
    ///   - torque: What the motors exert, N·m.
    ///   - p: What is known about them.
    ///   - dt: Seconds, not negative.
    @_noLocks
    mutating func pass(torque: AxisVector, parameters p: Parameters, dt: Double) {
        let share = dt / (p.timeConstant + dt)
        heat = AxisVector(
            yaw: Self.warmed(heat.yaw, torque.yaw, p.continuousTorque.yaw, share),
            roll: Self.warmed(heat.roll, torque.roll, p.continuousTorque.roll, share),
            pitch: Self.warmed(heat.pitch, torque.pitch, p.continuousTorque.pitch, share))
    }

    /// What the motors may exert now, N·m, `peak` being what they may exert when cold.
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
    private static func limit(_ heat: Double, _ peak: Double, _ continuous: Double) -> Double {
        guard continuous > 0, continuous < peak else { return peak }
        let fall = min(max((heat - knee) / (1 - knee), 0), 1)
        return peak + fall * (continuous - peak)
    }
}
