public import GimbalCore
import Robot
import Wire

/// Echo role for tests of a client or of the radio: returns all received bytes to the clients.
public final class LoopbackRole: SerialRole {
    /// Name of the role in the setting `rbl.role`.
    public let name = "loopback"

    /// Creates a role.
    public init() {}

    /// Sends the received bytes to the clients.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        output.append(bytes)
    }
}

/// Role of the serial service for two kinds of clients, flight displays and remote controls of
/// robots. The first byte from a client determines the client's kind: the start byte of a MAVLink
/// frame, or a letter of a robot command, after any line ends. An emergency stop of either kind is
/// executed for every client, because two apps of a phone share one connection. A client that sends
/// nothing is treated as a flight display, which only receives.
public final class AutoRole: SerialRole {
    /// Name of the role in the setting `rbl.role`.
    public let name = "auto"

    private let mavlink: any SerialRole
    private let robot: any SerialRole
    private var isRobot: [Central: Bool] = [:]

    /// Creates a role.
    ///
    /// - Parameters:
    ///   - mavlink: MAVLink role, whose telemetry is sent to all subscribed clients.
    ///   - robot: Role for robot commands, which only receives.
    public init(mavlink: any SerialRole, robot: any SerialRole) {
        self.mavlink = mavlink
        self.robot = robot
    }

    /// Passes a client's bytes to the role that serves this client.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        // In a MAVLink frame, a line end is a byte like any other.
        let known =
            isRobot[central]
            ?? bytes.first { !RobotCommand.isLineEnd($0) }.flatMap(Self.isRobot)
        isRobot[central] = known
        if mavlink.isEmergencyStop(bytes) {
            mavlink.receive(bytes, from: central, now: now, &output)
        } else if let known {
            let role = known || Self.isRobotStop(bytes) ? robot : mavlink
            role.receive(bytes, from: central, now: now, &output)
        }
    }

    /// True if the bytes consist of robot commands, and one of them is `E>`. The bytes `E>` within a
    /// MAVLink frame are not a stop.
    private static func isRobotStop(_ bytes: [UInt8]) -> Bool {
        guard bytes.last(where: { !RobotCommand.isLineEnd($0) }) == UInt8(ascii: ">") else {
            return false
        }
        var splitter = RobotCommandSplitter()
        let commands = splitter.append(bytes)
        return commands.contains(.emergencyStop) && !commands.contains(nil)
    }

    /// True if the bytes are an emergency stop of one of the two roles.
    public func isEmergencyStop(_ bytes: [UInt8]) -> Bool {
        mavlink.isEmergencyStop(bytes) || robot.isEmergencyStop(bytes)
    }

    private static func isRobot(_ first: UInt8) -> Bool? {
        switch first {
        case 0xFD, 0xFE: false
        case let letter where RobotCommand.letters.utf8.contains(letter): true
        default: nil
        }
    }

    /// The counters of the MAVLink role and of the robot role, by name.
    public var counts: [String: Int] { mavlink.counts.merging(robot.counts) { $1 } }

    /// Sets the speed of the serial port of the MAVLink role.
    public func setBaud(_ bitsPerSecond: Int) { mavlink.setBaud(bitsPerSecond) }

    /// Discards the state of a client that has disconnected.
    public func disconnected(_ central: Central, now: Instant) {
        isRobot[central] = nil
        mavlink.disconnected(central, now: now)
        robot.disconnected(central, now: now)
    }

    /// Discards the stored output of both roles.
    public func discard() {
        mavlink.discard()
        robot.discard()
    }

    /// Sends output of the MAVLink role and of the robot role; returns the earlier deadline of the
    /// two roles.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? {
        [mavlink.advance(now: now, &output), robot.advance(now: now, &output)]
            .compactMap(\.self).min()
    }
}
