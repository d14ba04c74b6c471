import Configuration
import GimbalCore
import Identification
import Port
import Realtime
import Wire

/// One run of the set-up's step `joints`: measures the range of each joint and the direction of its
/// encoder.
///
/// With encoders, the motors are off, and a person turns each joint by hand to both ends. Without
/// encoders, the loop turns each motor slowly until the joint stops, and then back (`Command.findEnd`).
/// `feed` receives every tick; `next` returns the next request. The run needs no clock.
struct JointRangeRun {
    private enum Phase {
        /// The run waits until the camera is at rest and the motors are off.
        case rest(since: Instant?)
        /// The motor turns the joint to one end, and then back to the middle.
        case turning(began: Instant, isPositive: Bool)
        /// A person turns the joint.
        case byHand(began: Instant)
    }

    /// Rate below which the camera is at rest, rad/s, and time at rest before a motor turns, s.
    private static let (restRate, restSeconds) = (3 * Double.pi / 180, 0.7)
    /// Longest wait until the camera is at rest, s.
    private static let restPatience = 30.0
    /// Time for which a person must hold a joint at an end, s.
    private static let holdSeconds = 1.5
    /// Largest rate, rad/s, and largest motion, rad, of a joint that a person holds at an end.
    private static let (holdRate, holdAngle) = (8 * Double.pi / 180, 1.5 * Double.pi / 180)
    /// Angle by which a person must turn the joint back from the second end, rad. Without the
    /// turn back, a pause on the way to the end would count as the end.
    private static let backAngle = 10 * Double.pi / 180
    /// Longest time to turn one joint by hand, s, and for a motor to turn it to one end and back,
    /// s.
    private static let (handSeconds, motorSeconds) = (180.0, 90.0)
    /// Longest time from a request to the motor's output, s.
    private static let startSeconds = 1.0
    /// Interval between two requests, s.
    private static let period = 0.1
    /// Largest motor command that counts as the middle position, rad.
    private static let middle = 0.001

    private let axes: [GimbalAxis]
    private let type: MotorType
    private let polePairs: Double
    private let place: EncoderPlace
    /// True if encoders measure the joints.
    let isByHand: Bool
    private var index = 0
    private var phase = Phase.rest(since: nil)
    private var restBegan: Instant?
    private var travel: JointTravel
    private var isPositive = true
    private var lastRequest: Instant?
    private var hasOutput = false
    private var farthest = 0.0
    private var isToStop = false
    /// Angles at which a person has held the joint, rad: the largest and the smallest one. An angle
    /// is discarded if the joint turns beyond it.
    private var heldUp: Double?
    private var heldDown: Double?
    /// True if the emergency stop was active at the previous tick; nil before the first tick.
    private var wasStopped: Bool?
    /// Time at which the joint came to rest near an end, and its angle then, rad; nil while the
    /// joint moves.
    private var still: (since: Instant, angle: Double)?
    /// The results for the joints that have been measured.
    private(set) var findings: [GimbalAxis: JointTravel.Finding] = [:]
    /// Failure that ended the run; nil while the run continues.
    private(set) var failure: MotorSetupRun.Failure?

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - axes: Joints in the order of the measurement.
    ///   - settings: Active settings.
    ///   - isByHand: True if encoders measure the joints.
    init(axes: [GimbalAxis], settings: Settings, isByHand: Bool) {
        self.axes = axes
        self.isByHand = isByHand
        type = settings.motors.type
        polePairs = Double(settings.motors.polePairs)
        place = settings.encoderPlace
        travel = JointTravel(axes.first ?? .pitch)
    }

    /// The joint that is measured now; nil after the last one.
    var axis: GimbalAxis? { index < axes.count ? axes[index] : nil }
    /// True if all joints are measured.
    var isComplete: Bool { axis == nil }
    /// Progress of the run, 0...1.
    var progress: Double {
        let share = isByHand ? Double(ends) / 3 : isPositive ? 0 : 0.5
        return min((Double(index) + share) / Double(max(axes.count, 1)), 1)
    }

    /// Number of ends at which a person has held the joint.
    private var ends: Int { (heldUp == nil ? 0 : 1) + (heldDown == nil ? 0 : 1) }

    /// Sentence that tells the user what happens next, or what to do; empty after the last joint.
    var instruction: String {
        guard let axis else { return "" }
        guard isByHand else {
            return "The motor turns the joint \(axis.name) to both ends. Hold the handle still."
        }
        switch ends {
        case 0:
            return
                "Turn only the joint \(axis.name) slowly by hand to one end, and hold it there for 2 s. Hold the handle still and upright."
        case 1:
            return
                "Turn the joint \(axis.name) slowly by hand to its other end, and hold it there for 2 s."
        default:
            return
                "Turn the joint \(axis.name) back to the middle. If it was not at its end yet, turn it further first."
        }
    }

    /// The angle range that the joint has covered so far, as text; empty after the last joint.
    var hint: String {
        let degrees = 180 / Double.pi
        return axis == nil ? "" : "\(Int((travel.span * degrees).rounded()))° so far"
    }

    /// The request that is due now; nil if none is due. A request for the mode `inactive` ends a
    /// motor's turn.
    mutating func next(now: Instant) -> MotionRequest? {
        if isToStop {
            isToStop = false
            return .mode(.inactive)
        }
        guard failure == nil, let axis, case .turning(_, let isPositive) = phase else { return nil }
        if let lastRequest, now.seconds(since: lastRequest) < Self.period { return nil }
        lastRequest = now
        return .findEnd(axis, isPositive: isPositive)
    }

    /// Ends the run with a failure.
    mutating func fail(_ code: String, _ sentence: String) {
        if failure == nil { failure = MotorSetupRun.Failure(code: code, sentence: sentence) }
    }

    /// Adds one tick.
    mutating func feed(_ record: TelemetryRecord) {
        guard failure == nil, let axis else { return }
        let snapshot = record.snapshot
        let now = record.now
        // A stop that was active at the start does not prevent a measurement with the motors off.
        let isStopped = snapshot.conditions.intersects(.emergencyStop)
        defer { wasStopped = isStopped }
        if isStopped, wasStopped == false {
            return fail(
                "interrupted",
                "An emergency stop ended the measurement. Reset the stop, and run the step again.")
        }
        if isByHand, snapshot.jointSource != .encoders { return failure = .encoderMissing }
        let rate = travel.add(
            seconds: now.seconds(since: Instant(nanoseconds: 0)), rate: snapshot.rate,
            attitude: snapshot.attitude, joints: isByHand ? snapshot.joints : nil)
        switch phase {
        case .rest(let since): rest(since, axis, snapshot, now: now)
        case .turning(let began, _): turn(began, axis, snapshot, now: now)
        case .byHand(let began): followHand(began, axis, snapshot, rate, now: now)
        }
    }

    private mutating func rest(
        _ since: Instant?, _ axis: GimbalAxis, _ snapshot: StabilizerSnapshot, now: Instant
    ) {
        // The measurement by hand begins without a rest, so that an end that the joint reaches
        // immediately is also measured.
        if isByHand, !snapshot.output.enabled {
            travel = JointTravel(axis)
            (heldUp, heldDown, still) = (nil, nil, nil)
            phase = .byHand(began: now)
            return
        }
        restBegan = restBegan ?? now
        guard now.seconds(since: restBegan ?? now) < Self.restPatience else {
            return fail(
                "not_still",
                "The camera moves although the motors are off. Balance the camera, hold the handle still, and run the step again."
            )
        }
        guard !snapshot.output.enabled, snapshot.rate.norm < Self.restRate else {
            phase = .rest(since: nil)
            return
        }
        guard let since else {
            phase = .rest(since: now)
            return
        }
        guard now.seconds(since: since) >= Self.restSeconds else { return }
        restBegan = nil
        if isPositive { travel = JointTravel(axis) }
        hasOutput = false
        farthest = 0
        lastRequest = nil
        phase = .turning(began: now, isPositive: isPositive)
    }

    // MARK: Turned by the motor

    private mutating func turn(
        _ began: Instant, _ axis: GimbalAxis, _ snapshot: StabilizerSnapshot, now: Instant
    ) {
        guard snapshot.output.enabled else {
            guard hasOutput || now.seconds(since: began) > Self.startSeconds else { return }
            let words = snapshot.conditions.words.reversed().first {
                $0.name != "inactive_mode" && Supervisor.inhibiting.intersects($0.condition)
            }
            return fail(
                "interrupted",
                words?.sentence
                    ?? "The motor of \(axis.name) could not turn the joint to its end and back, or another request ended the motion. Check that nothing blocks the camera, and run the step again."
            )
        }
        let output = snapshot.output
        let command =
            type == .field ? output.field[axis] / polePairs : output.angle[axis]
        // The first pulse moves a servo to its middle position, which is angle zero.
        if type == .servo, abs(command) <= Self.middle, farthest == 0, isPositive {
            travel.setZero()
            travel.forgetEnds()
        }
        hasOutput = true
        farthest = max(farthest, abs(command))
        guard now.seconds(since: began) < Self.motorSeconds else {
            return fail(
                "too_slow",
                "The motor of \(axis.name) has not reached the limit of its joint within 90 s. Check that nothing pushes the camera, and run the step again."
            )
        }
        guard farthest > 10 * Self.middle, abs(command) <= Self.middle else { return }
        isToStop = true
        if isPositive, !(farthest >= JointTravel.endless) {
            isPositive = false
            phase = .rest(since: nil)
        } else {
            conclude(axis)
        }
    }

    // MARK: Turned by hand

    private mutating func followHand(
        _ began: Instant, _ axis: GimbalAxis, _ snapshot: StabilizerSnapshot, _ rate: Double,
        now: Instant
    ) {
        guard !snapshot.output.enabled else {
            return fail(
                "interrupted",
                "The motors were switched on during the measurement. Switch them off, and run the step again."
            )
        }
        guard now.seconds(since: began) < Self.handSeconds else {
            return fail(
                "not_turned",
                "The joint \(axis.name) was not turned to both ends and back within 3 minutes. Run the step again."
            )
        }
        guard travel.span < JointTravel.endless else { return conclude(axis) }
        if let held = heldUp, travel.most - held > Self.holdAngle { heldUp = nil }
        if let held = heldDown, held - travel.least > Self.holdAngle { heldDown = nil }
        let (above, below) = (travel.turned - travel.least, travel.most - travel.turned)
        if ends == 2, min(above, below) > min(Self.backAngle, travel.span / 3) {
            return conclude(axis)
        }
        guard abs(rate) < Self.holdRate, min(above, below) < Self.holdAngle,
            travel.span > JointTravel.smallest
        else {
            still = nil
            return
        }
        guard let began = still, abs(travel.turned - began.angle) < Self.holdAngle else {
            still = (now, travel.turned)
            return
        }
        guard now.seconds(since: began.since) > Self.holdSeconds else { return }
        if below < above { heldUp = travel.most } else { heldDown = travel.least }
    }

    private mutating func conclude(_ axis: GimbalAxis) {
        do throws(TravelProblem) {
            findings[axis] = try travel.finding()
        } catch {
            return failure = error.failure(axis, place)
        }
        index += 1
        isPositive = true
        phase = .rest(since: nil)
    }
}

extension Settings {
    /// Largest difference between measured and configured ends for which the settings are kept,
    /// degrees.
    private static let sameDegrees = 4.0
    /// Margin between each measured end and the new configured end, degrees.
    private static let marginDegrees = 2.0

    /// Updates of the settings for the joints' ranges and the encoders' directions.
    ///
    /// - Parameter findings: The measured joints.
    /// - Returns: The updates; empty if the active settings agree with the measurement.
    func updates(for findings: [GimbalAxis: JointTravel.Finding]) -> [SettingUpdate] {
        var range = joints.rangeDeg
        var flips = AxisVector(repeating: 1)
        for (axis, finding) in findings {
            flips[axis] = finding.direction
            let (lower, upper) = Self.degrees(finding, axis)
            let isSame =
                abs(range.lower[axis] - lower) <= Self.sameDegrees
                && abs(range.upper[axis] - upper) <= Self.sameDegrees
            if !isSame { (range.lower[axis], range.upper[axis]) = (lower, upper) }
        }
        var updates: [SettingUpdate] = []
        if flips != AxisVector(repeating: 1) {
            // The setting for the motor's direction also applies to an encoder in the drive.
            let isInDrive = hardware.backend == .linux && hardware.linux.encoders == .drives
            if !isInDrive {
                updates.append(
                    SettingUpdate(
                        \.hardware.linux.encoderDirection,
                        hardware.linux.encoderDirection * flips))
            } else if motors.type == .servo {
                updates.append(SettingUpdate(\.servo.direction, servo.direction * flips))
            } else {
                updates.append(SettingUpdate(\.motors.direction, motors.direction * flips))
            }
        }
        guard range != joints.rangeDeg else { return updates }
        updates.append(SettingUpdate(\.joints.rangeDeg, range))
        // The pose of the mode `retract` must be within the new range.
        var pose = retract.jointsDeg
        for axis in GimbalAxis.allCases {
            pose[axis] = min(max(pose[axis], range.lower[axis]), range.upper[axis])
        }
        if pose != retract.jointsDeg { updates.append(SettingUpdate(\.retract.jointsDeg, pose)) }
        return updates
    }

    private static func degrees(
        _ finding: JointTravel.Finding, _ axis: GimbalAxis
    ) -> (lower: Double, upper: Double) {
        let degrees = 180 / Double.pi
        if finding.isEndless { return axis == .yaw ? (-360, 360) : (-180, 180) }
        return (
            min((finding.lower * degrees + marginDegrees).rounded(.up), 0),
            max((finding.upper * degrees - marginDegrees).rounded(.down), 0)
        )
    }
}
