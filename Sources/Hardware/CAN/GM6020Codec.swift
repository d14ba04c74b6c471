internal import GimbalCore

/// Protocol of the DJI RoboMaster GM6020 motor. The command to the motor is a current or a voltage.
/// One frame contains the commands to four motors. Each motor sends its state 1000 times per second
/// (RoboMaster GM6020 user guide). The current command requires firmware 1.0.11.2.
///
/// The motor has no enable command; while the drives are off, the codec sends a command of zero.
struct GM6020Codec: DriveCodec {
    /// Quantity that the command sets.
    enum Mode: Sendable {
        /// The command is the current of the phases: ±16384 correspond to ±3 A, at 0.741 N·m/A. Programs
        /// of several RoboMaster teams quote these figures from DJI's later guide. One program,
        /// gm6020_can, has ±1.62 A instead, which is the current at the rated torque of 1.2 N·m.
        case current
        /// The command is the voltage of the phases. The codec computes the voltage from the torque
        /// and the rotor's rate. We assume that ±25000 correspond to ±24 V, the rated voltage: the same
        /// teams quote ±25000 from DJI's later guide, and one quotes ±24 V. DJI's own program limits the
        /// number to ±30000. It is unknown whether the voltage depends on the supply; therefore the
        /// scale factor is 1, unless the owner sets `supply.nominal_v`.
        case voltage
    }

    /// Torque constant: torque per current, N·m/A.
    static let torqueConstant = 0.741
    /// Resistance of the phases, Ω.
    static let resistance = 1.8
    /// Back-EMF constant: induced voltage per rate, V·s/rad, from 13.33 rpm/V.
    static let backEMF = 60 / (13.33 * 2 * Double.pi)
    static let interval = 0.001

    private static let feedback: UInt32 = 0x204
    private let ids: DriveIDs
    private let mode: Mode

    /// Creates the codec of three motors with these CAN IDs, 1...7.
    init(ids: DriveIDs, mode: Mode) {
        self.ids = ids
        self.mode = mode
    }

    var filters: [CANFilter] { ids.all.map { CANFilter(id: Self.feedback + $0, mask: 0x7FF) } }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        let (low, high): (UInt32, UInt32) = mode == .current ? (0x1FE, 0x2FE) : (0x1FF, 0x2FF)
        group(command, first: 1, id: low, into: &frames)
        group(command, first: 5, id: high, into: &frames)
    }

    /// Adds the command frame for four consecutive identifiers if at least one motor has one of
    /// these identifiers.
    private func group(
        _ command: DriveCommand, first: UInt32, id: UInt32, into frames: inout [CANFrame]
    ) {
        var frame = CANFrame(id: id)
        var isUsed = false
        for member in first..<first + 4 {
            let axis = ids.axis(of: member)
            isUsed = isUsed || axis != nil
            frame.append(
                big: UInt16(bitPattern: axis.map { counts(command, $0) } ?? 0))
        }
        if isUsed { frames.append(frame) }
    }

    private func counts(_ command: DriveCommand, _ axis: GimbalAxis) -> Int16 {
        let torque = command.torque[axis]
        guard command.isEnabled, torque.isFinite else { return 0 }
        let current = torque / Self.torqueConstant
        switch mode {
        case .current: return Self.counts(current, per: 3, full: 16384)
        case .voltage:
            let rate = command.states[axis].rate
            let induced = rate.isFinite ? rate * Self.backEMF : 0
            return Self.counts(
                (current * Self.resistance + induced) * command.supplyFactor, per: 24,
                full: 25000)
        }
    }

    private static func counts(_ value: Double, per range: Double, full: Double) -> Int16 {
        Int16(min(max((value / range * full).rounded(), -full), full))
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard !frame.isExtended, !frame.isRemote, !frame.isError, !frame.isFD, frame.count == 8,
            frame.id > Self.feedback, let axis = ids.axis(of: frame.id - Self.feedback),
            let angle = frame.big16(at: 0), angle < 8192, let rate = frame.big16(at: 2)
        else { return nil }
        var news = DriveReading(axis: axis)
        news.angle = Double(angle) * 2 * .pi / 8192
        news.rate = Double(Int16(bitPattern: rate)) * 2 * .pi / 60
        news.temperature = Double(frame[6])
        news.fault = 0
        return news
    }
}
