/// Command of a robot's remote control over the serial service. A command consists of ASCII
/// characters and ends with `>`.
public enum RobotCommand: Sendable, Equatable {
    /// `F>`, `B>`: the slider of the remote control is above or below its centre. The remote
    /// control repeats the command while the value of the slider changes.
    case slide(forwards: Bool)
    /// `S>`: the slider of the remote control is centred.
    case stop
    /// `R45>`, `L-45>`: target of the joystick's x axis, steps from home, right positive.
    case turn(Int)
    /// `U7>`, `D-7>`: target of the joystick's y axis, steps from home, up positive.
    case lift(Int)
    /// `E>`: emergency stop, latched. No app sends the emergency stop or its reset yet.
    case emergencyStop
    /// `C>`: reset of the emergency stop. No app sends the emergency stop or its reset yet.
    case resetEmergencyStop

    /// First letters of the commands.
    public static let letters = "FBSRLUDEC"
    /// True for the characters that a client can send between commands.
    public static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
    /// Size of the longest command without its final `>`, bytes.
    public static let longest = 8
    /// Largest target in each direction, steps.
    static let range = -10_000...10_000

    /// Parses one command without its final `>`; nil if the command is invalid.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let letter = bytes.first, bytes.count <= Self.longest else { return nil }
        let rest = String(decoding: bytes.dropFirst(), as: UTF8.self)
        let number = rest.first == "+" ? nil : Int(rest)
        switch (letter, rest.isEmpty) {
        case (UInt8(ascii: "F"), true): self = .slide(forwards: true)
        case (UInt8(ascii: "B"), true): self = .slide(forwards: false)
        case (UInt8(ascii: "S"), true): self = .stop
        case (UInt8(ascii: "E"), true): self = .emergencyStop
        case (UInt8(ascii: "C"), true): self = .resetEmergencyStop
        case (UInt8(ascii: "R"), false), (UInt8(ascii: "L"), false):
            guard let number, Self.range.contains(number) else { return nil }
            self = .turn(number)
        case (UInt8(ascii: "U"), false), (UInt8(ascii: "D"), false):
            guard let number, Self.range.contains(number) else { return nil }
            self = .lift(number)
        default: return nil
        }
    }
}

/// Parser that splits a byte stream into commands. The stream can be divided anywhere. The
/// splitter's memory is bounded. A command that is too long is discarded, and reported as invalid.
public struct RobotCommandSplitter: Sendable {
    private var bytes: [UInt8] = []
    private var isTooLong = false

    /// Creates a splitter without input.
    public init() {}

    /// Adds received bytes.
    ///
    /// - Parameter chunk: Next bytes of the stream. The bytes can begin and end within a command.
    /// - Returns: The completed commands in order; nil for each invalid command.
    public mutating func append(_ chunk: some Sequence<UInt8>) -> [RobotCommand?] {
        var found: [RobotCommand?] = []
        for byte in chunk {
            if byte == UInt8(ascii: ">") {
                found.append(isTooLong ? nil : RobotCommand(bytes))
                bytes = []
                isTooLong = false
            } else if bytes.count >= RobotCommand.longest {
                isTooLong = true
            } else if !(bytes.isEmpty && RobotCommand.isLineEnd(byte)) {
                // Line ends between commands are ignored.
                bytes.append(byte)
            }
        }
        return found
    }
}
