/// State machine of a shot, without access to clocks, files and cameras: `next` returns the next
/// task, and the caller reports the task's result. Times are monotonic seconds, except `wall`,
/// which is seconds since 1970.
///
/// The order of the tasks at a waypoint: move, wait until the camera is still, stay, save the
/// intention, take the photo, save the result. If a record contains an intention without a result,
/// the session first determines whether the photo was taken.
public struct ShotSession: Sendable {
    /// Task for the caller.
    public enum Task: Sendable, Equatable {
        /// Point the camera at a pose in the earth frame with at most the given rate, deg/s; report
        /// `pointed`.
        case point(Pose, rate: Double)
        /// Wait for the camera's next state, or for at most the given time, s.
        case wait(Double)
        /// Read the shutter's counter; report `marked`.
        case mark
        /// Save the record durably; report `saved`.
        case save(ShotRecord)
        /// Take the photo with this number; report `shot`.
        case shoot(Int)
        /// Determine whether the photo with this number was taken, from the shutter's counter
        /// before the photo; report `examined`.
        case examine(Int, mark: Int?)
        /// The shot is complete.
        case finish
        /// The shot cannot continue; the saved record remains.
        case fail(String)
    }

    /// Result of the check whether a photo was taken.
    public enum Evidence: Sendable, Equatable {
        case taken, notTaken, unknown
    }

    /// State of the camera.
    public struct CameraState: Sendable, Equatable {
        /// True if the motors hold the camera in mode `locked`.
        public var isHeld: Bool
        /// Target of the set-point, earth frame.
        public var target: Pose
        /// Set-point, earth frame.
        public var setpoint: Pose
        /// Largest attitude error of an axis, degrees.
        public var error: Double
        /// Largest rate about an axis, deg/s.
        public var rate: Double
        /// True if a joint is at the end of its range.
        public var isAtJointEnd: Bool

        /// Creates a state of the camera.
        public init(
            isHeld: Bool, target: Pose, setpoint: Pose, error: Double, rate: Double,
            isAtJointEnd: Bool = false
        ) {
            (self.isHeld, self.target, self.setpoint) = (isHeld, target, setpoint)
            (self.error, self.rate, self.isAtJointEnd) = (error, rate, isAtJointEnd)
        }
    }

    private enum Step: Sendable, Equatable {
        case examine, move, settle, mark, intend(mark: Int?), shoot, forget, conclude, complete
        case hold(until: Double)
        case failed(String)
    }

    /// Largest number of attempts to take a photo.
    private static let attempts = 3
    /// Largest deviation between set-point and target, degrees, at which the set-point counts as
    /// having reached the target.
    private static let arrived = 0.02
    /// Tolerance in the comparison of target and requested pose, degrees. The tolerance covers the
    /// rounding of the angles in the answers.
    private static let requested = 0.05
    /// Age above which the last state of the camera is out of date, s.
    private static let freshness = 0.5
    /// Timeout of a request, s; if the camera has not reported the requested target, the request is
    /// repeated.
    private static let repetition = 1.0
    /// Time after which a set-point at the end of a joint's range counts as blocked, s.
    private static let blocking = 1.0

    /// The plan.
    public let plan: ShotPlan
    /// The state to save.
    public private(set) var record: ShotRecord
    /// Number of attempts to take the current photo.
    private var attempt = 0
    /// Reason for which the run ends after the last attempt; nil before the last attempt has failed.
    private var failure: String?
    private var step: Step
    /// Clock time at which `due` is 0, s; nil before the first photo that has a scheduled time.
    private var origin: Double?
    private var pointedAt = -Double.infinity
    private var settlingSince: Double?
    private var stillSince: Double?
    /// Time since which a joint at the end of its range has kept the set-point from the target, s.
    private var blockedSince: Double?
    private var seenAt = -Double.infinity
    /// Earliest time of the next attempt, after a refusal or a failure.
    private var notBefore = -Double.infinity
    private var isPatienceExhausted = false

    /// Begins or continues a shot.
    ///
    /// - Parameters:
    ///   - plan: The plan to which the record belongs.
    ///   - record: The saved state, or the state of a new shot.
    public init(_ plan: ShotPlan, _ record: ShotRecord) {
        self.plan = plan
        self.record = record
        step =
            record.done >= plan.frames.count
            ? .complete : record.pending == nil ? .move : .examine
    }

    /// The current waypoint; nil after the last one.
    public var frame: ShotPlan.Frame? {
        record.done < plan.frames.count ? plan.frames[record.done] : nil
    }

    /// Requested orientation at the current waypoint, earth frame; nil after the last waypoint.
    public var pose: Pose? { frame?.pose.turned(byYaw: record.originYaw) }

    /// True if the next photo waits only for its scheduled time.
    public var isWaitingForTime: Bool { step == .settle && stillSince != nil }

    /// True if a joint at the end of its range keeps the camera from the pose of the current
    /// waypoint.
    public var isBlocked: Bool { blockedSince.map { seenAt - $0 >= Self.blocking } ?? false }

    /// True if the run can end now; false from the start of a photo until its result is saved.
    public var canPause: Bool {
        switch step {
        case .hold, .shoot, .forget, .conclude, .complete, .failed: false
        case .examine, .move, .settle, .mark, .intend: true
        }
    }

    /// The next task.
    public mutating func next(now: Double, wall: Double) -> Task {
        if case .hold(let end) = step {
            if now < end { return .wait(end - now) }
            step = .conclude
        }
        guard let frame, let pose else { return .finish }
        switch step {
        case .examine:
            return .examine(frame.photo ?? 0, mark: record.pending?.mark)
        case .move:
            if now < notBefore { return .wait(notBefore - now) }
            return .point(pose, rate: plan.recipe.rate)
        case .settle:
            return settle(frame, now: now, wall: wall)
        case .mark:
            return .mark
        case .intend(let mark):
            var intended = record
            intended.pending = ShotRecord.Pending(mark: mark, time: wall)
            return .save(intended)
        case .shoot:
            return .shoot(frame.photo ?? 0)
        case .hold:
            return .wait(0)
        case .forget:
            var forgotten = record
            forgotten.pending = nil
            return .save(forgotten)
        case .conclude:
            var concluded = record
            concluded.done += 1
            concluded.pending = nil
            return .save(concluded)
        case .complete:
            return .finish
        case .failed(let reason):
            return .fail(reason)
        }
    }

    private mutating func settle(_ frame: ShotPlan.Frame, now: Double, wall: Double) -> Task {
        let still = plan.recipe.still
        if now - seenAt > Self.freshness { stillSince = nil }
        let isStill = stillSince.map { now - $0 >= still.seconds + frame.dwell } ?? false
        let isEarly = due(frame).map { now < $0 } ?? false
        let isEndless = still.patience == 0 && !isBlocked
        if settlingSince == nil || !isHeld || !isAtTarget || isApproaching || isStill || isEarly
            || isEndless
        {
            settlingSince = now
        }
        // The timeout `patience` runs only while the motors hold the camera, and the set-point
        // comes no nearer to the pose that the shot has requested. The timeout begins at the
        // photo's scheduled time, or at the last time at which the camera was still. Without a
        // timeout, the default timeout applies to a pose that the camera cannot reach.
        let patience = still.patience > 0 ? still.patience : ShotRecipe.Stillness().patience
        isPatienceExhausted =
            now - seenAt <= Self.freshness && isHeld && isAtTarget
            && now - (settlingSince ?? now) > patience + frame.dwell
        guard isStill || isPatienceExhausted else {
            return isTargetLost(now) ? repoint(now) : .wait(0.05)
        }
        guard frame.photo != nil else {
            step = .conclude
            return next(now: now, wall: wall)
        }
        if let due = frame.due {
            let time = (origin ?? begin(due, now: now, wall: wall)) + due
            if now < time { return .wait(min(time - now, 0.05)) }
            // If a photo is late by more than half an interval, the following photos are delayed
            // too, so that the next interval is not too short.
            if now - time > interval / 2 { origin = now - due }
        }
        step = .mark
        return .mark
    }

    /// Requests the pose again if the camera has another target, for example after a request of
    /// another client.
    private mutating func repoint(_ now: Double) -> Task {
        step = .move
        guard let pose, now >= notBefore else { return .wait(0.05) }
        return .point(pose, rate: plan.recipe.rate)
    }

    private var isHeld = false
    private var isAtTarget = false
    /// Smallest angle so far from the set-point to the target, degrees.
    private var way = Double.infinity
    /// True if the newest state has reduced `way`. The handle's tremor also moves a set-point at the
    /// end of a joint's range, but does not bring it nearer and nearer.
    private var isApproaching = false

    private func isTargetLost(_ now: Double) -> Bool {
        isHeld && !isAtTarget && now - pointedAt > Self.repetition && now - seenAt < Self.freshness
    }

    /// Clock time of the waypoint's photo, s; nil if the photo has no scheduled time, and before the
    /// first scheduled photo.
    private func due(_ frame: ShotPlan.Frame) -> Double? {
        origin.flatMap { origin in frame.due.map { origin + $0 } }
    }

    /// Interval between scheduled photos, s; 0 if the photos have no scheduled times.
    private var interval: Double {
        if case .timelapse(let timelapse) = plan.recipe.kind { return timelapse.interval }
        return 0
    }

    /// Sets the clock time at which `due` is 0. If a restart takes less than one interval, the next
    /// photo keeps the interval to the last photo before the restart. If the clock is behind the time
    /// of the last photo, the time since this photo is unknown; half an interval is the shortest
    /// interval of a time-lapse.
    private mutating func begin(_ due: Double, now: Double, wall: Double) -> Double {
        let past = record.newestPhoto.map { wall - $0 } ?? .infinity
        let delay = past >= 0 ? max(0, interval - past) : interval / 2
        let begin = now + delay - due
        origin = begin
        return begin
    }
}

// Results of the tasks.
extension ShotSession {
    /// The newest state of the camera has arrived.
    public mutating func see(_ sight: CameraState, now: Double) {
        seenAt = now
        isHeld = sight.isHeld
        guard step == .settle, let pose else { return }
        isAtTarget = sight.target.distance(to: pose) <= Self.requested
        let still = plan.recipe.still
        let left = sight.setpoint.distance(to: sight.target)
        isApproaching = left < way - Self.arrived
        if isApproaching { way = left }
        let hasArrived = left <= Self.arrived
        let isStill =
            sight.isHeld && isAtTarget && hasArrived && sight.error <= still.error
            && sight.rate <= still.rate
        if !isStill { stillSince = nil } else if stillSince == nil { stillSince = now }
        let isBlocked = sight.isHeld && isAtTarget && !hasArrived && sight.isAtJointEnd
        if !isBlocked { blockedSince = nil } else if blockedSince == nil { blockedSince = now }
    }

    /// The camera has accepted or refused the request for a pose; a refused request is repeated
    /// after `pause`, s.
    public mutating func pointed(isAccepted: Bool, now: Double, pause: Double = 2) {
        guard isAccepted else {
            notBefore = now + pause
            settlingSince = nil
            step = .move
            return
        }
        pointedAt = now
        (stillSince, blockedSince) = (nil, nil)
        (isAtTarget, way) = (false, .infinity)
        if settlingSince == nil { settlingSince = now }
        step = .settle
    }

    /// The pose is outside `motion.range_deg`, whose values have changed since the beginning of the
    /// shot. The run ends, because a repeated request would have the same result.
    public mutating func outOfRange() {
        step = .failed(
            "Waypoint \(record.done + 1) is outside motion.range_deg, which has changed since the beginning of the shot. Widen this range"
        )
    }

    /// The shutter's counter before a photo; nil if the shutter has no counter.
    public mutating func marked(_ mark: Int?) { step = .intend(mark: mark) }

    /// The shutter's counter cannot be read. The session waits again until the camera is still,
    /// because the camera can move until the shutter answers.
    public mutating func notMarked() {
        stillSince = nil
        step = .settle
    }

    /// The record of the last task is saved durably.
    public mutating func saved(_ record: ShotRecord) {
        let isConcluded = record.done > self.record.done
        self.record = record
        if isConcluded {
            (attempt, settlingSince, stillSince, isPatienceExhausted) = (0, nil, nil, false)
            failure = nil
            step = self.record.done >= plan.frames.count ? .complete : .move
        } else if record.pending == nil {
            step = failure.map { .failed($0) } ?? .move
        } else {
            attempt += 1
            step = .shoot
        }
    }

    /// A photo was taken, or the attempt failed for the given reason.
    ///
    /// - Parameters:
    ///   - failure: Reason why the shutter reports no photo; nil after a success.
    ///   - now: Current time, s.
    ///   - wall: Current time, s since 1970.
    public mutating func shot(_ failure: String? = nil, now: Double, wall: Double) {
        guard let failure else { return took(now: now, wall: wall, hold: plan.recipe.shutter.hold) }
        if attempt >= Self.attempts {
            self.failure = "Photo \(frame?.photo ?? 0) failed \(attempt) times: \(failure)"
        }
        step = .examine
        notBefore = now + 1
    }

    /// The check whether a photo was taken has ended, with the result `evidence`.
    public mutating func examined(_ evidence: Evidence, now: Double, wall: Double) {
        let photo = frame?.photo ?? 0
        if let failure, evidence == .unknown { return step = .failed(failure) }
        switch (evidence, plan.recipe.shutter.doubt) {
        case (.taken, _):
            took(now: now, wall: record.pending?.time ?? wall, hold: 0)
        case (.notTaken, _):
            // After the end of the run, nothing would prove that the photo was not taken.
            step = .forget
        case (.unknown, .repeat):
            if !record.repeated.contains(photo) { record.repeated.append(photo) }
            step = .move
        case (.unknown, .skip):
            record.skipped.append(photo)
            record.newestPhoto = record.pending?.time
            step = .conclude
        }
    }

    private mutating func took(now: Double, wall: Double, hold: Double) {
        record.newestPhoto = wall
        if isPatienceExhausted, stillSince == nil {
            if isBlocked, let photo = frame?.photo {
                record.blocked = (record.blocked ?? []) + [photo]
            } else {
                record.unsteady += 1
            }
        }
        step = hold > 0 ? .hold(until: now + hold) : .conclude
    }
}
