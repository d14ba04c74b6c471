import ArgumentParser
import Client
import Configuration
import Hardware
import PlainText
import Wire

/// Serial port with servos, for commands without airframed.
struct ServoPortOptions: ParsableArguments {
    @Option(help: "Serial port of the servos.", completion: .file())
    var port = "/dev/ttyUSB0"
    @Option(
        name: .customLong("protocol"), help: "Protocol: feetech or dynamixel2.",
        completion: .list(["feetech", "dynamixel2"]))
    var kind = "feetech"
    @Option(
        name: .customLong("speed"),
        help:
            "Present baud rate of the servos; without this option 1000000 for feetech, 57600 for dynamixel2."
    )
    var speed: Int?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard ServoProtocol(rawValue: kind) != nil else {
            throw ValidationError("--protocol must be feetech or dynamixel2.")
        }
        guard (speed ?? 57600) >= 9600, (speed ?? 57600) <= 4_000_000 else {
            throw ValidationError("--speed must be 9600 to 4000000 bit/s.")
        }
    }

    var servoProtocol: ServoProtocol { ServoProtocol(rawValue: kind) ?? .feetech }

    var baud: Int { speed ?? (servoProtocol == .feetech ? 1_000_000 : 57600) }

    /// Opens the port.
    func open() throws -> ServoTool {
        try ServoTool(port: port, kind: servoProtocol, baud: baud)
    }

    func require(id: Int, _ name: String) throws {
        guard (0...servoProtocol.largestID).contains(id) else {
            throw ValidationError("\(name) must be 0 to \(servoProtocol.largestID).")
        }
    }
}

/// Command `airframectl motor scan`, which searches for servos on a serial bus.
struct MotorScanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Search for servos on a serial bus.",
        discussion: """
            airframed must not use the port at the same time: stop it, or start it without motors. The search sends a read request to each identifier, \
            and does not move the servos. It does not find servos with the same identifier, because they answer at the same time: connect new servos one by one.
            """)

    @OptionGroup var options: ServoPortOptions
    @Flag(help: "Search at all baud rates of the servos.")
    var allSpeeds = false
    @Option(help: "Largest identifier in the search.")
    var last = 20

    func validate() throws { try options.require(id: last, "--last") }

    func run() throws {
        let tool = try options.open()
        var count = 0
        let bauds = allSpeeds ? options.servoProtocol.bauds.reversed() : [options.baud]
        try tool.scan(bauds: Array(bauds), ids: 0...last) { servo in
            count += 1
            if options.json {
                Output.line(
                    "{\"id\":\(servo.id),\"baud\":\(servo.baud),\"model\":\(servo.model),\"angle_deg\":\(Format.fixed(servo.angle, 2)),\"supply_v\":\(Format.fixed(servo.voltage, 1)),\"temperature_c\":\(Format.fixed(servo.temperature, 0))}"
                )
            } else {
                Output.line(
                    "servo \(servo.id) at \(servo.baud) bit/s: model \(servo.model), \(Format.fixed(servo.angle, 1))°, \(Format.fixed(servo.voltage, 1)) V, \(Format.fixed(servo.temperature, 0)) °C"
                )
            }
        }
        guard count == 0 else { return }
        throw ClientError.timeout(silence)
    }

    /// Message if no servo has answered, with the options that extend the search.
    var silence: String {
        let largest = options.servoProtocol.largestID
        var more = allSpeeds ? [] : ["--all-speeds"]
        if last < largest { more.append("--last \(largest)") }
        return
            "No servo has answered on \(options.port). Check the supply of the servos and the wires"
            + (more.isEmpty ? "." : ", and try \(more.joined(separator: " and ")).")
    }
}

extension ClientError {
    /// The error of a request to servos, with an exit code.
    init(_ error: ServoToolError) {
        self =
            switch error.cause {
            case .port: .file(error.description, field: "port")
            case .silence: .timeout(error.description)
            case .request: .refused(RequestError("refused", error.description))
            }
    }
}

/// Command `airframectl motor id`, which stores a new ID in a servo.
struct MotorIDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "id", abstract: "Set the identifier of a servo.",
        discussion:
            "The servo stores the identifier permanently. Connect new servos one by one, because all new servos have the identifier 1."
    )

    @OptionGroup var options: ServoPortOptions
    @Argument(help: "New identifier.")
    var new: Int
    @Option(help: "Present identifier.")
    var from = 1

    func validate() throws {
        try options.require(id: new, "The new identifier")
        try options.require(id: from, "--from")
    }

    /// Text after the change.
    var result: String {
        Output.text(
            of: "Servo \(from) now has the identifier \(new).", ["id": .int(new)],
            json: options.json)
    }

    func run() throws {
        try options.open().setID(from: from, to: new)
        Output.line(result)
    }
}

/// Command `airframectl motor baud`, which stores a new baud rate in a servo.
struct MotorBaudCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "baud", abstract: "Set the baud rate of a servo.",
        discussion:
            "The servo stores the baud rate permanently. New Dynamixel servos have 57600 bit/s, which is too slow for a gimbal: set 1000000."
    )

    @OptionGroup var options: ServoPortOptions
    @Argument(help: "New baud rate.")
    var new: Int
    @Option(help: "Identifier of the servo.")
    var id = 1

    func validate() throws { try options.require(id: id, "--id") }

    /// Text after the change.
    var result: String {
        Output.text(
            of: "Servo \(id) now has the baud rate \(new).",
            ["id": .int(id), "baud": .int(new)], json: options.json)
    }

    func run() throws {
        try options.open().setBaud(id: id, to: new)
        Output.line(result)
    }
}
