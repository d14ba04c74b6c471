internal import GimbalCore

/// Protocol of a microcontroller board that commutates three motors: a frame of three torques in each
/// period, and one reply (etc/manual/motor-board.md is the specification).
///
/// A frame is `A5 5A type length payload… CRC`, lowest byte first; the CRC covers type, length and
/// payload.
struct BoardCodec: SerialCodec {
    /// Type and payload length of a frame.
    enum Frame {
        static let command: (type: UInt8, length: UInt8) = (0x01, 15)
        static let report: (type: UInt8, length: UInt8) = (0x81, 39)
    }

    /// Bits of a command.
    enum Flag {
        static let enable: UInt8 = 1
        static let clear: UInt8 = 2
    }

    /// Number of bytes of a frame in addition to its payload.
    static let overhead = 6

    let axes = AxisSet(yaw: true, roll: true, pitch: true)
    let holdsAngles = false
    let expectedReplies = 1
    let expectedBytes = overhead + Int(Frame.report.length)
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

    /// Number of bytes before the next frame, and the frame's length; nil if the bytes end before the
    /// frame does.
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

    mutating func next(in received: inout SerialBytes, _ take: (DriveNews) -> Void) -> SerialItem {
        let (skip, count) = Self.frame(in: received)
        if skip > 0 {
            received.drop(skip)
            return .damaged(skip)
        }
        guard let count else { return .incomplete }
        defer { received.drop(count) }
        guard received[2] == Frame.report.type, received[3] == Frame.report.length else {
            return .foreign
        }
        var isWhole = true
        axes.forEach { if Self.news(received, $0) == nil { isWhole = false } }
        // If one number is not finite, the whole report is discarded.
        guard isWhole else { return .damaged(count) }
        axes.forEach { if let news = Self.news(received, $0) { take(news) } }
        return .reply
    }

    /// Information about one joint in a report; nil if a number is not finite.
    private static func news(_ frame: SerialBytes, _ axis: GimbalAxis) -> DriveNews? {
        let index = Int(axis.rawValue)
        guard let angle = frame.float(at: 9 + 4 * index), let rate = frame.float(at: 21 + 4 * index)
        else { return nil }
        var news = DriveNews(axis: axis)
        news.angle = angle
        news.rate = rate
        news.isRunning = frame[6] & 1 != 0
        let bits = frame.little16(at: 7)
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
        news.current = Double(Int16(bitPattern: frame.little16(at: 33 + 2 * index))) / 1000
        let supply = frame.little16(at: 39)
        if supply != 0 { news.voltage = Double(supply) / 1000 }
        let temperature = Int16(bitPattern: frame.little16(at: 41))
        if temperature != Int16.min { news.temperature = Double(temperature) / 10 }
        return news
    }
}
