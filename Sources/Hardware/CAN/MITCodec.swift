internal import Configuration
internal import GimbalCore

/// Value ranges of the fields in frames of the Mini Cheetah's protocol; drive and codec must use
/// equal ranges.
public struct MITLimits: Sendable, Equatable {
    /// Largest angle, rad.
    public var angle: Double
    /// Largest rate, rad/s.
    public var rate: Double
    /// Largest torque, N·m.
    public var torque: Double

    /// Creates the ranges from their largest values.
    public init(angle: Double, rate: Double, torque: Double) {
        self.angle = angle
        self.rate = rate
        self.torque = torque
    }
}

/// Conversion between a number in a symmetric range and the unsigned integer in a field of a frame.
enum FixedPoint {
    /// Largest value of a field.
    static func top(bits: Int) -> Double { Double(1 << bits - 1) }

    /// Integer that encodes a value; the value is first limited to -range...range.
    static func encode(_ value: Double, range: Double, bits: Int) -> UInt32 {
        guard value.isFinite else { return UInt32(top(bits: bits) / 2) }
        let scaled = (value + range) / (2 * range) * top(bits: bits)
        return UInt32(min(max(scaled.rounded(), 0), top(bits: bits)))
    }

    /// Value that an integer of a field encodes.
    static func decode(_ number: UInt32, range: Double, bits: Int) -> Double {
        Double(number) / top(bits: bits) * 2 * range - range
    }

    /// Angle in a field of 16 bits, rad. An integer at an end of the field can be an angle outside the
    /// range; the result is then nil.
    static func angle(_ number: UInt16, range: Double) -> Double? {
        number == 0 || number == .max ? nil : decode(UInt32(number), range: range, bits: 16)
    }
}

/// The Mini Cheetah's protocol (Katz, "A low cost modular actuator for dynamic robots", MIT 2018),
/// as implemented by the drives of Damiao, CubeMars (T-Motor) and Steadywin. A command contains angle
/// (16 bits), rate, two gains and torque (12 bits each); the codec sets both gains to zero. A drive
/// answers each frame with angle, rate and torque. The remaining bytes depend on the vendor.
///
/// The watchdog of a Damiao drive is the register TIMEOUT, in units of 50 µs (Damiao, motor manual,
/// "register list"; reads and writes have the identifier 0x7FF). A write changes the drive's RAM
/// only. While the outputs are off, the codec writes and reads the register until the drive has
/// confirmed the timeout.
///
/// The resolution of the torque is 1/4095 of its range, and no field value represents exactly zero
/// torque. The codec adds the rounding error of each period to the torque of the next period, so
/// that the mean torque is exact.
struct MITCodec: DriveCodec {
    /// Last byte of each command that switches the power stage or clears faults; the other seven
    /// bytes of the command are 0xFF.
    enum Order {
        static let clear: UInt8 = 0xFB
        static let enable: UInt8 = 0xFC
        static let disable: UInt8 = 0xFD
    }

    /// Requests to a Damiao drive's registers.
    enum Register {
        static let requestID: UInt32 = 0x7FF
        static let read: UInt8 = 0x33
        static let write: UInt8 = 0x55
        static let store: UInt8 = 0xAA
        static let timeout: UInt8 = 9
        /// Register that selects the kind of commands that the drive obeys. A write changes only the
        /// drive's RAM.
        static let controlMode: UInt8 = 10
        /// Value of `controlMode` for the Mini Cheetah's commands.
        static let miniCheetah: UInt32 = 1
        /// Largest number of a register.
        static let last: UInt8 = 81
        /// Unit of the timeout, s.
        static let step = 50e-6
    }

    private let ids: DriveIDs
    private let host: UInt32
    private let limits: MITLimits
    private let variant: MITVariant
    private let watchdog: Double?
    private var requests = PerAxis(DriveRequests())
    private var remainders = PerAxis(0.0)
    private var lastSetting = Instant(nanoseconds: .min / 2)

    /// Interval between two attempts to set the watchdogs, s.
    private static let settingSeconds = 0.05
    /// Offset of a CubeMars drive's temperature, °C.
    private static let coldest = -40.0

    /// Creates the codec.
    ///
    /// - Parameters:
    ///   - ids: CAN IDs of the drives, 1...15.
    ///   - host: CAN ID of the frames with which the drives answer.
    ///   - limits: Ranges that are configured in the drives.
    ///   - variant: Vendor of the drives.
    ///   - watchdog: Timeout of the watchdogs, s, for drives whose timeout can be set; nil leaves
    ///     the timeout unchanged.
    init(
        ids: DriveIDs, host: UInt32, limits: MITLimits, variant: MITVariant = .damiao,
        watchdog: Double? = nil
    ) {
        self.ids = ids
        self.host = host
        self.limits = limits
        self.variant = variant
        self.watchdog = variant.setsWatchdog ? watchdog : nil
    }

    var watchdogTimeout: Double? { watchdog }

    var filters: [CANFilter] { [CANFilter(id: host, mask: 0x7FF)] }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        compose(command, .yaw, into: &frames)
        compose(command, .roll, into: &frames)
        compose(command, .pitch, into: &frames)
        if !command.isEnabled {
            remainders = PerAxis(0)
            setWatchdogs(command, into: &frames)
        }
    }

    /// Writes and reads the watchdog's timeout of each drive that has not confirmed it.
    private mutating func setWatchdogs(_ command: DriveCommand, into frames: inout [CANFrame]) {
        guard let watchdog, command.now.seconds(since: lastSetting) >= Self.settingSeconds else {
            return
        }
        lastSetting = command.now
        for number in UInt8(0)..<3 {
            guard let axis = GimbalAxis(rawValue: number),
                !command.states[axis].isGuarded(timeout: watchdog)
            else { continue }
            let ticks = UInt32((watchdog / Register.step).rounded())
            frames.append(
                Self.request(Register.write, Register.timeout, to: ids[axis], value: ticks))
            frames.append(Self.request(Register.read, Register.timeout, to: ids[axis], value: 0))
        }
    }

    /// Request that reads or writes a register of a Damiao drive.
    private static func request(
        _ kind: UInt8, _ register: UInt8, to id: UInt32, value: UInt32
    ) -> CANFrame {
        var frame = CANFrame(id: Register.requestID)
        frame.append(UInt8(truncatingIfNeeded: id))
        frame.append(UInt8(truncatingIfNeeded: id >> 8))
        frame.append(kind)
        frame.append(register)
        frame.append(little: value)
        return frame
    }

    private mutating func compose(
        _ command: DriveCommand, _ axis: GimbalAxis, into frames: inout [CANFrame]
    ) {
        let (id, state) = (ids[axis], command.states[axis])
        guard command.isEnabled else {
            _ = requests[axis].isSwitchDue(
                on: false, isRunning: state.isRunning, now: command.now)
            // A drive that is off also answers the commands `disable` and `clear`, so its angle
            // remains known. Only Damiao's drives know `clear`: the firmware of the Mini Cheetah reads
            // it as a command with the highest gains and torque, and keeps it until the next command.
            let clears =
                variant == .damiao
                && requests[axis].isClearDue(fault: state.fault, now: command.now)
            return frames.append(Self.order(clears ? Order.clear : Order.disable, to: id))
        }
        switch nextStep(axis, isRunning: state.isRunning, now: command.now) {
        case .mode:
            // A Damiao drive in the mode for speeds or angles also obeys `enable`, but holds its speed or
            // angle, and ignores the torques.
            frames.append(
                Self.request(
                    Register.write, Register.controlMode, to: id, value: Register.miniCheetah))
        case .on: frames.append(Self.order(Order.enable, to: id))
        case nil: break
        }
        frames.append(torque(command.torque[axis], axis))
    }

    /// The next request that switches a drive on. Only Damiao's drives have several modes.
    private mutating func nextStep(
        _ axis: GimbalAxis, isRunning: Bool?, now: Instant
    ) -> DriveRequests.Step? {
        if variant == .damiao { return requests[axis].stepOn(isRunning: isRunning, now: now) }
        return requests[axis].isSwitchDue(on: true, isRunning: isRunning, now: now) ? .on : nil
    }

    private mutating func torque(_ wanted: Double, _ axis: GimbalAxis) -> CANFrame {
        let total = wanted + remainders[axis]
        let field = FixedPoint.encode(total, range: limits.torque, bits: 12)
        let sent = FixedPoint.decode(field, range: limits.torque, bits: 12)
        let step = 2 * limits.torque / FixedPoint.top(bits: 12)
        // At the limit of the torque's range, the rounding error must not accumulate.
        remainders[axis] = min(max(total - sent, -step), step)
        return Self.command(
            id: ids[axis], angle: FixedPoint.encode(0, range: limits.angle, bits: 16),
            rate: FixedPoint.encode(0, range: limits.rate, bits: 12), kp: 0, kd: 0, torque: field)
    }

    /// Command frame with the given integers in its fields.
    static func command(
        id: UInt32, angle: UInt32, rate: UInt32, kp: UInt32, kd: UInt32, torque: UInt32
    ) -> CANFrame {
        var frame = CANFrame(id: id)
        frame.append(UInt8(truncatingIfNeeded: angle >> 8))
        frame.append(UInt8(truncatingIfNeeded: angle))
        frame.append(UInt8(truncatingIfNeeded: rate >> 4))
        frame.append(UInt8(truncatingIfNeeded: rate << 4 | kp >> 8))
        frame.append(UInt8(truncatingIfNeeded: kp))
        frame.append(UInt8(truncatingIfNeeded: kd >> 4))
        frame.append(UInt8(truncatingIfNeeded: kd << 4 | torque >> 8))
        frame.append(UInt8(truncatingIfNeeded: torque))
        return frame
    }

    /// Frame with a special command.
    static func order(_ last: UInt8, to id: UInt32) -> CANFrame {
        var frame = CANFrame(id: id)
        for _ in 0..<7 { frame.append(0xFF) }
        frame.append(last)
        return frame
    }

    mutating func forgetRequests() { requests.forget() }

    mutating func forgetRequests(of frame: CANFrame) {
        // A request to a register contains the drive's identifier in its first byte.
        let isRegister = frame.id == Register.requestID && frame.count > 0
        if let axis = ids.axis(of: isRegister ? UInt32(frame[0]) : frame.id) {
            requests[axis].forget()
        }
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard !frame.isExtended, !frame.isRemote, !frame.isError, !frame.isFD, frame.id == host,
            frame.count == 6 || frame.count == 8
        else { return nil }
        if let news = register(in: frame) { return news }
        // Damiao's drives send their state in the upper half of the first byte.
        let number = variant == .damiao ? frame[0] & 0x0F : frame[0]
        guard let axis = ids.axis(of: UInt32(number)), let angle = frame.big16(at: 1) else {
            return nil
        }
        var news = DriveReading(axis: axis)
        news.angle = FixedPoint.angle(angle, range: limits.angle)
        let rate = UInt32(frame[3]) << 4 | UInt32(frame[4] >> 4)
        news.rate = FixedPoint.decode(rate, range: limits.rate, bits: 12)
        guard frame.count == 8 else { return news }
        switch variant {
        case .damiao:
            // Two temperatures follow. State 0 is off, 1 is on, 8 to 14 are faults.
            let state = frame[0] >> 4
            news.isRunning = state == 1
            news.fault = state < 8 ? 0 : UInt32(state)
            news.temperature = Double(max(frame[6], frame[7]))
        case .cubemars:
            news.temperature = Double(frame[6]) + Self.coldest
            news.fault = UInt32(frame[7])
        case .plain: break
        }
        return news
    }

    /// Reads a Damiao drive's reply about a register; nil for another frame. Another program on the
    /// bus can also request registers, and the drive sends each reply to the same CAN ID. A reply
    /// about the motion is equal only while the drive is off, at 0.3 % above the lowest angle, at
    /// more than a third of the highest rate.
    private func register(in frame: CANFrame) -> DriveReading? {
        guard variant == .damiao, frame.count == 8, frame[1] == 0, frame[3] <= Register.last,
            frame[2] == Register.read || frame[2] == Register.write || frame[2] == Register.store,
            let axis = ids.axis(of: UInt32(frame[0])), let value = frame.little32(at: 4)
        else { return nil }
        var news = DriveReading(axis: axis)
        // Only the reply to a read confirms the timeout.
        if watchdog != nil, frame[2] == Register.read, frame[3] == Register.timeout {
            news.watchdog = Double(value) * Register.step
        }
        return news
    }
}
