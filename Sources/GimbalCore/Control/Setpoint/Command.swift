/// One request to the stabilizer, as it travels through the command ring. Produced by the Commander
/// alone.
public enum Command: Sendable, BitwiseCopyable {
    /// Change the mode; leaving `inactive` starts softly.
    case mode(Mode)
    /// Turn to these earth-frame angles (rad, Z-X-Y order; an axis that is NaN keeps where it is
    /// going) within `duration` seconds, no axis faster than `rate` rad/s; 0 = as the limits allow.
    case point(target: AxisVector, duration: Double, rate: Double = 0)
    /// Turn the set-point at these rates (rad/s) until `validUntil`, then stand still: the dead-man
    /// of the link.
    case rate(AxisVector, validUntil: Instant)
    /// In mode `tracking`: turn at these rates, rad/s, right and down positive, NaN keeps the one
    /// in force; after `validUntil` the mode is `locked`.
    case track(pan: Double, tilt: Double, validUntil: Instant)
    /// In mode `panFollow`: look this far to the side of where the handle points, rad, right
    /// positive; NaN keeps what is in force. It grows at `rate`, rad/s, until `validUntil`.
    case lookAside(yaw: Double, rate: Double, validUntil: Instant)
    /// Shake one axis a little, to find out what it turns; ends at the next command of any kind.
    case excite(Excitation)
    /// With the mode inactive, move one motor a little until `validUntil`; ends at the next command
    /// of another kind.
    case testMotor(GimbalAxis, validUntil: Instant)
    /// Integrals of the controllers start from zero again; everything else goes on.
    case resetIntegrals
    /// Outputs off, latched until `resetEmergencyStop`.
    case emergencyStop
    /// Release a latched emergency stop; the mode stays `inactive` until asked for.
    case resetEmergencyStop
    /// The process is about to end: outputs off for good.
    case shutdown
}
