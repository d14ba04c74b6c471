import PlainText

/// State of the drives on a CAN bus.
public struct CANStatus: Hashable, Sendable, Codable {
    /// Name of the interface, such as `can0`.
    public var interface: String
    /// Setting `hardware.linux.can_protocol`.
    public var protocolName: String
    /// True if the CAN controller is in the bus-off state, or the interface is down.
    public var isDown = false
    /// True if airframed sets the timeout of the drives' watchdogs; false if the settings exclude it,
    /// or if the drives have no known watchdog.
    public var setsWatchdogs = false
    /// Joints whose drives have not confirmed the timeout that airframed sets, such as `yaw`; empty
    /// if the drives confirm nothing.
    public var unguarded: [String] = []
    /// Number of frames sent since the start.
    public var sentFrames = 0
    /// Number of frames received since the start.
    public var receivedFrames = 0
    /// Number of received frames that could not be decoded.
    public var malformedFrames = 0
    /// Number of error reports of the CAN controller since the drives have started to answer, or
    /// since the start of airframed if they have not answered yet.
    public var errorReports = 0
    /// Number of transitions of the controller to the bus-off state.
    public var busOffs = 0
    /// Reason why frames cannot be received, such as "No such device"; absent without a problem.
    public var problem: String?
    /// Load of the bus at the loop's rate, for frames of maximum length.
    public var loadPercent: Number = .unknown
    /// The drives of yaw, roll and pitch.
    public var drives: [DriveStatus] = []

    /// Creates the state of a bus without drives.
    public init(interface: String, protocolName: String) {
        self.interface = interface
        self.protocolName = protocolName
    }

    /// True if the bus has no fault, and has had no error since the drives have started to answer.
    public var isFaultless: Bool { !isDown && problem == nil && errorReports == 0 }

    /// The state in one line.
    public var summary: String {
        let state = isDown ? "bus-off, or interface down" : problem ?? "up"
        return
            "\(interface), \(protocolName), \(state), load \(Format.fixed(loadPercent.value, 0)) %, "
            + "\(errorReports) errors, \(busOffs) times bus-off"
    }
}

/// State of one drive, of one servo, or of one motor on a motor board.
public struct DriveStatus: Hashable, Sendable, Codable {
    /// Name of the joint: `yaw`, `roll` or `pitch`.
    public var axis: String
    /// CAN ID of the drive.
    public var id: Int
    /// State of the drive: `on`, `off`, `silent`, `fault`, `refuses` or `answers`. A drive that
    /// does not report the state of its power stage has the state `answers`. In the state
    /// `refuses`, the drive remains off despite the command to switch on.
    public var state: String
    /// Fault code of the drive, hexadecimal, and the fault's causes (if the protocol names causes);
    /// absent without a fault.
    public var fault: String?
    /// Temperature of the motor or its driver, °C.
    public var temperatureC: Number = .unknown
    /// Supply voltage of the drive, V.
    public var supplyV: Number = .unknown
    /// Version of the drive's firmware, such as "0.6.9"; absent if the drive does not report it.
    public var firmware: String?
    /// Timeout of the drive's watchdog that the drive has confirmed, ms.
    public var watchdogMs: Number = .unknown
    /// Load of the motor, as a fraction of the largest load.
    public var load: Number = .unknown
    /// Current of the motor.
    public var currentA: Number = .unknown
    /// Number of frames from the drive since the start.
    public var frames = 0
    /// Number of times that the drive has stopped answering.
    public var silences = 0
    /// Number of fault reports from the drive.
    public var faults = 0

    /// Creates the state of a drive with the given joint, ID and state; all other values are
    /// unknown.
    public init(axis: String, id: Int, state: String) {
        self.axis = axis
        self.id = id
        self.state = state
    }

    /// True if the drive does not answer.
    public var isSilent: Bool { state == "silent" }

    /// True if the drive answers and has no fault.
    public var isFaultless: Bool { ["on", "off", "answers"].contains(state) }

    /// The state in one line.
    public var summary: String {
        var parts = ["drive \(id) \(state)" + (fault.map { " \($0)" } ?? "")]
        if let value = temperatureC.known { parts.append("\(Format.fixed(value, 0)) °C") }
        if let value = supplyV.known { parts.append("\(Format.fixed(value, 1)) V") }
        if let firmware { parts.append("firmware \(firmware)") }
        if let value = watchdogMs.known { parts.append("watchdog \(Format.fixed(value, 0)) ms") }
        if silences > 0 { parts.append("silent \(silences) times") }
        if faults > 0 { parts.append("\(faults) faults") }
        return parts.joined(separator: ", ")
    }
}
