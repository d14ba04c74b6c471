internal import Configuration
internal import GimbalCore
internal import Realtime

/// Receiver of the frames of the three drives and of the CAN controller. The receiver provides
/// joint angles and rates for the samples. The receiver also provides conditions, and the drives'
/// state for other threads. Only the sensors' bus thread uses a `DriveFeedback`.
final class DriveFeedback: JointFeedback {
    /// Installation of the drives.
    struct Installation: Sendable {
        /// Reading of each drive's encoder at joint angle zero, rad.
        var zero: AxisVector
        /// Direction of each drive: 1, or -1 if its angle decreases when the joint's angle
        /// increases.
        var direction: AxisVector
        /// Period of the reads, s.
        var period: Double
        /// True if the joints' angles in the samples come from the drives.
        var measuresJoints: Bool
    }

    /// Newest motion of a joint.
    private struct Motion: BitwiseCopyable {
        var angle = 0.0
        var rate = 0.0
        var time = Instant(nanoseconds: .min / 2)
        /// Number of reads since the last angle of the drive.
        var silentReads = Int.max / 2
    }

    private let socket: CANSocket
    private let codec: any DriveCodec
    private let installation: Installation
    private let reports: DriveReports
    private let mostSilentReads: Int
    private var motions = PerAxis(Motion())
    private var lastErrorReport = Instant(nanoseconds: .min / 2)
    private var lastBusOff = Instant(nanoseconds: .min / 2)
    private var hasRecentErrors = false
    /// Time since which all drives answer, until they have answered for `settlingSeconds`.
    private var answeringSince: Instant?
    private var haveSettled = false
    private var isDown = false
    private var wantedSince: Instant?
    private let wallClock: @Sendable () -> Instant

    /// Largest number of frames that one call reads; the limit prevents a flooded bus from blocking
    /// the thread.
    private static let mostFrames = 64
    /// Duration of the condition `can_errors` after an error report, s.
    private static let errorSeconds = 1.0
    /// Time for which all drives must answer until error reports count, s. Without a drive that has
    /// supply, no node acknowledges frames, and the controller reports errors; it also reports its
    /// recovery from them.
    private static let settlingSeconds = 1.0
    /// Time after a bus-off report, s, in which received frames do not prove that the controller
    /// has left the bus-off state.
    private static let busOffSeconds = 0.1
    /// Longest permitted time from a request until a drive has switched its power stage on, s.
    private static let startSeconds = 0.5
    /// Longest time over which a joint angle is extrapolated, s.
    private static let longestExtrapolation = 0.01

    /// Creates the receiver of the frames on one bus.
    ///
    /// - Parameters:
    ///   - socket: Socket that receives the drives' frames.
    ///   - codec: Protocol of the drives.
    ///   - installation: Encoder readings at angle zero, directions and period.
    ///   - reports: Reports of the drives' state, for other threads.
    ///   - wallClock: Clock that measures when a frame is taken out of the queue.
    init(
        socket: CANSocket, codec: any DriveCodec, installation: Installation,
        reports: DriveReports, wallClock: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.wallClock = wallClock
        self.socket = socket
        self.codec = codec
        self.installation = installation
        self.reports = reports
        let (interval, period) = (type(of: codec).interval, installation.period)
        mostSilentReads =
            DriveSilence(period: period, interval: interval).periods
            * max(1, Int((interval / period).rounded(.up)))
    }

    /// Receives all frames in the queue.
    ///
    /// - Parameter now: Beginning of the period. The frames are received later, after the sensors on
    ///   the bus, so the age of a frame is not relative to this time.
    func read(now: Instant) {
        motions.yaw.silentReads += 1
        motions.roll.silentReads += 1
        motions.pitch.silentReads += 1
        do throws(BusErrno) {
            try socket.open(now: now)
            var age = 0.0
            for _ in 0..<Self.mostFrames {
                guard let frame = try socket.receive(age: &age) else { break }
                take(frame, time: wallClock().advanced(bySeconds: -age), now: now)
            }
            if reports.lastError != 0, !isSilent { reports.note(error: 0) }
        } catch {
            isDown = true
            // The queue can still contain frames that arrived before the error.
            lastBusOff = now
            reports.note(error: error.code)
        }
        judge(now: now)
    }

    private func take(_ frame: CANFrame, time: Instant, now: Instant) {
        guard !frame.isError else { return takeError(frame, now: now) }
        reports.noteReceived()
        // A received frame shows that the controller is no longer in the bus-off state, unless the
        // frame arrived before the bus-off report.
        if now.seconds(since: lastBusOff) > Self.busOffSeconds { isDown = false }
        guard let news = codec.decode(in: frame) else { return reports.noteMalformed() }
        guard codec.isValid(frame, from: reports[news.axis].state) else { return }
        reports[news.axis].note(news)
        // A heartbeat or a reply without an angle does not show that the angle is fresh. If other
        // encoders measure the joints, a reply with a rate is sufficient.
        if !installation.measuresJoints, news.rate != nil { motions[news.axis].silentReads = 0 }
        guard let angle = news.angle else { return }
        motions[news.axis].silentReads = 0
        let (zero, direction) = (
            installation.zero[news.axis], installation.direction[news.axis]
        )
        motions[news.axis].angle = ((angle - zero) * direction).remainder(dividingBy: 2 * .pi)
        motions[news.axis].rate = (news.rate ?? 0) * direction
        motions[news.axis].time = time
    }

    private func takeError(_ frame: CANFrame, now: Instant) {
        reports.noteErrorReport()
        lastErrorReport = now
        // CAN_ERR_BUSOFF and CAN_ERR_RESTARTED of linux/can/error.h.
        if frame.id & 0x100 != 0 { isDown = false }
        if frame.id & 0x40 != 0 {
            isDown = true
            lastBusOff = now
        }
    }

    private func judge(now: Instant) {
        // All drives are switched on together.
        let isWanted = !reports.wanted.isEmpty
        if !isWanted { wantedSince = nil } else if wantedSince == nil { wantedSince = now }
        let isOverdue = wantedSince.map { now.seconds(since: $0) > Self.startSeconds } ?? false
        judge(.yaw, isOverdue)
        judge(.roll, isOverdue)
        judge(.pitch, isOverdue)
        reports.noteGuards(of: codec)
        reports.note(isBusOff: isDown)
        hasRecentErrors = now.seconds(since: lastErrorReport) < Self.errorSeconds
        settle(now: now)
    }

    /// Discards the error reports that are older than the first answers of the drives.
    private func settle(now: Instant) {
        guard !haveSettled else { return }
        guard !isSilent else {
            answeringSince = nil
            return
        }
        let since = answeringSince ?? now
        answeringSince = since
        guard now.seconds(since: since) >= Self.settlingSeconds else { return }
        haveSettled = true
        reports.forgetErrorReports()
    }

    private func judge(_ axis: GimbalAxis, _ isOverdue: Bool) {
        let report = reports[axis]
        report.note(isSilent: motions[axis].silentReads >= mostSilentReads)
        report.note(isDisobedient: isOverdue && report.isRunning == false)
    }

    private var isSilent: Bool { !reports.silent.isEmpty }

    /// Adds the joints' angles and rates to a sample of the camera's sensor. Each angle is
    /// extrapolated from the arrival time of its frame to the time of the sample, which can be
    /// earlier than the arrival.
    func add(to sample: inout IMUSample) {
        guard installation.measuresJoints, !isSilent else { return }
        sample.joints = AxisVector(
            yaw: angle(.yaw, at: sample.time), roll: angle(.roll, at: sample.time),
            pitch: angle(.pitch, at: sample.time))
        sample.jointRates = AxisVector(
            yaw: motions.yaw.rate, roll: motions.roll.rate, pitch: motions.pitch.rate)
        sample.contents.insert(.joints)
        sample.contents.insert(.jointRates)
    }

    private func angle(_ axis: GimbalAxis, at time: Instant) -> Double {
        let motion = motions[axis]
        let longest = Self.longestExtrapolation
        let age = min(max(time.seconds(since: motion.time), -longest), longest)
        return (motion.angle + motion.rate * age).remainder(dividingBy: 2 * .pi)
    }

    /// Conditions that report faults of the drives and of the bus.
    var conditions: Conditions {
        var conditions = Conditions.none
        if isDown { conditions.insert(.canBusOff) }
        if isSilent { conditions.insert(.driveSilent) }
        if !reports.faulty.isEmpty { conditions.insert(.driveFault) }
        if !reports.unguardedSet.isEmpty { conditions.insert(.driveUnguarded) }
        if hasRecentErrors { conditions.insert(.canErrors) }
        return conditions
    }
}
