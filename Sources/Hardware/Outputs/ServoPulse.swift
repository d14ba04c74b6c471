public import GimbalCore

/// Conversion from a joint's angle to the pulse of its servo.
public struct ServoPulse: Sendable, BitwiseCopyable, Equatable {
    /// Shortest pulse of the servo, s.
    public var shortest: Double
    /// Longest pulse of the servo, s.
    public var longest: Double
    /// Angle by which the servo turns between the shortest and the longest pulse, rad.
    public var travel: Double
    /// Direction of the servo; 1, or -1 if a longer pulse turns the joint backwards.
    public var direction: Double
    /// Pulse offset from mid-travel at joint angle zero, s.
    public var trim: Double

    /// Creates the conversion from joint angle to pulse length for one servo.
    public init(
        shortest: Double, longest: Double, travel: Double, direction: Double = 1, trim: Double = 0
    ) {
        self.shortest = shortest
        self.longest = longest
        self.travel = travel
        self.direction = direction
        self.trim = trim
    }

    /// Computes the pulse length, s, for a joint angle, rad. The length is limited to the servo's
    /// range.
    public func pulse(for angle: Double) -> Double {
        let middle = (shortest + longest) / 2 + trim
        let slope = direction < 0 ? -(longest - shortest) / travel : (longest - shortest) / travel
        return min(max(middle + slope * angle, shortest), longest)
    }
}

/// Conversions from joint angle to pulse length of the three servos, one for each joint.
public typealias ServoPulses = PerAxis<ServoPulse>
