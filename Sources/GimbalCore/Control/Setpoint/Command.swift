/// Request to the stabilizer, in the form that passes through the command ring. Only the
/// `Commander` sends commands. A motion that must be requested repeatedly ends at the dead-man
/// time, which is passed with the command.
public enum Command: Sendable, BitwiseCopyable, Equatable {
    /// Change the mode. After `inactive`, the torque rises gradually (soft start).
    case mode(Mode)
    /// Turn to these earth-frame angles (rad, Z-X-Y order; NaN keeps an axis's destination) within
    /// `duration` seconds, no axis faster than `rate` rad/s; 0 means as fast as the limits allow.
    case point(target: AxisVector, duration: Double, rate: Double = 0)
    /// Turn the set-point at these rates (rad/s) until the end of the dead-man time, then stand
    /// still.
    case rate(AxisVector)
    /// In mode `tracking`: turn at these rates, rad/s, right and down positive; NaN keeps the
    /// present rate. After the end of the dead-man time the mode becomes `locked`.
    case track(pan: Double, tilt: Double)
    /// In mode `panFollow`: turn the camera by this angle to the side of the handle's heading, rad,
    /// right positive; NaN keeps the present angle. The angle grows at `rate`, rad/s, until the end
    /// of the dead-man time.
    case lookAside(yaw: Double, rate: Double)
    /// Excite one axis slightly to identify its load; ends at the next command of any kind.
    case excite(Excitation)
    /// In mode `inactive`: move one motor slightly until the end of the dead-man time; ends at the
    /// next command of another kind.
    case testMotor(GimbalAxis)
    /// Reset the controllers' integrals to zero; everything else continues.
    case resetIntegrals
    /// Outputs off, latched until `resetEmergencyStop`.
    case emergencyStop
    /// Release a latched emergency stop; the mode stays `inactive` until another one is requested.
    case resetEmergencyStop
    /// The process is about to end: outputs off permanently.
    case shutdown
}
