/// Command of a robot's remote control over the serial service: ASCII, each command ends with `>`.
public enum RobotCommand: Sendable, Equatable {
    /// `F>`, `B>`: the slider is above or below its middle; sent again and again while it moves.
    case slide(forwards: Bool)
    /// `S>`: the slider is in its middle.
    case stop
    /// `R45>`, `L-45>`: where the joystick's x is to lead, steps from home, right positive.
    case turn(Int)
    /// `U7>`, `D-7>`: where its y is to lead, steps from home, up positive.
    case lift(Int)
    /// `E>`: everything off, latched. No app sends it yet.
    case emergencyStop
    /// `C>`: the end of that. No app sends it yet.
    case resetEmergencyStop

    /// Letters that a command begins with.
    public static let letters = "FBSRLUDEC"
    /// Bytes of the longest command, without its end.
    public static let longest = 8
    /// Largest target to either side, steps.
    static let range = -10_000...10_000

    /// One command without its end; nil for anything else.
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

/// Cuts a stream into commands, however writes cut it. Bounded: a command that is too long is
/// nobody's, up to its end.
public struct RobotCommandSplitter: Sendable {
    private var bytes: [UInt8] = []
    private var isTooLong = false

    /// A parser without input.
    public init() {}

    /// Takes what has come.
    ///
    /// - Parameter chunk: Any part of the stream.
    /// - Returns: Each command that it completes, in its order; nil for one that is none.
    public mutating func append(_ chunk: some Sequence<UInt8>) -> [RobotCommand?] {
        var found: [RobotCommand?] = []
        for byte in chunk {
            if byte == UInt8(ascii: ">") {
                found.append(isTooLong ? nil : RobotCommand(bytes))
                bytes = []
                isTooLong = false
            } else if bytes.count >= RobotCommand.longest {
                isTooLong = true
            } else if !(bytes.isEmpty && (byte == 0x0A || byte == 0x0D)) {
                // Line ends between commands are ignored.
                bytes.append(byte)
            }
        }
        return found
    }
}
