internal import Configuration
internal import GimbalCore
internal import Realtime

/// Source of the joints' angles; also reports the conditions of the motors that measure the angles.
/// Only the sensors' thread calls the methods, which do not wait.
protocol JointFeedback: AnyObject {
    /// Reads the newest angles and states of the motors.
    func read(now: Instant)
    /// Adds the joints' angles and rates to a sample of the camera's sensor, if they are known.
    func add(to sample: inout IMUSample)
    /// Faults of the motors and of their bus.
    var conditions: Conditions { get }
}

/// Joint angles and conditions of motors on a serial line. A separate thread receives the motors'
/// replies. Only the sensors' thread uses the object.
final class SerialFeedback: JointFeedback {
    private let reports: DriveReports
    private let axes: AxisSet
    private let measuresJoints: Bool
    private let holdsAngles: Bool
    private let silentSeconds: Double
    private var motions = PerAxis(JointMotion())
    private var now = Instant(nanoseconds: 0)
    /// Times since which the motors must be on; nil for a motor that must be off.
    private var wantedSince = PerAxis<Instant?>(nil)
    private var isStale = true

    /// Age above which an angle is not used, even if damaged replies arrive, s. If 3 % of the bytes
    /// are damaged in both directions, 30 % of the exchanges with a Dynamixel servo give an angle:
    /// an age of 0.15 s occurs once per minute, an age of 0.2 s less than once per hour.
    private static let staleSeconds = 0.2
    /// Time for which a condition reports damaged bytes, s.
    private static let damageSeconds = 1.0
    /// Longest permitted time from a request until a motor is on, s.
    private static let startSeconds = 0.5
    /// Longest time over which an angle is extrapolated, s.
    private static let longestExtrapolation = 0.1

    /// Creates the reader.
    ///
    /// - Parameters:
    ///   - reports: Reports of the motors, which their thread writes.
    ///   - axes: The joints that have a motor.
    ///   - silence: Limits of the time without a reply.
    ///   - measuresJoints: True if the joints' angles are added to the samples.
    ///   - holdsAngles: True if the motors hold angles; their joints' angles are not converted to
    ///     -π...π.
    init(
        reports: DriveReports, axes: AxisSet, silence: DriveSilence, measuresJoints: Bool,
        holdsAngles: Bool
    ) {
        self.holdsAngles = holdsAngles
        self.reports = reports
        self.axes = axes
        self.measuresJoints = measuresJoints
        silentSeconds = silence.seconds
        for axis in GimbalAxis.allCases { reports[axis].note(isSilent: axes.contains(axis)) }
    }

    func read(now: Instant) {
        self.now = now
        // Read before the motions: when a restart has ended, the new motion has been published.
        let restarting = AxisSet(
            yaw: reports[.yaw].isRestarting(now: now), roll: reports[.roll].isRestarting(now: now),
            pitch: reports[.pitch].isRestarting(now: now))
        reports.cell.read(into: &motions)
        let wanted = reports.wanted
        isStale = false
        axes.forEach { axis in
            let motion = motions[axis]
            let age = now.seconds(since: motion.time)
            if age > max(Self.staleSeconds, silentSeconds) { isStale = true }
            let isUnheard =
                now.seconds(since: motion.heard) > silentSeconds
                || age > max(Self.staleSeconds, silentSeconds)
            // The fault because of which a servo restarts stays reported until the servo replies.
            reports[axis].note(isSilent: isUnheard && !restarting.contains(axis))
            let since: Instant? = wanted.contains(axis) ? wantedSince[axis] ?? now : nil
            wantedSince[axis] = since
            let isOverdue = since.map { now.seconds(since: $0) > Self.startSeconds } ?? false
            reports[axis].note(isDisobedient: isOverdue && reports[axis].isRunning == false)
        }
    }

    func add(to sample: inout IMUSample) {
        guard measuresJoints, !isStale, reports.silent.isEmpty else { return }
        let time = sample.time
        sample.joints = AxisVector(
            yaw: angle(.yaw, at: time), roll: angle(.roll, at: time), pitch: angle(.pitch, at: time)
        )
        sample.jointRates = AxisVector(
            yaw: motions.yaw.rate, roll: motions.roll.rate, pitch: motions.pitch.rate)
        sample.contents.insert(.joints)
        sample.contents.insert(.jointRates)
    }

    private func angle(_ axis: GimbalAxis, at time: Instant) -> Double {
        guard axes.contains(axis) else { return 0 }
        let motion = motions[axis]
        let age = min(max(time.seconds(since: motion.time), 0), Self.longestExtrapolation)
        let angle = motion.angle + motion.rate * age
        return holdsAngles ? angle : angle.remainder(dividingBy: 2 * .pi)
    }

    var conditions: Conditions {
        var conditions = Conditions.none
        if reports.isBusOff { conditions.insert(.motorPortLost) }
        if !reports.silent.isEmpty { conditions.insert(.driveSilent) }
        conditions.insert(reports.faultConditions)
        if now.seconds(since: reports.lastDamage) < Self.damageSeconds {
            conditions.insert(.motorBytesDamaged)
        }
        return conditions
    }
}

extension DriveReports {
    /// The conditions for the causes of the motors' faults.
    var faultConditions: Conditions {
        var conditions = Conditions.none
        conditions.insert(self[.yaw].faultConditions)
        conditions.insert(self[.roll].faultConditions)
        conditions.insert(self[.pitch].faultConditions)
        return conditions
    }
}

extension DriveReport {
    fileprivate var faultConditions: Conditions {
        var conditions = isDisobedient ? Conditions.driveFault : .none
        guard fault != 0 else { return conditions }
        let causes = causes
        if causes.contains(.overload) { conditions.insert(.driveOverload) }
        if causes.contains(.overheated) { conditions.insert(.driveOverheated) }
        if causes.contains(.voltage) { conditions.insert(.driveVoltage) }
        if conditions.isEmpty || causes.contains(.encoder) || causes.contains(.other) {
            conditions.insert(.driveFault)
        }
        return conditions
    }
}
