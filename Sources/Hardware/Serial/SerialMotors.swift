internal import GimbalCore
internal import Glibc
internal import Realtime

/// Three servos, or a board with three motors, on a serial line. Only the motors' thread uses the
/// object. The loop's and the sensors' threads never wait for the line.
///
/// In each period the thread sends the goal values with a request, and waits for the replies. A
/// `JointCell` then passes the joints' angles to the sensors' thread. One thread both sends and
/// receives, because only one device at a time can transmit on a half-duplex line.
final class SerialMotors: MotorPort {
    /// Installation of the motors.
    struct Installation: Sendable {
        /// Baud rate of the line, bits per second.
        var baud: Int
        /// Reading of each encoder at joint angle zero, rad.
        var zero: AxisVector
        /// Direction of each motor; 1, or -1 if the motor's angle decreases while the joint's angle
        /// increases.
        var direction: AxisVector
        /// Minimum time between two exchanges, s.
        var period: Double
    }

    private let line: any SerialTransport
    private var codec: any SerialCodec
    /// True if the motors hold angles. A copy, because `take` must not read `codec` while the codec
    /// decodes.
    private let holdsAngles: Bool
    private let installation: Installation
    private let reports: DriveReports
    private var request = SerialBytes()
    private var received = SerialBytes()
    private var motions = PerAxis(JointMotion())
    private var suspects = PerAxis(UnconfirmedReading())
    private var lastExchange = Instant(nanoseconds: .min / 2)
    private var lastCheck = Instant(nanoseconds: .min / 2)
    private var lastAnswer = Instant(nanoseconds: .min / 2)
    private var lastDisturbance = Instant(nanoseconds: .min / 2)
    /// True if the adapter returns the bytes that it sends.
    private var echoes = false

    /// An implausible reading; it is accepted only if the next reading confirms it.
    private struct UnconfirmedReading: BitwiseCopyable {
        var angle = Double.nan
        var fault: UInt32 = 0
        /// True if the last report of the power stage was that it is off, although it must be on.
        var isOff = false
        var hold = FaultHold()
    }

    /// Largest deviation of an angle from its expected value that needs no confirmation, rad.
    private static let jump = 0.5
    /// Response delays of three servos, s.
    private static let responses = 0.0005
    /// Time constant of rates that are derived from positions, s.
    private static let smoothing = 0.01
    /// Number of requests that switch the motors off when airframed exits, and the time between two
    /// of these requests, s.
    private static let offRounds = 3
    private static let offPause = 0.004
    /// `tolerated`: time without any reply on a disturbed line that does not count as silence, s,
    /// because the requests were probably damaged. `disturbed`: time after a disturbance for which
    /// the line counts as disturbed, s.
    private static let unanswered = (tolerated: 0.1, disturbed: 1.0)

    /// Longest time in which a servo does not reply because it restarts, s; a public driver for
    /// Dynamixel servos (layered_hardware_dynamixel) waits 0.5 s.
    private static let restartSeconds = 1.0

    /// Bytes and replies of one exchange.
    private struct Tally {
        /// Numbers of received bytes: total, in valid replies, in other valid packets, and outside
        /// valid packets.
        var bytes = (all: 0, valid: 0, foreign: 0, damaged: 0)
        /// Number of valid replies.
        var replies = 0
        /// Motors with a valid reply.
        var heard = AxisSet.none
        /// Motors with a valid reply that contains their angle.
        var measured = AxisSet.none
    }

    /// Creates motors.
    ///
    /// - Parameters:
    ///   - line: The serial line.
    ///   - codec: Protocol of the devices.
    ///   - installation: Baud rate, encoder readings at angle zero, directions and period.
    ///   - reports: Reports of the motors' state, and the `JointCell` for the joints' motions.
    init(
        line: any SerialTransport, codec: any SerialCodec, installation: Installation,
        reports: DriveReports
    ) {
        self.line = line
        self.codec = codec
        holdsAngles = codec.holdsAngles
        self.installation = installation
        self.reports = reports
    }

    func prepare(now: Instant) throws(BusError) -> Bool {
        try open(now: now, .write)
        return true
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        reports.note(wanted: powered(output))
        guard now.seconds(since: lastExchange) >= 0.9 * installation.period else { return }
        try exchange(output, now: now, .write)
    }

    func allOff() throws(BusError) {
        reports.note(wanted: .none)
        for round in 0..<Self.offRounds {
            if round > 0 { line.pause(Self.offPause) }
            let now = line.now
            try open(now: now, .off)
            if round == 0 { codec.forgetRequests() }
            codec.readStateNext()
            try exchange(.off, now: now, .off)
        }
    }

    private func open(now: Instant, _ operation: BusError.Operation) throws(BusError) {
        guard !line.isOpen else { return }
        do throws(BusErrno) {
            try line.open(now: now)
        } catch {
            throw failure(operation, error)
        }
        codec.forgetRequests()
        received.removeAll()
        echoes = false
        reports.note(isBusOff: false)
        reports.note(error: 0)
    }

    private func failure(_ operation: BusError.Operation, _ error: BusErrno) -> BusError {
        codec.forgetRequests()
        if !line.isOpen {
            reports.note(isBusOff: true)
            reports.note(error: error.code)
        }
        return BusError(operation: operation, device: .serial, address: 0, code: error.code)
    }

    /// The joints whose motors an output switches on. Motors that exert torques are on together.
    private func powered(_ output: MotorOutput) -> AxisSet {
        guard output.enabled else { return .none }
        guard holdsAngles else { return codec.axes }
        return AxisSet(
            yaw: output.power.yaw > 0, roll: output.power.roll > 0, pitch: output.power.pitch > 0)
    }

    /// Sends one request, and reads the replies.
    private func exchange(
        _ output: MotorOutput, now: Instant, _ operation: BusError.Operation
    ) throws(BusError) {
        let (zero, direction) = (installation.zero, installation.direction)
        var command = DriveCommand(
            isEnabled: output.enabled, torque: output.torque * direction, states: reports.states,
            now: now)
        command.angle = output.angle * direction + zero
        command.powered = powered(output)
        request.removeAll()
        codec.compose(command, into: &request)
        do throws(BusErrno) {
            // Late bytes belong to an earlier request, so they are discarded.
            received.removeAll()
            while try line.receive(into: &received, until: now) > 0 { received.removeAll() }
            received.removeAll()
            try line.send(request)
            reports.noteSent()
            codec.restarting.forEach {
                reports[$0].noteRestart(until: now.advanced(bySeconds: Self.restartSeconds))
            }
            try receiveReplies(sent: line.now)
            // A failed exchange can be repeated in the same period.
            lastExchange = now
        } catch {
            throw failure(operation, error)
        }
    }

    private func receiveReplies(sent: Instant) throws(BusErrno) {
        let byteSeconds = 10 / Double(installation.baud)
        let bytes = request.count + codec.expectedBytes
        // A lost request delays the next goal values until this time, so the wait is not longer than
        // the port needs.
        let deadline = sent.advanced(
            bySeconds: Double(bytes) * byteSeconds + 2 * line.latency + Self.responses)
        let replySeconds = Double(codec.replyBytes) * byteSeconds
        var (tally, now) = (Tally(), sent)
        while tally.replies < codec.expectedReplies, now < deadline {
            let count = try line.receive(into: &received, until: deadline)
            if count == 0 { break }
            now = line.now
            tally.bytes.all += count
            // A servo measures after it has received the request and before it sends its reply.
            decode(into: &tally, time: max(now.advanced(bySeconds: -replySeconds), sent), now: now)
            let expected = codec.expectedBytes + (echoes ? request.count : 0)
            if tally.bytes.all >= expected, received.count == 0 { break }
        }
        // A damaged length makes a packet seem incomplete; valid replies can follow it.
        while tally.replies < codec.expectedReplies, received.count > 0 {
            received.drop(1)
            tally.bytes.damaged += 1
            decode(into: &tally, time: max(now.advanced(bySeconds: -replySeconds), sent), now: now)
        }
        if tally.bytes.foreign == request.count { echoes = true }
        if tally.bytes.damaged > 0 {
            reports.noteDamage(now: now)
            lastDisturbance = now
        }
        judge(tally, now: now)
        if isStateDoubtful { codec.readStateNext() }
        reports.cell.publish(motions)
        // Before its first angle, a servo that has restarted would count as silent, because its
        // last angle is old. When the restart has ended, `SerialFeedback` must find the new motion.
        tally.measured.forEach { reports[$0].noteRestarted() }
    }

    /// Takes the items that have arrived completely.
    private func decode(into tally: inout Tally, time: Instant, now: Instant) {
        while true {
            let before = received.count
            var axes = AxisSet.none
            let item = codec.next(in: &received) { news in
                axes.insert(AxisSet(news.axis))
                if news.angle != nil { tally.measured.insert(AxisSet(news.axis)) }
                self.take(news, time: time, now: now)
            }
            let count = before - received.count
            switch item {
            case .reply:
                tally.replies += 1
                tally.bytes.valid += count
                tally.heard.insert(axes)
                reports.noteReceived()
            case .foreign: tally.bytes.foreign += count
            case .damaged: tally.bytes.damaged += count
            case .incomplete: return
            }
        }
    }

    /// Finds the motors that have answered with damaged replies. If no device has answered on a
    /// disturbed line, the request was probably damaged, and the time does not count as silence of
    /// a motor.
    private func judge(_ tally: Tally, now: Instant) {
        let gap = now.seconds(since: lastCheck)
        lastCheck = now
        let answer = tally.bytes.all - (echoes ? request.count : 0)
        guard answer >= codec.replyBytes - 1 else {
            guard now.seconds(since: lastDisturbance) < Self.unanswered.disturbed,
                now.seconds(since: lastAnswer) < Self.unanswered.tolerated
            else { return }
            codec.axes.forEach { motions[$0].heard = motions[$0].heard.advanced(bySeconds: gap) }
            return
        }
        // The devices answer again: the unanswered requests were damaged.
        if now.seconds(since: lastAnswer) > gap { lastDisturbance = now }
        lastAnswer = now
        let missing = codec.axes.subtracting(tally.heard)
        let number = (missing.number + codec.motorsPerReply - 1) / codec.motorsPerReply
        guard number > 0, answer - tally.bytes.valid >= number * (codec.replyBytes - 1) else {
            return
        }
        missing.forEach { motions[$0].heard = now }
    }

    /// True if a motor must confirm that it is off.
    private var isStateDoubtful: Bool {
        var isDoubtful = false
        codec.axes.forEach {
            if suspects[$0].isOff, reports[$0].isRunning != false { isDoubtful = true }
        }
        return isDoubtful
    }

    private func take(_ news: DriveReading, time: Instant, now: Instant) {
        let axis = news.axis
        var checked = news
        if let fault = news.fault {
            // An 8-bit checksum does not detect every error, so a fault must be reported twice.
            let isNew = fault != 0 && fault != suspects[axis].fault
            suspects[axis].fault = fault
            if isNew || suspects[axis].hold.holds(fault: fault, now: now) {
                checked.fault = nil
                checked.causes = nil
            }
        }
        if let isRunning = news.isRunning {
            // Because of the same checksum: a motor that must be on and reports that it is off must
            // report it twice. Otherwise one damaged reply would switch all motors off.
            let isOff = !isRunning && reports.wanted.contains(axis)
            if isOff, !suspects[axis].isOff { checked.isRunning = nil }
            suspects[axis].isOff = isOff
        }
        if let angle = news.angle {
            checked.rate = follow(angle, rate: news.rate, axis, time: time)
        }
        motions[axis].heard = now
        reports[axis].note(checked)
    }

    /// Angle of a joint for a reading of its encoder, rad. A servo that holds angles cannot turn
    /// through the end of its travel. If its joint's angle were converted to -π...π, the servo's goal
    /// could be at the other end of the travel, and the servo would turn back by a whole turn.
    private func joint(_ reading: Double, _ axis: GimbalAxis) -> Double {
        let (zero, direction) = (installation.zero[axis], installation.direction[axis])
        guard holdsAngles else {
            return ((reading - zero) * direction).remainder(dividingBy: 2 * .pi)
        }
        let turns = (reading / (2 * .pi)).rounded(.down)
        return (reading - turns * 2 * .pi - zero) * direction
    }

    /// Updates a joint's motion with a reading of the joint's encoder, rad; returns the joint's
    /// rate in the motor's direction, rad/s.
    private func follow(
        _ reading: Double, rate: Double?, _ axis: GimbalAxis, time: Instant
    ) -> Double? {
        let direction = installation.direction[axis]
        let angle = joint(reading, axis)
        let old = motions[axis]
        let dt = time.seconds(since: old.time)
        let change = (angle - old.angle).remainder(dividingBy: 2 * .pi)
        if dt < 0.1, abs(change - old.rate * dt) > Self.jump {
            // If two successive readings contain the same jump, the joint has moved.
            let repeated = (angle - suspects[axis].angle).remainder(dividingBy: 2 * .pi)
            guard abs(repeated) < Self.jump else {
                suspects[axis].angle = angle
                return nil
            }
        }
        suspects[axis].angle = .nan
        var speed = 0.0
        if let rate {
            speed = rate * direction
        } else if dt > 0, dt < 0.1 {
            speed = old.rate + (change / dt - old.rate) * (dt / (Self.smoothing + dt))
        }
        motions[axis].angle = angle
        motions[axis].rate = speed
        motions[axis].time = time
        return speed * direction
    }
}
