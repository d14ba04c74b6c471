internal import GimbalCore

/// Protocol of Feetech's servos with a magnetic encoder: series STS, SMS and HLS (little-endian).
/// Servos of the series SCS are big-endian, and are not supported.
///
/// A packet is `FF FF id length instruction parameters… checksum`; in a reply the instruction is
/// the servo's status (Feetech, "SCS communication protocol" and "STS memory table"). A revolution
/// has 4096 steps.
struct FeetechCodec: SerialCodec {
    /// Instructions of the protocol.
    enum Instruction {
        static let read: UInt8 = 0x02
        static let write: UInt8 = 0x03
        static let syncRead: UInt8 = 0x82
        static let syncWrite: UInt8 = 0x83
    }

    /// Addresses in the memory table.
    enum Address {
        static let id: UInt8 = 5
        static let baud: UInt8 = 6
        static let mode: UInt8 = 33
        static let torqueEnable: UInt8 = 40
        static let goalPosition: UInt8 = 42
        static let presentPosition: UInt8 = 56
    }

    /// Value of the register `mode` for a servo that holds goal positions.
    private static let positionMode: UInt8 = 0
    /// Broadcast identifier: every servo executes the instruction, and no servo answers.
    static let broadcast: UInt8 = 0xFE
    /// Number of encoder steps per revolution.
    static let steps = 4096.0
    /// Registers that a request reads. The numbers of bytes differ, because a reply contains no
    /// address.
    enum Reading {
        /// Position, speed, load, voltage and temperature.
        case motion
        /// Register that shows whether the motor is on.
        case state
        /// Mode, and the register that follows it.
        case mode

        /// Address of the first register.
        var address: UInt8 {
            switch self {
            case .motion: Address.presentPosition
            case .state: Address.torqueEnable
            case .mode: Address.mode
            }
        }

        /// Number of bytes.
        var count: UInt8 {
            switch self {
            case .motion: 8
            case .state: 1
            case .mode: 2
            }
        }
    }

    /// Interval of the requests for `state` and `mode`, periods. `pending` replaces `settled` while
    /// a servo has not reported the required state.
    static let slowPeriods = (settled: 16, pending: 4)
    /// Number of bytes of a packet without its parameters.
    private static let frame = 6

    private let ids: DriveIDs
    let axes: AxisSet
    let holdsAngles = true
    private var requests = PerAxis(DriveRequests())
    private var known = AxisSet.none
    /// Servos that have not yet reported the mode for positions since it was written. They are not
    /// switched on, because bytes of the request can have been damaged.
    private var unconfirmed = AxisSet.none
    private var period = 0
    private var reading = Reading.motion

    /// Creates the codec of servos with these identifiers, 0...253.
    init(ids: DriveIDs) {
        self.ids = ids
        axes = ids.fitted
    }

    var expectedReplies: Int { axes.number }

    var expectedBytes: Int { axes.number * replyBytes }

    var replyBytes: Int { Self.frame + Int(reading.count) }

    var motorsPerReply: Int { 1 }

    mutating func compose(_ command: DriveCommand, into bytes: inout SerialBytes) {
        let switches = ServoSwitches.due(command, axes, &requests, known: &known)
        var goals = AxisSet.none
        axes.forEach { if command.isOn($0) { goals.insert(AxisSet($0)) } }
        // A used servo can be in the mode for wheels or for steps. In the mode for steps, the servo
        // would turn further by the goal position in each period.
        write(switches.arrived, at: Address.mode, count: 1, into: &bytes) { _, bytes in
            bytes.append(Self.positionMode)
        }
        unconfirmed.insert(switches.arrived)
        // A servo moves to its goal position when its torque is switched on, so the goal position
        // is sent first.
        write(goals, at: Address.goalPosition, count: 2, into: &bytes) { axis, bytes in
            bytes.append(little: Self.position(command.angle[axis]))
        }
        // Switches the torque on, without an acceleration limit. Switching the torque off also ends
        // the protection after an overload.
        let on = switches.on.subtracting(unconfirmed)
        write(on, at: Address.torqueEnable, count: 2, into: &bytes) { _, bytes in
            bytes.append(1)
            bytes.append(0)
        }
        var off = switches.off
        off.insert(switches.clear)
        write(off, at: Address.torqueEnable, count: 1, into: &bytes) { _, bytes in
            bytes.append(0)
        }
        reading = nextReading(isPending: switches.isPending)
        read(at: reading.address, count: reading.count, into: &bytes)
    }

    /// Registers that the request of one period reads.
    private mutating func nextReading(isPending: Bool) -> Reading {
        let interval = isPending ? Self.slowPeriods.pending : Self.slowPeriods.settled
        let phase = period % interval
        period &+= 1
        if phase == 0 { return .state }
        return phase == interval / 2 && !unconfirmed.isEmpty ? .mode : .motion
    }

    mutating func forgetRequests() {
        axes.forEach { requests[$0].forget() }
        known = .none
        unconfirmed = .none
    }

    mutating func readStateNext() { period = 0 }

    private func write(
        _ servos: AxisSet, at address: UInt8, count: UInt8, into bytes: inout SerialBytes,
        _ data: (GimbalAxis, inout SerialBytes) -> Void
    ) {
        guard !servos.isEmpty else { return }
        let start = Self.begin(
            Self.broadcast, Instruction.syncWrite, count: 2 + servos.number * Int(count + 1),
            into: &bytes)
        bytes.append(address)
        bytes.append(count)
        servos.forEach { axis in
            bytes.append(UInt8(truncatingIfNeeded: ids[axis]))
            data(axis, &bytes)
        }
        Self.end(start, &bytes)
    }

    private func read(at address: UInt8, count: UInt8, into bytes: inout SerialBytes) {
        let start = Self.begin(
            Self.broadcast, Instruction.syncRead, count: 2 + axes.number, into: &bytes)
        bytes.append(address)
        bytes.append(count)
        axes.forEach { bytes.append(UInt8(truncatingIfNeeded: ids[$0])) }
        Self.end(start, &bytes)
    }

    /// Goal position for an angle in rad: 0...4095 encoder steps.
    static func position(_ angle: Double) -> UInt16 {
        UInt16(min(max((angle / (2 * .pi) * steps).rounded(), 0), steps - 1))
    }

    // MARK: Packets

    /// Adds the header of a packet with the given number of parameter bytes; returns the index of
    /// its first byte, for `end`.
    static func begin(
        _ id: UInt8, _ instruction: UInt8, count: Int, into bytes: inout SerialBytes
    ) -> Int {
        let start = bytes.count
        bytes.append(0xFF)
        bytes.append(0xFF)
        bytes.append(id)
        bytes.append(UInt8(truncatingIfNeeded: count + 2))
        bytes.append(instruction)
        return start
    }

    /// Adds the checksum of the packet that begins at `start`.
    static func end(_ start: Int, _ bytes: inout SerialBytes) {
        bytes.append(checksum(bytes, start + 2..<bytes.count))
    }

    private static func checksum(_ bytes: SerialBytes, _ range: Range<Int>) -> UInt8 {
        var sum: UInt8 = 0
        var index = range.lowerBound
        while index < range.upperBound {
            sum &+= bytes[index]
            index += 1
        }
        return ~sum
    }

    /// Number of bytes to skip before the next packet, and the packet's length; nil if the packet
    /// is incomplete.
    static func packet(in received: SerialBytes) -> (skip: Int, count: Int?) {
        var at = 0
        while at < received.count {
            guard received[at] == 0xFF else {
                at += 1
                continue
            }
            guard at + 3 < received.count else { return (at, nil) }
            let (id, length) = (received[at + 2], Int(received[at + 3]))
            guard received[at + 1] == 0xFF, id != 0xFF, length >= 2, length <= 128 else {
                at += 1
                continue
            }
            let count = length + 4
            guard at + count <= received.count else { return (at, nil) }
            if received[at + count - 1] == checksum(received, at + 2..<at + count - 1) {
                return (at, count)
            }
            at += 1
        }
        return (at, nil)
    }

    mutating func next(in received: inout SerialBytes, _ take: (DriveReading) -> Void) -> SerialItem
    {
        let (skip, count) = Self.packet(in: received)
        if skip > 0 {
            received.drop(skip)
            return .damaged(skip)
        }
        guard let count else { return .incomplete }
        defer { received.drop(count) }
        let id = received[2]
        guard id != Self.broadcast, let axis = ids.axis(of: UInt32(id)) else { return .foreign }
        switch count - Self.frame {
        case Int(Reading.motion.count): take(measurement(received, axis))
        case Int(Reading.state.count):
            var news = Self.status(received[4], axis)
            news.isRunning = received[5] == 1
            take(news)
        case Int(Reading.mode.count):
            note(mode: received[5], axis)
            take(Self.status(received[4], axis))
        default: return .foreign
        }
        return .reply
    }

    /// Compares a servo's mode with the mode for positions. Another mode is replaced again while
    /// the servo is off.
    private mutating func note(mode: UInt8, _ axis: GimbalAxis) {
        let servo = AxisSet(axis)
        if mode == Self.positionMode {
            unconfirmed = unconfirmed.subtracting(servo)
        } else {
            known = known.subtracting(servo)
        }
    }

    private func measurement(_ packet: SerialBytes, _ axis: GimbalAxis) -> DriveReading {
        var news = Self.status(packet[4], axis)
        news.angle = Self.signed(packet.little16(at: 5), bit: 15) / Self.steps * 2 * .pi
        // The unit of the servo's speed depends on the servo's setting "phase". Therefore the rate
        // is derived from the positions.
        news.load = Self.signed(packet.little16(at: 9), bit: 10) / 1000
        news.voltage = Double(packet[11]) / 10
        news.temperature = Double(packet[12])
        return news
    }

    private static func status(_ byte: UInt8, _ axis: GimbalAxis) -> DriveReading {
        var news = DriveReading(axis: axis)
        news.fault = UInt32(byte)
        var causes: DriveCauses = []
        if byte & 0x28 != 0 { causes.insert(.overload) }
        if byte & 0x04 != 0 { causes.insert(.overheated) }
        if byte & 0x01 != 0 { causes.insert(.voltage) }
        if byte & 0x02 != 0 { causes.insert(.encoder) }
        if byte & 0xD0 != 0 { causes.insert(.other) }
        news.causes = causes
        return news
    }

    /// Value of a number in sign-magnitude format.
    private static func signed(_ number: UInt16, bit: UInt16) -> Double {
        let size = Double(number & ~(1 << bit))
        return number & (1 << bit) == 0 ? size : -size
    }
}
