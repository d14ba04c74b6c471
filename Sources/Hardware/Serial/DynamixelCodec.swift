internal import GimbalCore

/// Protocol 2.0 of Dynamixel servos of the X series, with goal positions for angles, or with goal
/// currents for torques.
///
/// A packet is `FF FF FD 00 id length instruction parameters… CRC`; numbers are little-endian.
/// After each `FF FF FD` in instruction and parameters, a byte FD is inserted. A reply has the
/// instruction 0x55, and an error byte before its data (ROBOTIS e-Manual, "DYNAMIXEL Protocol 2.0",
/// and the control tables of XL330 and XM430).
struct DynamixelCodec: SerialCodec {
    /// Kind of the goal value that the servos receive.
    enum Goal: Sendable, Equatable {
        /// Angle that the servo's own controller holds.
        case position
        /// Motor current; `ampsPerTorque` is in A/(N·m), and `step` is the unit of the current
        /// register, A.
        case current(ampsPerTorque: Double, step: Double)
    }

    /// Instructions of the protocol.
    enum Instruction {
        static let read: UInt8 = 0x02
        static let write: UInt8 = 0x03
        static let reboot: UInt8 = 0x08
        static let status: UInt8 = 0x55
        static let syncRead: UInt8 = 0x82
        static let syncWrite: UInt8 = 0x83
    }

    /// Addresses in the control table.
    enum Address {
        static let id: UInt16 = 7
        static let baud: UInt16 = 8
        static let returnDelay: UInt16 = 9
        static let operatingMode: UInt16 = 11
        static let currentLimit: UInt16 = 38
        static let torqueEnable: UInt16 = 64
        static let busWatchdog: UInt16 = 98
        static let goalCurrent: UInt16 = 102
        static let goalPosition: UInt16 = 116
    }

    /// Broadcast identifier: every servo executes the instruction.
    static let broadcast: UInt8 = 0xFE
    /// Number of encoder steps per revolution.
    static let steps = 4096.0
    /// Registers that a request reads. A short reply survives damaged bytes more often than a long
    /// one, so most requests read only the motion.
    enum Reading {
        /// Velocity and position.
        case motion
        /// All registers from current to temperature, including velocity and position.
        case health
        /// All registers from torque enable to hardware error status.
        case state
        /// Largest goal current that the servo accepts.
        case limit
        /// Operating mode.
        case mode

        /// Address of the first register.
        var address: UInt16 {
            switch self {
            case .motion: 128
            case .health: 126
            case .state: Address.torqueEnable
            case .limit: Address.currentLimit
            case .mode: Address.operatingMode
            }
        }

        /// Number of bytes.
        var count: UInt16 {
            switch self {
            case .motion: 8
            case .health: 21
            case .state: 7
            case .limit: 2
            case .mode: 1
            }
        }
    }

    /// Interval of the requests for `health` and `state`, periods. `pending` replaces `settled` for
    /// `state` while a servo has not reported the required state.
    static let slowPeriods = (settled: 16, pending: 4)
    /// Time without a packet after which a servo stops, in units of 20 ms.
    static let watchdog: UInt8 = 3
    /// Unit of the speed, rad/s: 0.229 revolutions per minute.
    private static let rateStep = 0.229 * 2 * .pi / 60
    /// Number of bytes of a reply without its data.
    private static let frame = 11

    private let ids: DriveIDs
    private let goal: Goal
    let axes: AxisSet
    private var requests = PerAxis(DriveRequests())
    private var known = AxisSet.none
    /// Servos that have not yet reported their operating mode since it was written. They are not
    /// switched on, because bytes of the request can have been damaged.
    private var unconfirmed = AxisSet.none
    /// Largest goal current that each servo accepts, in units of the current register; nil while it
    /// is unknown. A servo rejects a larger goal current, and keeps its last goal current.
    private var limits = PerAxis<UInt16?>(nil)
    private var period = 0
    private var reading = Reading.motion
    private(set) var restarting = AxisSet.none
    /// True if a servo has reported a hardware error whose kind has not been read yet.
    private var hasAlert = false

    /// Creates the codec of servos with these identifiers, 0...252.
    init(ids: DriveIDs, goal: Goal) {
        self.ids = ids
        self.goal = goal
        axes = ids.fitted
    }

    var holdsAngles: Bool { goal == .position }

    /// Operating mode for the goal: positions within one turn, or currents.
    private var mode: UInt8 { goal == .position ? 3 : 0 }

    var expectedReplies: Int { axes.number }

    var expectedBytes: Int { axes.number * replyBytes }

    var replyBytes: Int { Self.frame + Int(reading.count) }

    var motorsPerReply: Int { 1 }

    mutating func compose(_ command: DriveCommand, into bytes: inout SerialBytes) {
        let switches = ServoSwitches.due(command, axes, &requests, known: &known)
        switches.arrived.forEach { limits[$0] = nil }
        // The return delay time and the operating mode can only be written while the motor is off.
        write(switches.arrived, at: Address.returnDelay, count: 1, into: &bytes) { _, bytes in
            bytes.append(0)
        }
        write(switches.arrived, at: Address.operatingMode, count: 1, into: &bytes) { _, bytes in
            bytes.append(mode)
        }
        unconfirmed.insert(switches.arrived)
        let on = switches.on.subtracting(unconfirmed)
        // After its watchdog has expired, a servo rejects goal values until the watchdog is set to
        // zero.
        setWatchdog(of: on, to: 0, into: &bytes)
        write(on, at: Address.torqueEnable, count: 1, into: &bytes) { _, bytes in
            bytes.append(1)
        }
        setWatchdog(of: on, to: Self.watchdog, into: &bytes)
        write(switches.off, at: Address.torqueEnable, count: 1, into: &bytes) { _, bytes in
            bytes.append(0)
        }
        restarting = switches.clear
        // A servo is not switched on before it has restarted and reported its mode.
        unconfirmed.insert(restarting)
        restarting.forEach { axis in
            let start = Self.begin(
                UInt8(truncatingIfNeeded: ids[axis]), Instruction.reboot, into: &bytes)
            Self.end(start, &bytes)
        }
        reading = nextReading(isPending: switches.isPending)
        let driven = AxisSet(
            yaw: axes.contains(.yaw) && command.isOn(.yaw),
            roll: axes.contains(.roll) && command.isOn(.roll),
            pitch: axes.contains(.pitch) && command.isOn(.pitch))
        // If several requests were damaged, the watchdog has expired although the servo is on.
        if reading == .state, on.isEmpty {
            setWatchdog(of: driven, to: 0, into: &bytes)
            setWatchdog(of: driven, to: Self.watchdog, into: &bytes)
        }
        goals(command, driven, into: &bytes)
        let start = Self.begin(Self.broadcast, Instruction.syncRead, into: &bytes)
        bytes.append(little: reading.address)
        bytes.append(little: reading.count)
        axes.forEach { bytes.append(UInt8(truncatingIfNeeded: ids[$0])) }
        Self.end(start, &bytes)
    }

    /// Registers that the request of one period reads.
    private mutating func nextReading(isPending: Bool) -> Reading {
        let interval = isPending ? Self.slowPeriods.pending : Self.slowPeriods.settled
        let isState = hasAlert || period % interval == 0
        let isHealth = period % Self.slowPeriods.settled == Self.slowPeriods.settled / 2
        let phase = period % Self.slowPeriods.pending
        let isLimit = needsLimits && phase == Self.slowPeriods.pending / 2
        let isMode = !unconfirmed.isEmpty && phase == 1
        hasAlert = false
        period &+= 1
        return isState
            ? .state : isHealth ? .health : isLimit ? .limit : isMode ? .mode : .motion
    }

    /// True if a servo in current mode answers, but its largest goal current is unknown.
    private var needsLimits: Bool {
        guard goal != .position else { return false }
        return known.contains(.yaw) && limits.yaw == nil
            || known.contains(.roll) && limits.roll == nil
            || known.contains(.pitch) && limits.pitch == nil
    }

    private func setWatchdog(of servos: AxisSet, to time: UInt8, into bytes: inout SerialBytes) {
        write(servos, at: Address.busWatchdog, count: 1, into: &bytes) { _, bytes in
            bytes.append(time)
        }
    }

    private func goals(
        _ command: DriveCommand, _ driven: AxisSet, into bytes: inout SerialBytes
    ) {
        switch goal {
        case .position:
            write(driven, at: Address.goalPosition, count: 4, into: &bytes) { axis, bytes in
                let steps = (command.angle[axis] / (2 * .pi) * Self.steps).rounded()
                bytes.append(little: UInt32(min(max(steps, 0), Self.steps - 1)))
            }
        case .current(let ampsPerTorque, let step):
            write(driven, at: Address.goalCurrent, count: 2, into: &bytes) { axis, bytes in
                let steps = (command.torque[axis] * ampsPerTorque / step).rounded()
                let most = Double(min(limits[axis] ?? 32767, 32767))
                bytes.append(little: UInt16(bitPattern: Int16(min(max(steps, -most), most))))
            }
        }
    }

    mutating func forgetRequests() {
        axes.forEach { requests[$0].forget() }
        known = .none
        unconfirmed = .none
    }

    mutating func readStateNext() { period = 0 }

    private func write(
        _ servos: AxisSet, at address: UInt16, count: UInt16, into bytes: inout SerialBytes,
        _ data: (GimbalAxis, inout SerialBytes) -> Void
    ) {
        guard !servos.isEmpty else { return }
        let start = Self.begin(Self.broadcast, Instruction.syncWrite, into: &bytes)
        bytes.append(little: address)
        bytes.append(little: count)
        servos.forEach { axis in
            bytes.append(UInt8(truncatingIfNeeded: ids[axis]))
            data(axis, &bytes)
        }
        Self.end(start, &bytes)
    }

    // MARK: Packets

    /// Adds the header of a packet; returns the index of its first byte, for `end`.
    static func begin(
        _ id: UInt8, _ instruction: UInt8, into bytes: inout SerialBytes
    ) -> Int {
        let start = bytes.count
        bytes.append(0xFF)
        bytes.append(0xFF)
        bytes.append(0xFD)
        bytes.append(0x00)
        bytes.append(id)
        bytes.append(little: UInt16(0))
        bytes.append(instruction)
        return start
    }

    /// Completes the packet that begins at `start`: inserts the stuffing bytes, and adds length and
    /// checksum.
    static func end(_ start: Int, _ bytes: inout SerialBytes) {
        var index = start + 9
        while index < bytes.count {
            if bytes[index] == 0xFD, bytes[index - 1] == 0xFF, bytes[index - 2] == 0xFF {
                bytes.insert(0xFD, at: index + 1)
                index += 1
            }
            index += 1
        }
        let length = UInt16(truncatingIfNeeded: bytes.count - start - 7 + 2)
        bytes.set(start + 5, UInt8(truncatingIfNeeded: length))
        bytes.set(start + 6, UInt8(length >> 8))
        bytes.append(little: CRC16.of(bytes, start..<bytes.count))
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
            guard at + 6 < received.count else { return (at, nil) }
            let length = Int(received.little16(at: at + 5))
            guard received[at + 1] == 0xFF, received[at + 2] == 0xFD, received[at + 3] == 0,
                length >= 3, length <= 128
            else {
                at += 1
                continue
            }
            let count = length + 7
            guard at + count <= received.count else { return (at, nil) }
            if received.little16(at: at + count - 2) == CRC16.of(received, at..<at + count - 2) {
                return (at, count)
            }
            at += 1
        }
        return (at, nil)
    }

    /// The packet of `count` bytes at the beginning of `received`, without stuffing bytes.
    static func unstuffed(_ received: SerialBytes, count: Int) -> SerialBytes {
        var packet = SerialBytes()
        var index = 0
        while index < count {
            packet.append(received[index])
            let isStuffed =
                index >= 9 && index + 1 < count - 2 && received[index] == 0xFD
                && received[index - 1] == 0xFF && received[index - 2] == 0xFF
                && received[index + 1] == 0xFD
            index += isStuffed ? 2 : 1
        }
        return packet
    }

    mutating func next(in received: inout SerialBytes, _ take: (DriveReading) -> Void) -> SerialItem
    {
        let (skip, count) = Self.packet(in: received)
        if skip > 0 {
            received.drop(skip)
            return .damaged(skip)
        }
        guard let count else { return .incomplete }
        let packet = Self.unstuffed(received, count: count)
        received.drop(count)
        guard packet[7] == Instruction.status, let axis = ids.axis(of: UInt32(packet[4])) else {
            return .foreign
        }
        switch packet.count - Self.frame {
        case Int(Reading.motion.count): take(motion(packet, axis, from: 9))
        case Int(Reading.health.count): take(health(packet, axis))
        case Int(Reading.state.count):
            var news = Self.fault(packet[15], axis)
            news.isRunning = packet[9] == 1
            take(news)
        case Int(Reading.limit.count) where reading == .limit:
            if packet[8] & 0x80 != 0 { hasAlert = true }
            limits[axis] = packet.little16(at: 9)
            take(DriveReading(axis: axis))
        case Int(Reading.mode.count) where reading == .mode:
            if packet[8] & 0x80 != 0 { hasAlert = true }
            note(mode: packet[9], AxisSet(axis))
            take(DriveReading(axis: axis))
        default: return .foreign
        }
        return .reply
    }

    /// Compares a servo's mode with the mode for the goal. Another mode is replaced again while the
    /// servo is off.
    private mutating func note(mode reported: UInt8, _ servo: AxisSet) {
        if reported == mode {
            unconfirmed = unconfirmed.subtracting(servo)
        } else {
            known = known.subtracting(servo)
        }
    }

    /// Velocity and position, which begin at `index`.
    private mutating func motion(
        _ packet: SerialBytes, _ axis: GimbalAxis, from index: Int
    ) -> DriveReading {
        var news = DriveReading(axis: axis)
        if packet[8] & 0x80 != 0 { hasAlert = true }
        func signed32(_ index: Int) -> Double {
            Double(Int32(bitPattern: packet.little32(at: index)))
        }
        news.rate = signed32(index) * Self.rateStep
        news.angle = signed32(index + 4) / Self.steps * 2 * .pi
        return news
    }

    private mutating func health(_ packet: SerialBytes, _ axis: GimbalAxis) -> DriveReading {
        var news = motion(packet, axis, from: 11)
        if case .current(_, let step) = goal {
            news.current = Double(Int16(bitPattern: packet.little16(at: 9))) * step
        }
        news.voltage = Double(packet.little16(at: 27)) / 10
        news.temperature = Double(packet[29])
        return news
    }
}
