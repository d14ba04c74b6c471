internal import GimbalCore
internal import Glibc
internal import Realtime
internal import Robot

/// Board of an XGO robot on a serial port. Only the drive thread uses the object, and no method
/// waits for the board, except `allOff`.
///
/// The board has its own controller, which balances the robot; airframed sends speeds and the pose.
/// The vendor recommends at least 1 ms between two instructions, so each `serve` sends one
/// instruction, and the next one is due 2 ms later. The instructions are sent in rounds: both
/// speeds, the pose, and one read request. A round is completed before the next one begins.
/// Therefore frequent requests delay an instruction by at most one round. The board does not
/// acknowledge the pose, so the pose is sent three times after a change, in different rounds.
final class XGOBoard: WheelBoard {
    /// Baud rate of the vendor's firmware, bits per second.
    static let baud = 115_200

    private let line: SerialLine
    private var pose: MailboxReader<XGOPose>
    private var reports: MailboxWriter<XGOReport>
    private var report = XGOReport()
    private var received = SerialBytes()
    private var waiting: Waiting = []
    /// True if speeds have arrived since the beginning of the present round; the next round must
    /// then follow.
    private var isRoundDue = false
    private var speeds = (forward: UInt8(0x80), turn: UInt8(0x80))
    private var wanted = XGOPose()
    private var sentPose: XGOPose?
    /// Number of rounds since `sentPose` was sent first, at most `lastPoseRound`.
    private var poseRounds = 0
    private var lastSent = Instant(nanoseconds: .min / 2)
    private var reads = 0

    /// Instructions of the present round that have not been sent yet, in the order of their
    /// urgency.
    private struct Waiting: OptionSet {
        let rawValue: UInt8
        static let forward = Waiting(rawValue: 1)
        static let turn = Waiting(rawValue: 2)
        static let level = Waiting(rawValue: 4)
        static let height = Waiting(rawValue: 8)
        static let roll = Waiting(rawValue: 16)
        static let read = Waiting(rawValue: 32)
        static let pose: Waiting = [.level, .height, .roll]
    }

    /// Time between the beginnings of two instructions, s: 0.8 ms of transmission, and a pause of
    /// more than 1 ms.
    private static let spacing = 0.002
    /// Rounds between two transmissions of the same pose: 0.5 s with 50 rounds per second.
    private static let poseSpacing = 25
    /// Round of the last transmission of a pose.
    private static let lastPoseRound = 2 * poseSpacing
    /// Timeout of the reply that confirms a stop, s.
    private static let proof = 0.03

    /// Creates a board.
    ///
    /// - Parameters:
    ///   - line: The serial port.
    ///   - pose: Pose from the settings.
    ///   - reports: Writer of the values that the board has sent.
    init(
        line: SerialLine, pose: consuming MailboxReader<XGOPose>,
        reports: consuming MailboxWriter<XGOReport>
    ) {
        self.line = line
        self.pose = pose
        self.reports = reports
    }

    var due: Instant? {
        waiting.isEmpty && !isRoundDue ? nil : lastSent.advanced(bySeconds: Self.spacing)
    }

    var isMissing: Bool { !line.isOpen }

    func isReady(now: Instant) -> Bool { report.isReady(now: now) }

    func write(left: Double, right: Double, now: Instant) throws(BusError) {
        speeds = (XGOFrame.byte((left + right) / 2), XGOFrame.byte((right - left) / 2))
        isRoundDue = true
        if report.model != nil, report.isSilent(now: now) { forget() }
        try serve(now: now)
    }

    func serve(now: Instant) throws(BusError) {
        do throws(BusErrno) {
            try open(now: now)
            try receive(now: now)
            if now.seconds(since: lastSent) >= Self.spacing, let bytes = nextInstruction() {
                lastSent = now
                try line.send(bytes)
            }
        } catch {
            try lose(error, .write)
        }
        reports.publish(report)
    }

    func allOff() throws(BusError) {
        do throws(BusErrno) {
            try open(now: MonotonicClock.now)
            for register in [XGOFrame.Register.forward, .turn, .forward, .turn] {
                try line.send(XGOFrame.write(0x80, to: register))
                usleep(UInt32(Self.spacing * 1e6))
            }
            // The board replies only to read instructions. A reply shows that the board receives
            // instructions. The reply to an earlier instruction shows nothing, so it is read first.
            try receive(now: MonotonicClock.now)
            try line.send(XGOFrame.read(.battery))
            let before = report.replies
            let end = MonotonicClock.now.advanced(bySeconds: Self.proof)
            while report.replies == before, MonotonicClock.now < end {
                try receive(now: MonotonicClock.now, until: end)
            }
            if report.replies == before { throw BusErrno(code: ETIMEDOUT) }
        } catch {
            try lose(error, .off)
        }
    }

    // MARK: The port

    private func open(now: Instant) throws(BusErrno) {
        guard !line.isOpen else { return }
        try line.open(now: now)
        report.isOpen = true
        report.error = 0
        report.opened &+= 1
        received.removeAll()
        forget()
    }

    /// Discards the state of the robot, because another robot can be connected, or the board has
    /// restarted with its own pose.
    private func forget() {
        report.model = nil
        report.isFallen = false
        (report.battery, report.rollDeg) = (.nan, .nan)
        (report.pitchDeg, report.yawDeg) = (.nan, .nan)
        report.firmwareBytes = .init(repeating: 0)
        sentPose = nil
        waiting.subtract(.pose)
    }

    private func lose(_ error: BusErrno, _ operation: BusError.Operation) throws(BusError) {
        if !line.isOpen {
            report.isOpen = false
            report.error = error.code
            waiting = []
            isRoundDue = false
            forget()
        }
        reports.publish(report)
        throw BusError(operation: operation, device: .serial, address: 0, code: error.code)
    }

    // MARK: Instructions

    private func beginRound() {
        isRoundDue = false
        waiting = [.forward, .turn, .read]
        wanted = pose.read().value
        // The registers of the pose of other models have not been published.
        guard let model = report.model, model != .other else { return }
        if sentPose != wanted {
            sentPose = wanted
            poseRounds = 0
        } else if poseRounds < Self.lastPoseRound {
            poseRounds += 1
        } else {
            return
        }
        if poseRounds % Self.poseSpacing == 0 { waiting.formUnion(.pose) }
    }

    /// Takes the next instruction. The speeds in it are the newest ones, also if they arrived during
    /// the round.
    private func nextInstruction() -> SerialBytes? {
        func take(_ item: Waiting) -> Bool { waiting.remove(item) != nil }
        if waiting.isEmpty, isRoundDue { beginRound() }
        if take(.forward) { return XGOFrame.write(speeds.forward, to: .forward) }
        if take(.turn) { return XGOFrame.write(speeds.turn, to: .turn) }
        if take(.level) { return XGOFrame.write(wanted.isLevel ? 1 : 0, to: .level) }
        if take(.height) {
            return XGOFrame.write(XGOFrame.byte(2 * wanted.height - 1), to: .height)
        }
        // While the board keeps the body level, it ignores a requested roll.
        if take(.roll), !wanted.isLevel, let most = report.model?.largestRoll {
            return XGOFrame.write(XGOFrame.byte(wanted.rollDeg / most), to: .roll)
        }
        guard take(.read) else { return nil }
        return XGOFrame.read(nextRegister())
    }

    /// The register to read next: with 50 rounds per second each angle 12.5 times per second,
    /// battery and state half as often.
    private func nextRegister() -> XGOFrame.Register {
        guard let model = report.model else { return .firmware }
        reads = (reads + 1) % 8
        switch reads {
        case 0, 4: return .rollAngle
        case 1, 5: return .pitchAngle
        case 2, 6: return .yawAngle
        case 3 where model == .rider: return .riderState
        default: return .battery
        }
    }

    private func receive(now: Instant, until deadline: Instant? = nil) throws(BusErrno) {
        var isFirst = true
        while try line.receive(into: &received, until: isFirst ? deadline ?? now : now) > 0 {
            isFirst = false
            takeReplies(now: now)
        }
    }

    private func takeReplies(now: Instant) {
        while true {
            switch XGOFrame.next(in: &received) {
            case .reply(let register, let start):
                report.heard = now
                report.replies &+= 1
                note(register, start)
                received.drop(XGOFrame.length(of: received))
            case .damaged(let count): report.damaged &+= UInt32(count)
            case .incomplete: return
            }
        }
    }

    /// Stores the value of a reply; a value beyond its range is ignored.
    private func note(_ register: XGOFrame.Register, _ start: Int) {
        switch register {
        case .battery where received[start] <= 100: report.battery = Double(received[start])
        case .riderState: report.isFallen = received[start] == 0
        case .rollAngle: report.rollDeg = angle(start) ?? report.rollDeg
        case .pitchAngle: report.pitchDeg = angle(start) ?? report.pitchDeg
        case .yawAngle: report.yawDeg = angle(start) ?? report.yawDeg
        case .firmware:
            for index in 0..<10 { report.firmwareBytes[index] = received[start + index] }
            let isNew = report.model == nil
            report.model = XGOModel(firmware: report.firmware)
            guard isNew, report.model == .rider else { return }
            // The state is read next; the Rider must not drive before the reply.
            report.isFallen = true
            reads = 2
        case .battery, .forward, .turn, .height, .roll, .level: break
        }
    }

    private func angle(_ start: Int) -> Double? {
        received.float(at: start).flatMap { abs($0) <= 1e6 ? $0 : nil }
    }
}
