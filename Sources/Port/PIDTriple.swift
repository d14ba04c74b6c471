public import GimbalCore

/// PID values (p, i and d) of one axis, as an AirOS app shows and sends them.
///
/// The unit of the gains is the unit of the original firmware (servo degrees per degree of error).
/// The gains cannot be converted to the units of another gimbal. Only the ratio of the values to
/// the app's defaults is used, see `AirOSScale`.
public struct PIDTriple: Sendable, BitwiseCopyable, Equatable {
    /// Proportional gain, 0...5.
    public var p: Double
    /// Integral gain, 0...1.
    public var i: Double
    /// Derivative gain, 0...0.5.
    public var d: Double

    /// Creates a triple from the given values.
    public init(p: Double, i: Double, d: Double) {
        self.p = p
        self.i = i
        self.d = d
    }

    /// The app's defaults for pitch and roll.
    public static var tilt: PIDTriple { PIDTriple(p: 1.2, i: 0.1, d: 0.05) }
    /// The app's defaults for yaw.
    public static var pan: PIDTriple { PIDTriple(p: 0.8, i: 0.05, d: 0.02) }
    /// The app's defaults of all axes.
    public static var defaults: PerAxis<PIDTriple> { PerAxis(yaw: pan, roll: tilt, pitch: tilt) }
}
