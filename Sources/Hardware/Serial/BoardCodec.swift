internal import GimbalCore

/// Protocol of a microcontroller board that commutates three motors: a frame of three torques in
/// each period, and a short report of the motion (etc/manual/motor-board.md is the specification).
/// Every eighth exchange contains a second report, with currents, supply and temperature.
///
/// A frame is `A5 5A type length payload… CRC`; numbers are little-endian, and the CRC covers type,
/// length and payload.
struct BoardCodec: SerialCodec {
    /// Type and payload length of a frame.
    enum Frame {
        static let command: (type: UInt8, length: UInt8) = (0x01, 15)
        static let motion: (type: UInt8, length: UInt8) = (0x82, 16)
        static let state: (type: UInt8, length: UInt8) = (0x83, 10)
    }

    /// Bits of a command.
    enum Flag {
        static let enable: UInt8 = 1
        static let clear: UInt8 = 2
    }

    /// Number of bytes of a frame without its payload.
    static let overhead = 6
    /// The board also reports its state after each command whose sequence number is a multiple of
    /// this number.
    static let stateInterval: UInt16 = 8
    /// Number of angle units per revolution.
    static let unitsPerTurn = 65536.0
    /// Unit of a rate, rad/s.
    static let rateUnit = 0.001

    let axes = AxisSet(yaw: true, roll: true, pitch: true)
    let holdsAngles = false
    let replyBytes = overhead + Int(Frame.motion.length)
    let motorsPerReply = 3
    var expectedReplies: Int { sequence % Self.stateInterval == 0 ? 2 : 1 }
    var expectedBytes: Int {
        expectedReplies == 1
            ? replyBytes : replyBytes + Self.overhead + Int(Frame.state.length)
    }
    private var requests = DriveRequests()
    private var sequence: UInt16 = 0

    /// Creates the codec of a board.
    init() {}

    mutating func compose(_ command: DriveCommand, into bytes: inout SerialBytes) {
        var flags: UInt8 = command.isEnabled ? Flag.enable : 0
        let fault =
            command.states.yaw.fault | command.states.roll.fault
            | command.states.pitch.fault
        if !command.isEnabled, requests.isClearDue(fault: fault, now: command.now) {
            flags |= Flag.clear
        }
        sequence &+= 1
        let start = bytes.count
        bytes.append(0xA5)
        bytes.append(0x5A)
        bytes.append(Frame.command.type)
        bytes.append(Frame.command.length)
        bytes.append(little: sequence)
        bytes.append(flags)
        axes.forEach { bytes.append(float: command.isOn($0) ? command.torque[$0] : 0) }
        bytes.append(little: CRC16.of(bytes, start + 2..<bytes.count))
    }

    mutating func forgetRequests() { requests.forget() }

    /// Each report of the board contains the state.
    mutating func readStateNext() {}

    /// Number of bytes to skip before the next frame, and the frame's length; nil if the frame is
    /// incomplete.
    static func frame(in received: SerialBytes) -> (skip: Int, count: Int?) {
        var at = 0
        while at < received.count {
            guard received[at] == 0xA5 else {
                at += 1
                continue
            }
            guard at + 3 < received.count else { return (at, nil) }
            let length = Int(received[at + 3])
            guard received[at + 1] == 0x5A, length <= 64 else {
                at += 1
                continue
            }
            let count = length + overhead
            guard at + count <= received.count else { return (at, nil) }
            let crc = CRC16.of(received, at + 2..<at + count - 2)
            if received.little16(at: at + count - 2) == crc { return (at, count) }
            at += 1
        }
        return (at, nil)
    }

    mutating func next(in received: inout SerialBytes, _ take: (DriveReading) -> Void) -> SerialItem
    {
        let (skip, count) = Self.frame(in: received)
        if skip > 0 {
            received.drop(skip)
            return .damaged(skip)
        }
        guard let count else { return .incomplete }
        defer { received.drop(count) }
        let kind = (received[2], received[3])
        if kind == Frame.motion {
            axes.forEach { take(Self.motion(received, $0)) }
        } else if kind == Frame.state {
            axes.forEach { take(Self.state(received, $0)) }
        } else {
            return .foreign
        }
        return .reply
    }

    /// Motion and faults of one joint's motor.
    private static func motion(_ frame: SerialBytes, _ axis: GimbalAxis) -> DriveReading {
        let index = Int(axis.rawValue)
        var news = DriveReading(axis: axis)
        news.angle = Double(frame.little16(at: 8 + 2 * index)) * 2 * .pi / unitsPerTurn
        news.rate = Double(Int16(bitPattern: frame.little16(at: 14 + 2 * index))) * rateUnit
        news.isRunning = frame[5] & 1 != 0
        let bits = frame.little16(at: 6)
        // Bits 0...3 describe the board; from bit 4, each group of four bits describes one motor.
        let own = bits >> (4 + 4 * UInt16(index)) & 0xF
        news.fault = UInt32(bits & 0xF) | UInt32(own) << 4
        var causes: DriveCauses = []
        if own & 1 != 0 { causes.insert(.overload) }
        if own & 2 != 0 || bits & 2 != 0 { causes.insert(.overheated) }
        if bits & 1 != 0 { causes.insert(.voltage) }
        if own & 4 != 0 { causes.insert(.encoder) }
        if own & 8 != 0 || bits & 0xC != 0 { causes.insert(.other) }
        news.causes = causes
        return news
    }

    /// Current of one joint's motor; voltage and temperature of the board.
    private static func state(_ frame: SerialBytes, _ axis: GimbalAxis) -> DriveReading {
        let index = Int(axis.rawValue)
        var news = DriveReading(axis: axis)
        news.current = Double(Int16(bitPattern: frame.little16(at: 4 + 2 * index))) / 1000
        let supply = frame.little16(at: 10)
        if supply != 0 { news.voltage = Double(supply) / 1000 }
        let temperature = Int16(bitPattern: frame.little16(at: 12))
        if temperature != Int16.min { news.temperature = Double(temperature) / 10 }
        return news
    }
}
