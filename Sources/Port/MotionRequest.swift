public import GimbalCore

/// Who asks for motion. One value for each connection, not for each kind of link.
public struct CommandSource: Hashable, Sendable {
    /// The link that the request came in by.
    public enum Link: String, Sendable, CaseIterable {
        /// The diagnostics socket: a person beside the machine.
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

    /// The source with these values.
    public init(link: Link, connection: UInt64) {
        self.link = link
        self.connection = connection
    }
}

/// What a source may ask for. Angles in radians, earth frame, Z-X-Y order; rates in rad/s.
public enum MotionRequest: Sendable {
    /// Change the mode.
    case mode(Mode)
    /// Turn to these angles within `duration` seconds, no axis faster than `rate`; 0 = as the limits allow. An axis that is
    /// NaN keeps where it is going.
    case point(AxisVector, duration: Double, rate: Double = 0)
    /// Turn at these rates until the next request, or until the source's dead-man expires.
    case rate(AxisVector)
    /// In mode `tracking`: pan and tilt at these rates, right and down positive, until the next request or the tracking
    /// dead-man. NaN keeps the one in force.
    case track(pan: Double, tilt: Double)
    /// In mode `panFollow`: look this far to the side of where the handle points, -π...π, right positive, NaN keeps what is in
    /// force, and turn further at `rate` until the next request or the source's dead-man.
    case lookAside(yaw: Double, rate: Double)
    /// Shake one axis a little, to find out what it turns. Takes no control: whoever asks for something ends it.
    case excite(Excitation)
    /// With the mode inactive, move one motor a little, for half a second from now.
    case testMotor(GimbalAxis)
    /// Turn the two wheels, shares of full speed, -1...1, forwards positive, until the next request or the dead-man of
    /// driving.
    case drive(left: Double, right: Double)
    /// One of the robot's stepper motors, 0...2.
    case step(axis: Int, StepWish)
    /// Let the controllers' integrals start from zero again.
    case resetIntegrals
    /// Take control of the camera without asking for motion.
    case take
    /// Give control back; a rate command stops.
    case release
    /// Outputs off, latched. Always granted.
    case emergencyStop
    /// Take back the source's own emergency stop, and those of lower ranks. The mode stays inactive. Takes no control.
    case resetEmergencyStop
}

/// What a stepper motor is to do.
public enum StepWish: Sendable, Equatable {
    /// Stand, and hold.
    case hold
    /// Turn at this many steps a second until the next request or the dead-man of stepping.
    case turn(Double)
    /// Go to this position, steps from home, and hold it.
    case position(Int)
    /// Go so many steps further than it is or was told to go, and hold that position.
    case by(Int)
    /// Look for the home switch, whose edge is position 0 from then on.
    case home
}

/// Why a request was not carried out. Every case is told to the source that asked.
public enum MotionRefusal: Error, Sendable, Equatable {
    /// Somebody else is in control, and asked for something `age` seconds ago.
    case held(by: CommandSource, age: Double)
    /// The rules let nobody take control by this link.
    case barred(CommandSource.Link)
    /// A latched emergency stop; reset it first.
    case emergencyStopped
    /// The source's own emergency stop is taken back; the stop of another source, which it does not outrank, is still latched.
    case stopped(by: CommandSource)
    /// The mode is inactive, nothing would move; ask for a mode first.
    case inactive
    /// The loop itself drives the motors in this mode; ask for `inactive` first.
    case active(Mode)
    /// There are no wheels to drive.
    case noWheels
    /// There are no stepper motors.
    case noSteppers
    /// The stepper motors have no home switches.
    case noHomeSwitches
    /// The mode needs to know the joints, and nothing shows them.
    case missingSensor(Mode)
    /// The mode needs to know the joints, and the sensors have not said anything yet.
    case sensorsUnknown(Mode)
    /// In this mode nothing of what was asked for can be moved: the mode itself moves it.
    case notInMode(Mode)
    /// A value is not finite or out of its range.
    case outOfRange(field: String, allowed: String)
    /// The loop has not taken earlier commands yet; try again. Never for an emergency stop, unless the loop hangs.
    case busy
    /// The process is ending.
    case shuttingDown
}
