public import GimbalCore
public import Logging
public import Port
public import Wire

/// What the daemon does for a robot's remote control. Thread airframed-ble.
public protocol RobotBackend: Sendable {
    /// Carries a command out.
    ///
    /// - Parameters:
    ///   - command: What is wanted.
    ///   - central: Who wants it.
    ///   - now: When it was received.
    /// - Throws: Why it was refused.
    func carryOut(_ command: RobotCommand, by central: Central, now: Instant) throws(Refusal)
    /// The connection is gone: what it turned stands still.
    func disconnected(_ central: Central, now: Instant)
}

/// A robot's remote control behind the serial service: the slider turns one motor while its commands arrive, the joystick
/// says where two others go. Never answers.
public final class RobotRole: SerialRole {
    /// What has been counted since the start.
    public struct Counters: Sendable, Equatable {
        /// Commands that were carried out.
        public var commands: UInt64 = 0
        /// Commands that were refused.
        public var refused: UInt64 = 0
        /// What was no command.
        public var malformed: UInt64 = 0
    }

    /// The name in the configuration.
    public let name = "robot"
    /// Counted since the start.
    public private(set) var counters = Counters()

    private let backend: any RobotBackend
    private let log: Logger
    private var splitters: [Central: RobotCommandSplitter] = [:]

    /// - Parameters:
    ///   - backend: The motors.
    ///   - logger: What was refused.
    public init(backend: any RobotBackend, logger: Logger) {
        self.backend = backend
        log = logger
    }

    /// The counters by name.
    public var counts: [String: Int] {
        [
            "robot_commands": Int(counters.commands), "robot_refused": Int(counters.refused),
            "robot_malformed": Int(counters.malformed),
        ]
    }

    /// Commands, several in one write or in pieces.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        for command in splitters[central, default: RobotCommandSplitter()].append(bytes) {
            guard let command else {
                counters.malformed += 1
                log.warning("\(central) sent no command of a robot.")
                continue
            }
            do {
                try backend.carryOut(command, by: central, now: now)
                counters.commands += 1
            } catch {
                counters.refused += 1
                log.warning("\(central) sent \(command), refused: \(error.message).")
            }
        }
    }

    /// What it turned stands still.
    public func disconnected(_ central: Central, now: Instant) {
        splitters[central] = nil
        backend.disconnected(central, now: now)
    }
}
