public import GimbalCore
import Wire

/// Returns all received bytes, to test that a client, the radio and this service work together.
public final class LoopbackRole: SerialRole {
    /// The name in the configuration.
    public let name = "loopback"

    /// Creates a role.
    public init() {}

    /// Returns the bytes.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        output.append(bytes)
    }
}

/// Role for two kinds of clients, distinguished by the first byte that each sends: a MAVLink start
/// of frame, or a letter of a robot command. A client that sends nothing is a display, which only
/// listens.
public final class AutoRole: SerialRole {
    /// The name in the configuration.
    public let name = "auto"
    /// Number of writes from clients of unknown kind.
    public private(set) var unknownWrites: UInt64 = 0

    private let mavlink: any SerialRole
    private let robot: any SerialRole
    private var isRobot: [Central: Bool] = [:]

    /// Creates a role.
    ///
    /// - Parameters:
    ///   - mavlink: MAVLink role, whose telemetry goes to all listeners.
    ///   - robot: Receives commands only.
    public init(mavlink: any SerialRole, robot: any SerialRole) {
        self.mavlink = mavlink
        self.robot = robot
    }

    /// Passes the bytes to the role of the client.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        guard let first = bytes.first else { return }
        guard let isRobot = isRobot[central] ?? Self.isRobot(first) else {
            unknownWrites &+= 1
            return
        }
        self.isRobot[central] = isRobot
        let role = isRobot ? robot : mavlink
        role.receive(bytes, from: central, now: now, &output)
    }

    private static func isRobot(_ first: UInt8) -> Bool? {
        switch first {
        case 0xFD, 0xFE: false
        case let letter where RobotCommand.letters.utf8.contains(letter): true
        default: nil
        }
    }

    /// The counters of both roles.
    public var counts: [String: Int] { mavlink.counts.merging(robot.counts) { $1 } }

    /// The speed of the port behind MAVLink.
    public func setBaud(_ bitsPerSecond: Int) { mavlink.setBaud(bitsPerSecond) }

    /// Removes the client.
    public func disconnected(_ central: Central, now: Instant) {
        isRobot[central] = nil
        mavlink.disconnected(central, now: now)
        robot.disconnected(central, now: now)
    }

    /// Deadline of the first role that has one.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? {
        [mavlink.advance(now: now, &output), robot.advance(now: now, &output)]
            .compactMap(\.self).min()
    }
}
