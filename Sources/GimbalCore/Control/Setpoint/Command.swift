/// Request to the stabilizer, as received by the loop thread. Only the `Commander` sends commands.
/// Some motions must be requested repeatedly. Without a repeated request, these motions stop at the
/// end of the dead-man time, which is passed with the command. The recorder writes every command,
/// also a new one, because a command is `Recordable`.
public enum Command: Sendable, BitwiseCopyable, Equatable, Recordable {
    /// Turn to given angles.
    public struct PointRequest: Sendable, BitwiseCopyable, Equatable, Recordable {
        /// Earth-frame angles, rad, Z-X-Y order. NaN does not change an axis's destination.
        public var target: AxisVector
        /// Duration of the turn, s; 0 means as fast as the limits allow.
        public var duration: Double
        /// Largest rate of each axis, rad/s; 0 means that only the general limits apply.
        public var rate: Double

        /// Creates a turn to the given angles.
        @_noLocks
        public init(target: AxisVector, duration: Double, rate: Double = 0) {
            self.target = target
            self.duration = duration
            self.rate = rate
        }
    }

    /// Change the mode. After `inactive`, the torque rises gradually (soft start).
    case mode(Mode)
    /// Turn to the given earth-frame angles.
    case point(PointRequest)
    /// Turn the set-point at the given rates, rad/s, until the end of the dead-man time; then stop.
    case rate(AxisVector)
    /// In mode `tracking`: turn the camera at the given rates, rad/s, right and down positive. NaN
    /// does not change the current rate. After the dead-man time the mode becomes `locked`.
    case track(pan: Double, tilt: Double)
    /// In mode `tracking`: point the camera at a target that moves at a known rate. After the
    /// dead-man time the mode becomes `locked`.
    case aim(Aim)
    /// In mode `panFollow`: turn the camera to the angle `yaw`, rad, from the handle's heading,
    /// right positive, at no more than `rate`, rad/s; 0 means that only the general limits apply.
    /// If `yaw` is NaN, the angle increases at `rate` until the end of the dead-man time. `lead`,
    /// rad, is added to the handle's heading and smoothed with it; NaN does not change the lead.
    case lookAside(yaw: Double, rate: Double, lead: Double = 0)
    /// Excite one axis with a small amplitude to identify its load. Any other command ends the
    /// excitation.
    case excite(Excitation)
    /// In mode `inactive`: move one motor slightly, until the dead-man time ends or another command
    /// arrives.
    case testMotor(GimbalAxis)
    /// In mode `inactive`: turn one motor without encoder slowly in one direction until the joint
    /// stops, and then back to the middle. The end of the dead-man time or another command ends the
    /// turn.
    case findEnd(GimbalAxis, isPositive: Bool)
    /// Reset the controllers' integrals to zero; the motion of the camera continues.
    case resetIntegrals
    /// Switch the motors' outputs off, and keep them off until `resetEmergencyStop`.
    case emergencyStop
    /// Release a latched emergency stop. The mode remains `inactive` until another mode is
    /// requested.
    case resetEmergencyStop
    /// Switch the motors' outputs off permanently, because the process is about to end.
    case shutdown

    /// Turn to the given earth-frame angles, see `PointRequest`.
    public static func point(
        target: AxisVector, duration: Double, rate: Double = 0
    ) -> Command { .point(PointRequest(target: target, duration: duration, rate: rate)) }
}

extension AxisVector {
    /// Copy of the rates of a request, with NaN for each axis that the request does not turn.
    public var turning: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(
                yaw: yaw == 0 ? .nan : yaw, roll: roll == 0 ? .nan : roll,
                pitch: pitch == 0 ? .nan : pitch)
        }
    }
}
