public import GimbalCore
import Wire

/// Sends back what comes: shows that a client, the radio and this service work together.
public final class LoopbackRole: SerialRole {
    /// The name in the configuration.
    public let name = "loopback"

    /// A role without memory.
    public init() {}

    /// Sends it back.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        output.append(bytes)
    }
}

/// Two clients that use the same service for different things, told apart by the first byte that each sends: a MAVLink
/// start of frame, or a letter of a robot command. One that sends nothing is a display, which only listens.
public final class AutoRole: SerialRole {
    /// The name in the configuration.
    public let name = "auto"
    /// Writes of clients that have not shown what they are.
    public private(set) var unknownWrites: UInt64 = 0

    private let mavlink: any SerialRole
    private let robot: any SerialRole
    private var isRobot: [Central: Bool] = [:]

    /// - Parameters:
    ///   - mavlink: Its telemetry goes to everybody who listens.
    ///   - robot: Gets commands only.
    public init(mavlink: any SerialRole, robot: any SerialRole) {
        self.mavlink = mavlink
        self.robot = robot
    }

    /// Hands the bytes to whom they are for.
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

    /// Those of both.
    public var counts: [String: Int] { mavlink.counts.merging(robot.counts) { $1 } }

    /// The speed of the port behind MAVLink.
    public func setBaud(_ bitsPerSecond: Int) { mavlink.setBaud(bitsPerSecond) }

    /// Forgets the client.
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
