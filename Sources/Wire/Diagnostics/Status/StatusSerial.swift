import PlainText

/// State of servos or a motor board on a serial port.
public struct SerialStatus: Hashable, Sendable, Codable {
    /// Device file of the port, such as `/dev/ttyUSB0`.
    public var port: String
    /// Baud rate of the port, bit/s.
    public var baud: Int
    /// Protocol of the devices: `feetech`, `dynamixel2` or `board`.
    public var protocolName: String
    /// True if the port is missing.
    public var isDown = false
    /// Reason why the port cannot be used, such as "No such device"; absent without a problem.
    public var problem: String?
    /// Reason why the port's driver has refused the low-latency mode, such as "Operation not
    /// permitted"; absent if it has not.
    public var latencyProblem: String?
    /// Number of requests sent since the start.
    public var requests = 0
    /// Number of valid replies since the start.
    public var replies = 0
    /// Number of request-reply exchanges with damaged bytes.
    public var damaged = 0
    /// Load of the port at the configured rate, %, from the number of bytes in an exchange.
    public var loadPercent: Number = .unknown
    /// Lowest supply voltage reported by a motor, V.
    public var supplyV: Number = .unknown
    /// States of the yaw, roll and pitch motors; absent servos are omitted.
    public var motors: [DriveStatus] = []

    /// Creates the state of a port without motors.
    public init(port: String, baud: Int, protocolName: String) {
        self.port = port
        self.baud = baud
        self.protocolName = protocolName
    }

    /// True if the port currently has no fault.
    public var isFaultless: Bool { !isDown && problem == nil }

    /// The state in one line.
    public var summary: String {
        let state = isDown ? problem ?? "missing" : "open"
        let share =
            replies > 0 || damaged > 0
            ? ", \(damaged) damaged of \(requests) exchanges" : ", no reply"
        return
            "\(port), \(protocolName), \(state), \(baud) bit/s, load \(Format.fixed(loadPercent.value, 0)) %"
            + share + (latencyProblem.map { ", no low-latency mode: \($0)" } ?? "")
    }
}
