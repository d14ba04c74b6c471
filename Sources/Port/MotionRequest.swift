public import GimbalCore

/// Source of requests for motion: one value for each connection, not for each kind of link.
public struct CommandSource: Hashable, Sendable, CustomStringConvertible {
    /// Link that a request arrives on.
    public enum Link: String, Sendable, CaseIterable {
        /// The diagnostics socket: a person at the machine.
        case diagnostics
        /// The AirOS service over Bluetooth.
        case airos
        /// The RedBearLab service over Bluetooth.
        case rbl
        /// The rider's datagrams.
        case udp
        /// A MAVLink peer.
        case mavlink
    }

    /// The link.
    public let link: Link
    /// Distinguishes the connections of one link.
    public let connection: UInt64

    /// Creates a source.
    public init(link: Link, connection: UInt64) {
        self.link = link
        self.connection = connection
    }

    /// "diagnostics client 3", "mavlink client 255/190".
    public var description: String {
        let number =
            link == .mavlink ? "\(connection >> 8 & 255)/\(connection & 255)" : "\(connection)"
        return "\(link.rawValue) client \(number)"
    }
}

/// Request of a source. Angles in radians, earth frame, Z-X-Y order; rates in rad/s.
public enum MotionRequest: Sendable, Equatable {
    /// Change the mode.
    case mode(Mode)
    /// Turn to these angles within `duration` seconds, no axis faster than `rate`; 0 means as fast
    /// as the limits allow. NaN keeps the present target of an axis.
    case point(AxisVector, duration: Double, rate: Double = 0)
    /// Turn at these rates until the next request, or until the source's dead-man expires.
    case rate(AxisVector)
    /// In mode `tracking`: pan and tilt at these rates, right and down positive, until the next
    /// request or the tracking dead-man. NaN keeps the present rate.
    case track(pan: Double, tilt: Double)
    /// In mode `panFollow`: look by `yaw`, -π...π, right positive, to the side of the handle's
    /// heading (NaN keeps the present angle), then turn at `rate` until the next request or the
    /// source's dead-man.
    case lookAside(yaw: Double, rate: Double)
    /// Shake one axis slightly, to measure its load. Takes no control; any other request ends it.
    case excite(Excitation)
    /// In mode `inactive`: move one motor slightly for half a second.
    case testMotor(GimbalAxis)
    /// Turn the two wheels, shares of full speed, -1...1, forwards positive, until the next request
    /// or the dead-man of driving.
    case drive(left: Double, right: Double)
    /// Move one of the robot's stepper motors, 0...2.
    case step(axis: Int, StepWish)
    /// Reset the controllers' integrals to zero.
    case resetIntegrals
    /// Take control of the camera without a request for motion.
    case take
    /// Release control; a rate command stops.
    case release
    /// Switch the outputs off, latched. Always granted.
    case emergencyStop
    /// Reset the source's own emergency stop, and stops of lower ranks. The mode stays inactive.
    /// Does not take control.
    case resetEmergencyStop
}

// Ranges of requests, in users' units, for the parsers and for the checks.
extension MotionRequest {
    /// Earth-frame angles, degrees.
    public static let angles = -180.0...180.0
    /// Rates of a turn, degrees per second.
    public static let rates = -720.0...720.0
    /// Largest rate of a turn to angles, degrees per second; 0 means as fast as the limits allow.
    public static let fastest = 0.0...720.0
    /// Rates of tracking, degrees per second; wider than useful, because a phone may send any rate.
    public static let trackingRates = -1000.0...1000.0
    /// Duration of a turn to angles, seconds; 0 means as fast as the limits allow.
    public static let durations = 0.0...600.0
    /// Speeds of wheels, shares of full speed.
    public static let wheels = -1.0...1.0
    /// Positions of a stepper motor, steps from home.
    public static let steps = -1_000_000...1_000_000
    /// A robot's stepper motors in the order of their numbers: the slider's, and those of the
    /// joystick's x and y.
    public static let steppers = ["slider", "x", "y"]
}

/// Request for a stepper motor.
public enum StepWish: Sendable, Equatable {
    /// Stop, and hold the position.
    case hold
    /// Turn at this rate, steps/s, until the next request or the dead-man of stepping.
    case turn(Double)
    /// Go to this position, steps from home, and hold it.
    case position(Int)
    /// Go this number of steps beyond the present position or target, and hold that position.
    case by(Int)
    /// Find the home switch; its edge becomes position 0.
    case home
}
