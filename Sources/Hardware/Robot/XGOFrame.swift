/// Frames of XGO robots by Luwu: a driver board with its own balance controller, on a UART with
/// 115200 bit/s, 8N1.
///
/// Source: "XGO Serial Communication Protocol" of the vendor, in ELECFREAKS' pages about the
/// CM4-XGO robot and the XGO Rider. A frame is `55 00 length type address data… checksum 00 AA`;
/// `length` is the number of bytes of the frame, and the checksum is the inverted sum of length,
/// type, address and data. For write frames, this document specifies only the type 0x00, for the
/// dogs and for the Rider; its example writes register 0x30. The vendor's library XGO-PythonLib
/// sends type 0x00 in one version (xgolib/xgolib.py, commit 2439068, for dogs), and type 0x01 in
/// other versions. Its port xgolib-rs, which was tested with a Rider, also sends 0x01. No source
/// mentions a firmware that refuses one of the types, or explains how the types differ.
enum XGOFrame {
    /// A register of the board's memory table.
    enum Register: UInt8 {
        /// Charge of the battery, 0...100 %.
        case battery = 0x01
        /// State of an XGO Rider: 0 after a fall, 1 while the robot balances.
        case riderState = 0x02
        /// Version of the firmware, ten characters; the first one names the model.
        case firmware = 0x07
        /// Forward speed, 0x00...0xFF; 0x80 is rest.
        case forward = 0x30
        /// Turn rate, left positive, 0x00...0xFF; 0x80 is rest.
        case turn = 0x32
        /// Height of the body, 0x00...0xFF: lowest to highest.
        case height = 0x35
        /// Roll of the body, 0x00...0xFF; 0x80 is level.
        case roll = 0x36
        /// 1 if the board keeps the body level; otherwise 0.
        case level = 0x61
        /// Measured roll, degrees (little-endian IEEE 754).
        case rollAngle = 0x62
        /// Measured pitch, degrees.
        case pitchAngle = 0x63
        /// Measured yaw, degrees.
        case yawAngle = 0x64

        /// Number of bytes of the register.
        var size: UInt8 {
            switch self {
            case .firmware: 10
            case .rollAngle, .pitchAngle, .yawAngle: 4
            case .battery, .riderState, .forward, .turn, .height, .roll, .level: 1
            }
        }
    }

    /// Types of frames.
    private enum Kind {
        static let write: UInt8 = 0x00
        static let read: UInt8 = 0x02
        static let reply: UInt8 = 0x12
    }

    /// Number of bytes of a frame in addition to its data.
    static let overhead = 8
    /// Largest number of data bytes of an accepted frame.
    static let largest = 32

    /// Creates the frame that writes a byte to a register; the board does not answer.
    static func write(_ value: UInt8, to register: Register) -> SerialBytes {
        frame(Kind.write, register, value)
    }

    /// Creates the frame that reads a register.
    static func read(_ register: Register) -> SerialBytes {
        frame(Kind.read, register, register.size)
    }

    private static func frame(_ kind: UInt8, _ register: Register, _ data: UInt8) -> SerialBytes {
        let length = UInt8(overhead + 1)
        var bytes = SerialBytes()
        bytes.append(0x55)
        bytes.append(0x00)
        bytes.append(length)
        bytes.append(kind)
        bytes.append(register.rawValue)
        bytes.append(data)
        bytes.append(~(length &+ kind &+ register.rawValue &+ data))
        bytes.append(0x00)
        bytes.append(0xAA)
        return bytes
    }

    /// Speed as a byte: 0 for -1, 0x80 for rest, 0xFF for 1. A value beyond -1...1 is limited; a
    /// value that is not finite counts as rest.
    static func byte(_ fraction: Double) -> UInt8 {
        guard fraction.isFinite else { return 0x80 }
        let limited = min(max(fraction, -1), 1)
        return UInt8((128 + limited * (limited < 0 ? 128 : 127)).rounded())
    }

    /// Result of the search for a reply.
    enum Item: Equatable {
        /// A valid reply with the register's bytes, at `start` of the received bytes.
        case reply(Register, start: Int)
        /// Number of bytes that do not belong to a valid reply.
        case damaged(Int)
        /// No further item; the rest is the beginning of a frame, or empty.
        case incomplete
    }

    /// Takes the next item from the received bytes. A reply stays in `received` until the caller
    /// drops `length(of:)` bytes; damaged bytes are already dropped.
    static func next(in received: inout SerialBytes) -> Item {
        var at = 0
        while at < received.count {
            guard received[at] == 0x55 else {
                at += 1
                continue
            }
            guard at + 2 < received.count else { break }
            let length = Int(received[at + 2])
            guard received[at + 1] == 0, (overhead + 1...overhead + largest).contains(length) else {
                at += 1
                continue
            }
            guard at + length <= received.count else { break }
            if let register = register(in: received, at: at, length: length) {
                guard at == 0 else { break }
                return .reply(register, start: 5)
            }
            at += 1
        }
        guard at > 0 else { return .incomplete }
        received.drop(at)
        return .damaged(at)
    }

    /// Length of the reply at the beginning of the received bytes.
    static func length(of received: SerialBytes) -> Int { Int(received[2]) }

    /// Register of the reply at `at`; nil if the bytes are not a valid reply.
    private static func register(in bytes: SerialBytes, at: Int, length: Int) -> Register? {
        var sum: UInt8 = 0
        for index in at + 2..<at + length - 3 { sum &+= bytes[index] }
        guard bytes[at + 3] == Kind.reply, bytes[at + length - 3] == ~sum,
            bytes[at + length - 2] == 0x00, bytes[at + length - 1] == 0xAA,
            let register = Register(rawValue: bytes[at + 4]),
            length == overhead + Int(register.size)
        else { return nil }
        return register
    }
}
