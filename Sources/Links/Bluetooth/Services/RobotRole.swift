import Configuration
public import GimbalCore
public import Logging
import Port
import Robot
import Wire

/// Role of the serial service for a robot's remote control. While commands of the remote control's
/// slider arrive, one stepper motor turns. The joystick sets the positions of the two other motors.
/// The role never answers a command.
public final class RobotRole: SerialRole {
    /// Counters of the role since the start of airframed.
    public struct Counters: Sendable, Equatable {
        /// Number of executed commands.
        public var commands: UInt64 = 0
        /// Number of refused commands.
        public var refused: UInt64 = 0
        /// Number of invalid commands.
        public var malformed: UInt64 = 0
    }

    /// Name of the role in the setting `rbl.role`.
    public let name = "robot"
    /// Counters of the role since the start of airframed.
    public private(set) var counters = Counters()

    private let port: any GimbalPort
    private let log: Logger
    private var splitters: [Central: RobotCommandSplitter] = [:]

    /// Creates a role.
    ///
    /// - Parameters:
    ///   - port: Port through which the role accesses the motors.
    ///   - logger: Log for refusals.
    public init(port: any GimbalPort, logger: Logger) {
        self.port = port
        log = logger
    }

    /// The counters of the role, by name.
    public var counts: [String: Int] {
        [
            "robot_commands": Int(counters.commands), "robot_refused": Int(counters.refused),
            "robot_malformed": Int(counters.malformed),
        ]
    }

    /// Executes the commands in received bytes. The bytes can contain several commands, or a part
    /// of a command.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        // A stop must not become a part of an incomplete command before it.
        if isEmergencyStop(bytes) { splitters[central] = nil }
        for command in splitters[central, default: RobotCommandSplitter()].append(bytes) {
            guard let command else {
                counters.malformed += 1
                log.warning("\(central) sent text that is not a robot command.")
                continue
            }
            do {
                let request = MotionRequest(command, port.settings.robot)
                try port.request(request, from: Self.source(central), now: now)
                counters.commands += 1
            } catch {
                counters.refused += 1
                log.warning("\(central) sent \(command), refused: \(error.message).")
            }
        }
    }

    /// True if the bytes contain the command `E>`.
    public func isEmergencyStop(_ bytes: [UInt8]) -> Bool {
        var splitter = RobotCommandSplitter()
        return splitter.append(bytes).contains(.emergencyStop)
    }

    /// Stops the motion that the client has requested.
    public func disconnected(_ central: Central, now: Instant) {
        splitters[central] = nil
        port.left(Self.source(central), now: now)
    }
    private static func source(_ central: Central) -> CommandSource {
        CommandSource(link: .rbl, connection: UInt64(central.connection))
    }
}

extension MotionRequest {
    /// Creates the request for a command from the slider or the joystick of a robot's remote
    /// control.
    fileprivate init(_ command: RobotCommand, _ robot: Settings.Robot) {
        func steps(_ units: Int) -> Int { Int((Double(units) * robot.stepsPerUnit).rounded()) }
        self =
            switch command {
            case .slide(let forwards):
                switch robot.sliderMotion {
                case .step: .step(axis: 0, .by(forwards ? 1 : -1))
                case .rate:
                    .step(axis: 0, .turn(forwards ? robot.sliderSpeed : -robot.sliderSpeed))
                }
            case .stop: .step(axis: 0, .hold)
            case .turn(let units): .step(axis: 1, .position(steps(units)))
            case .lift(let units): .step(axis: 2, .position(steps(units)))
            case .emergencyStop: .emergencyStop
            case .resetEmergencyStop: .resetEmergencyStop
            }
    }
}
