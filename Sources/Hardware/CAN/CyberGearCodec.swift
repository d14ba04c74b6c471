internal import Configuration
internal import GimbalCore

/// Protocol of the Xiaomi CyberGear drive: the Mini Cheetah's protocol with 29-bit identifiers. An
/// identifier contains the frame's type in bits 24...28, data in bits 8...23, and the receiver's
/// identifier in bits 0...7. All fields are big-endian 16-bit numbers (CyberGear instruction
/// manual, section 4).
///
/// The watchdog is the parameter CAN_TIMEOUT (0x200C of the manual's parameter table, UInt32). The
/// manual does not describe the frames with which the vendor's program reads and writes that table.
/// Type 9 reads (two public programs: cybergeardriver 0.2.0 and mukyokyo's CyberGear library), and
/// type 8 writes (only cybergeardriver); index, data type and value are little-endian. The unit is 50 µs,
/// as of the same parameter of RobStride's drives, which have the CyberGear's protocol: 20000 is 1 s
/// (RobStride RS00 manual, section 3.3.6). While the outputs are off, the codec reads the parameter of
/// each drive, and writes it if it differs.
struct CyberGearCodec: DriveCodec {
    /// Types of the frames.
    enum Kind {
        static let command: UInt32 = 1
        static let feedback: UInt32 = 2
        static let enable: UInt32 = 3
        static let stop: UInt32 = 4
        static let writeTable: UInt32 = 8
        static let readTable: UInt32 = 9
        static let writeParameter: UInt32 = 18
    }

    /// Parameter `run_mode`, which selects the kind of commands that the drive obeys. The drive loses a
    /// written value with its supply (manual, 4.1.9 and 4.1.12).
    enum RunMode {
        static let index: UInt16 = 0x7005
        /// Value for commands of type 1.
        static let operation: UInt32 = 0
    }

    /// Parameter of the watchdog.
    enum Timeout {
        static let index: UInt16 = 0x200C
        /// Code of the data type UInt32.
        static let type: UInt8 = 4
        /// Unit of the timeout, s.
        static let step = 50e-6
    }

    /// Ranges of angle, rate and torque. The manual's tables have ±4π for the angle, its sample program
    /// ±12.5 rad. The codec has the range of the program. Drives by RobStride, with the same protocol, had
    /// ±12.5 rad until firmware 0.0.2.6, although their tables also have ±4π (RS00 manual, section 4.5).
    static let limits = MITLimits(angle: DriveProtocol.cyberGearAngle, rate: 30, torque: 12)

    private let ids: DriveIDs
    private let host: UInt32
    private let watchdog: Double?
    private var requests = PerAxis(DriveRequests())
    private var schedule = WatchdogSchedule()

    /// Creates the codec.
    ///
    /// - Parameters:
    ///   - ids: CAN IDs of the drives, 1...127.
    ///   - host: CAN ID of this computer, 0...127.
    ///   - watchdog: Timeout of the drives' watchdogs, s; nil leaves the timeout unchanged.
    init(ids: DriveIDs, host: UInt32, watchdog: Double? = nil) {
        self.ids = ids
        self.host = host
        self.watchdog = watchdog
    }

    var watchdogTimeout: Double? { watchdog }

    var filters: [CANFilter] {
        let kinds = watchdog == nil ? [Kind.feedback] : [Kind.feedback, Kind.readTable]
        return ids.all.flatMap { id in
            kinds.map { CANFilter(id: $0 << 24 | id << 8 | host, mask: 0x1F00_FFFF) }
        }
    }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        compose(command, .yaw, into: &frames)
        compose(command, .roll, into: &frames)
        compose(command, .pitch, into: &frames)
        if !command.isEnabled { setWatchdogs(command, into: &frames) }
    }

    private mutating func setWatchdogs(_ command: DriveCommand, into frames: inout [CANFrame]) {
        guard let watchdog, let axis = schedule.next(now: command.now) else { return }
        let state = command.states[axis]
        let isGuarded = isGuarded(state)
        if schedule.isWriteDue(axis, isKnown: !state.watchdog.isNaN, isGuarded: isGuarded) {
            let ticks = UInt32((watchdog / Timeout.step).rounded())
            frames.append(
                request(Kind.writeTable, Timeout.index, axis, type: Timeout.type, value: ticks))
        }
        if !isGuarded { frames.append(request(Kind.readTable, Timeout.index, axis)) }
    }

    /// Request that reads or writes a parameter of a drive.
    private func request(
        _ kind: UInt32, _ index: UInt16, _ axis: GimbalAxis, type: UInt8 = 0, value: UInt32 = 0
    ) -> CANFrame {
        var frame = CANFrame(id: kind << 24 | host << 8 | ids[axis], isExtended: true)
        frame.append(UInt8(truncatingIfNeeded: index))
        frame.append(UInt8(truncatingIfNeeded: index >> 8))
        frame.append(type)
        frame.append(0)
        frame.append(little: value)
        return frame
    }

    private mutating func compose(
        _ command: DriveCommand, _ axis: GimbalAxis, into frames: inout [CANFrame]
    ) {
        let state = command.states[axis]
        guard command.isEnabled else {
            _ = requests[axis].isSwitchDue(
                on: false, isRunning: state.isRunning, now: command.now)
            // A drive that is off also answers the stop command, so its angle remains known. A
            // first byte of 1 clears faults.
            let clears = requests[axis].isClearDue(fault: state.fault, now: command.now)
            return frames.append(frame(Kind.stop, host, axis, clears ? 0x0100 : 0))
        }
        switch requests[axis].stepOn(isRunning: state.isRunning, now: command.now) {
        case .mode:
            // Another program can have left the drive in the mode for speeds or positions. The drive
            // would then turn with that program's last speed, and ignore the torques. The mode can only
            // be written while the motor is off.
            frames.append(
                request(Kind.writeParameter, RunMode.index, axis, value: RunMode.operation))
        case .on: frames.append(frame(Kind.enable, host, axis))
        case nil: break
        }
        let torque = FixedPoint.encode(command.torque[axis], range: Self.limits.torque, bits: 16)
        // The fields of angle and rate are in the middle of their ranges; both gains are zero.
        frames.append(frame(Kind.command, torque, axis, 0x8000, 0x8000))
    }

    private func frame(
        _ kind: UInt32, _ data: UInt32, _ axis: GimbalAxis, _ first: UInt16 = 0,
        _ second: UInt16 = 0
    ) -> CANFrame {
        var frame = CANFrame(id: kind << 24 | data << 8 | ids[axis], isExtended: true)
        frame.append(big: first)
        frame.append(big: second)
        frame.append(big: 0)
        frame.append(big: 0)
        return frame
    }

    mutating func forgetRequests() { requests.forget() }

    mutating func forgetRequests(of frame: CANFrame) {
        if let axis = ids.axis(of: frame.id & 0xFF) { requests[axis].forget() }
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard frame.isExtended, !frame.isRemote, !frame.isError, !frame.isFD, frame.count == 8,
            frame.id & 0xFF == host, let axis = ids.axis(of: frame.id >> 8 & 0xFF)
        else { return nil }
        return switch frame.id >> 24 {
        case Kind.feedback: feedback(in: frame, axis)
        case Kind.readTable: parameter(in: frame, axis)
        default: nil
        }
    }

    private func parameter(in frame: CANFrame, _ axis: GimbalAxis) -> DriveReading? {
        guard let value = frame.little32(at: 4),
            UInt16(frame[1]) << 8 | UInt16(frame[0]) == Timeout.index
        else { return nil }
        var news = DriveReading(axis: axis)
        news.watchdog = Double(value) * Timeout.step
        return news
    }

    private func feedback(in frame: CANFrame, _ axis: GimbalAxis) -> DriveReading? {
        guard let angle = frame.big16(at: 0), let rate = frame.big16(at: 2),
            let temperature = frame.big16(at: 6)
        else { return nil }
        var news = DriveReading(axis: axis)
        news.angle = FixedPoint.angle(angle, range: Self.limits.angle)
        news.rate = FixedPoint.decode(UInt32(rate), range: Self.limits.rate, bits: 16)
        news.temperature = Double(temperature) / 10
        news.fault = frame.id >> 16 & 0x3F
        news.isRunning = frame.id >> 22 & 3 == 2
        return news
    }
}
