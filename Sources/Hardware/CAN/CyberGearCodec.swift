internal import GimbalCore

/// Protocol of the Xiaomi CyberGear drive: the Mini Cheetah's protocol with 29-bit identifiers. An
/// identifier contains the frame's type in bits 24...28, data in bits 8...23, and the receiver's
/// identifier in bits 0...7. All fields are big-endian 16-bit numbers (CyberGear instruction
/// manual, section 4).
struct CyberGearCodec: DriveCodec {
    /// Types of the frames.
    enum Kind {
        static let command: UInt32 = 1
        static let feedback: UInt32 = 2
        static let enable: UInt32 = 3
        static let stop: UInt32 = 4
    }

    /// Ranges of angle, rate and torque.
    static let limits = MITLimits(angle: 4 * .pi, rate: 30, torque: 12)

    private let ids: DriveIDs
    private let host: UInt32
    private var requests = PerAxis(DriveRequests())

    /// Creates the codec.
    ///
    /// - Parameters:
    ///   - ids: CAN IDs of the drives, 1...127.
    ///   - host: CAN ID of this computer, 0...127.
    init(ids: DriveIDs, host: UInt32) {
        self.ids = ids
        self.host = host
    }

    var filters: [CANFilter] {
        ids.all.map {
            CANFilter(id: Kind.feedback << 24 | $0 << 8 | host, mask: 0x1F00_FFFF)
        }
    }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        compose(command, .yaw, into: &frames)
        compose(command, .roll, into: &frames)
        compose(command, .pitch, into: &frames)
    }

    private mutating func compose(
        _ command: DriveCommand, _ axis: GimbalAxis, into frames: inout [CANFrame]
    ) {
        let state = command.states[axis]
        let isDue = requests[axis].isSwitchDue(
            on: command.isEnabled, isRunning: state.isRunning, now: command.now)
        guard command.isEnabled else {
            // A drive that is off also answers the stop command, so its angle remains known. A
            // first byte of 1 clears faults.
            let clears = requests[axis].isClearDue(fault: state.fault, now: command.now)
            return frames.append(frame(Kind.stop, host, axis, clears ? 0x0100 : 0))
        }
        if isDue { frames.append(frame(Kind.enable, host, axis)) }
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

    mutating func forgetRequests() {
        requests.yaw.forget()
        requests.roll.forget()
        requests.pitch.forget()
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard frame.isExtended, !frame.isRemote, !frame.isError, !frame.isFD, frame.count == 8,
            frame.id >> 24 == Kind.feedback, frame.id & 0xFF == host,
            let axis = ids.axis(of: frame.id >> 8 & 0xFF), let angle = frame.big16(at: 0),
            let rate = frame.big16(at: 2), let temperature = frame.big16(at: 6)
        else { return nil }
        var news = DriveReading(axis: axis)
        news.angle = FixedPoint.decode(UInt32(angle), range: Self.limits.angle, bits: 16)
        news.rate = FixedPoint.decode(UInt32(rate), range: Self.limits.rate, bits: 16)
        news.temperature = Double(temperature) / 10
        news.fault = frame.id >> 16 & 0x3F
        news.isRunning = frame.id >> 22 & 3 == 2
        return news
    }
}
