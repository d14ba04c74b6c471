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
}

/// The Mini Cheetah's protocol (Katz, "A low cost modular actuator for dynamic robots", MIT 2018),
/// as implemented by the drives of Damiao, T-Motor and Steadywin. A command contains angle (16
/// bits), rate, two gains and torque (12 bits each); the codec sets both gains to zero. A drive
/// answers each frame with angle, rate and torque.
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

    private let ids: DriveIDs
    private let host: UInt32
    private let limits: MITLimits
    private var requests = PerAxis(DriveRequests())
    private var remainders = PerAxis(0.0)

    /// Creates the codec.
    ///
    /// - Parameters:
    ///   - ids: CAN IDs of the drives, 1...15.
    ///   - host: CAN ID of the frames with which the drives answer.
    ///   - limits: Ranges that are configured in the drives.
    init(ids: DriveIDs, host: UInt32, limits: MITLimits) {
        self.ids = ids
        self.host = host
        self.limits = limits
    }

    var filters: [CANFilter] { [CANFilter(id: host, mask: 0x7FF)] }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        compose(command, .yaw, into: &frames)
        compose(command, .roll, into: &frames)
        compose(command, .pitch, into: &frames)
        if !command.isEnabled { remainders = PerAxis(0) }
    }

    private mutating func compose(
        _ command: DriveCommand, _ axis: GimbalAxis, into frames: inout [CANFrame]
    ) {
        let (id, state) = (ids[axis], command.states[axis])
        let isDue = requests[axis].isSwitchDue(
            on: command.isEnabled, isRunning: state.isRunning, now: command.now)
        guard command.isEnabled else {
            // A drive that is off also answers the commands `disable` and `clear`, so its angle
            // remains known.
            let clears = requests[axis].isClearDue(fault: state.fault, now: command.now)
            return frames.append(Self.order(clears ? Order.clear : Order.disable, to: id))
        }
        if isDue { frames.append(Self.order(Order.enable, to: id)) }
        frames.append(torque(command.torque[axis], axis))
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

    mutating func forgetRequests() {
        requests.yaw.forget()
        requests.roll.forget()
        requests.pitch.forget()
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard !frame.isExtended, !frame.isRemote, !frame.isError, !frame.isFD, frame.id == host,
            frame.count == 6 || frame.count == 8,
            let axis = ids.axis(of: UInt32(frame[0] & 0x0F)), let angle = frame.big16(at: 1)
        else { return nil }
        var news = DriveReading(axis: axis)
        news.angle = FixedPoint.decode(UInt32(angle), range: limits.angle, bits: 16)
        let rate = UInt32(frame[3]) << 4 | UInt32(frame[4] >> 4)
        news.rate = FixedPoint.decode(rate, range: limits.rate, bits: 12)
        // Damiao's drives append two temperatures. The drives send their state in the upper half of
        // the first byte: 0 is off, 1 is on, 8 to 14 are faults.
        guard frame.count == 8 else { return news }
        let state = frame[0] >> 4
        news.isRunning = state == 1
        news.fault = state < 8 ? 0 : UInt32(state)
        news.temperature = Double(max(frame[6], frame[7]))
        return news
    }
}
