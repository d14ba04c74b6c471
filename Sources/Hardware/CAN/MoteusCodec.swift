internal import GimbalCore

/// Protocol of the moteus drive by mjbots, which accesses registers over CAN FD (moteus
/// documentation, "CAN Protocol" and "Register Reference"). A frame consists of subframes that
/// write or read registers; all values are little-endian.
///
/// The codec writes the mode "position". Both gains are zero, so only the feed-forward torque acts.
/// Each frame contains a watchdog timeout. The codec writes torques as 32-bit floats, because the
/// integer formats have steps of 10 mN·m.
struct MoteusCodec: DriveCodec {
    /// Registers.
    enum Register {
        static let mode: UInt8 = 0x00
        static let voltage: UInt8 = 0x0D
        static let position: UInt8 = 0x20
        static let watchdog: UInt8 = 0x27
        static let integralScale: UInt8 = 0x2B
    }

    /// Values of the register "mode".
    enum Mode {
        static let stopped: UInt8 = 0
        static let fault: UInt8 = 1
        static let position: UInt8 = 10
        static let timeout: UInt8 = 11
    }

    /// First bytes of subframes. The two low bits are the number of registers; if they are 0, the
    /// number is in the next byte.
    private enum Subframe {
        static let writeInt8: UInt8 = 0x00
        static let writeFloat: UInt8 = 0x0C
        static let readInt8: UInt8 = 0x10
        static let readFloat: UInt8 = 0x1C
        static let replyInt8: UInt8 = 0x20
        static let replyFloat: UInt8 = 0x2C
        static let nothing: UInt8 = 0x50
    }

    /// Fault code by which airframed reports an expired watchdog, which the drive reports as a
    /// mode.
    static let watchdogFault: UInt32 = 0x100
    /// Fault code of a drive that refuses the mode "position", because its angle is outside
    /// `servopos.position_min` and `servopos.position_max`. The defaults are ±0.01 revolutions.
    private static let outsideLimits: UInt32 = 39
    static let usesFD = true

    private let ids: DriveIDs
    private let host: UInt32
    private let watchdog: Double
    private var requests = PerAxis(DriveRequests())

    /// Creates the codec.
    ///
    /// - Parameters:
    ///   - ids: CAN IDs of the drives, 1...127.
    ///   - host: CAN ID of this computer, 0...127.
    ///   - watchdog: Time without a frame after which a drive stops, s.
    init(ids: DriveIDs, host: UInt32, watchdog: Double) {
        self.ids = ids
        self.host = host
        self.watchdog = watchdog
    }

    var filters: [CANFilter] { ids.all.map { CANFilter(id: $0 << 8 | host, mask: 0x7FFF) } }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        frames.append(frame(command, .yaw))
        frames.append(frame(command, .roll))
        frames.append(frame(command, .pitch))
    }

    private mutating func frame(_ command: DriveCommand, _ axis: GimbalAxis) -> CANFrame {
        var frame = CANFrame(id: 0x8000 | host << 8 | ids[axis], isExtended: true, isFD: true)
        let fault = command.states[axis].fault
        let isClearDue = requests[axis].isClearDue(fault: fault, now: command.now)
        if command.isEnabled {
            write(Mode.position, into: &frame)
            write(command.torque[axis], into: &frame)
        } else if fault == 0 || fault == Self.watchdogFault || isClearDue {
            // The mode "stopped" also clears a fault. A drive with a fault exerts no torque.
            write(Mode.stopped, into: &frame)
        }
        // Registers to read: mode, position, velocity and torque; voltage, temperature and fault.
        frame.append(Subframe.readFloat)
        frame.append(4)
        frame.append(Register.mode)
        frame.append(Subframe.readInt8 | 3)
        frame.append(Register.voltage)
        frame.pad(with: Subframe.nothing)
        return frame
    }

    private func write(_ mode: UInt8, into frame: inout CANFrame) {
        frame.append(Subframe.writeInt8 | 1)
        frame.append(Register.mode)
        frame.append(mode)
    }

    private func write(_ torque: Double, into frame: inout CANFrame) {
        frame.append(Subframe.writeFloat)
        frame.append(5)
        frame.append(Register.position)
        // Values of the position command: position NaN (no position), velocity 0, the torque, and a
        // scale of 0 for both gains.
        frame.append(float: .nan)
        frame.append(float: 0)
        frame.append(float: torque)
        frame.append(float: 0)
        frame.append(float: 0)
        frame.append(Subframe.writeFloat | 1)
        frame.append(Register.watchdog)
        frame.append(float: watchdog)
        frame.append(Subframe.writeFloat | 1)
        frame.append(Register.integralScale)
        frame.append(float: 0)
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard frame.isFD, !frame.isRemote, !frame.isError, frame.id & 0xFF == host,
            let axis = ids.axis(of: frame.id >> 8)
        else { return nil }
        var readings = Readings()
        var at = 0
        while at < frame.count {
            let head = frame[at]
            at += 1
            guard head == Subframe.nothing || Self.read(frame, head, &at, into: &readings) else {
                return nil
            }
        }
        return readings.decode(axis)
    }

    /// Reads the remaining bytes of a reply subframe that contains 8-bit integers or floats.
    ///
    /// - Returns: True if the subframe is a complete reply of 8-bit integers or floats.
    private static func read(
        _ frame: CANFrame, _ head: UInt8, _ at: inout Int, into readings: inout Readings
    ) -> Bool {
        let isFloat = head & 0xFC == Subframe.replyFloat
        guard isFloat || head & 0xFC == Subframe.replyInt8 else { return false }
        var number = Int(head & 3)
        if number == 0 {
            guard at < frame.count else { return false }
            number = Int(frame[at])
            at += 1
        }
        let size = isFloat ? 4 : 1
        guard number > 0, at + 1 + number * size <= frame.count else { return false }
        let register = Int(frame[at])
        at += 1
        for index in 0..<number {
            let value =
                isFloat ? frame.float(at: at) : Double(Int8(bitPattern: frame[at]))
            readings.set(register + index, to: value, isFloat: isFloat)
            at += size
        }
        return true
    }

    /// Values of the registers in a reply; nil for a register that is missing from the reply, or
    /// whose float is not finite.
    private struct Readings {
        private var mode: Double?
        private var angle: Double?
        private var rate: Double?
        private var voltage: Double?
        private var temperature: Double?
        private var fault: Double?

        mutating func set(_ register: Int, to value: Double?, isFloat: Bool) {
            switch register {
            case 0x00: mode = value
            case 0x01: angle = value
            case 0x02: rate = value
            // Resolution of the 8-bit integers: 0.5 V and 1 °C.
            case 0x0D: voltage = value.map { isFloat ? $0 : $0 / 2 }
            case 0x0E: temperature = value
            case 0x0F: fault = value
            default: break
            }
        }

        func decode(_ axis: GimbalAxis) -> DriveReading? {
            guard let mode, let angle, let rate, (0...255).contains(mode) else { return nil }
            var news = DriveReading(axis: axis)
            news.angle = angle * 2 * .pi
            news.rate = rate * 2 * .pi
            news.voltage = voltage
            news.temperature = temperature
            news.isRunning = UInt8(mode) == Mode.position
            news.causes = []
            // Outside the mode "fault", the fault register only names an active limit, which is not
            // a fault.
            switch UInt8(mode) {
            case Mode.fault:
                news.fault = UInt32(min(max(fault ?? 1, 1), 255))
                if news.fault == MoteusCodec.outsideLimits { news.causes = .angle }
            case Mode.timeout: news.fault = MoteusCodec.watchdogFault
            default: news.fault = 0
            }
            return news
        }
    }
}
