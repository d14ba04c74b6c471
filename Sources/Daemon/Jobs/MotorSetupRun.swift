import Configuration
import GimbalCore
import Identification
import Policy
import Port
import Realtime
import Wire

/// One run of the set-up's step `motors`: moves each motor slowly with the motor test, and
/// identifies its joint, direction and ratio from the camera's motion.
///
/// `feed` receives every tick; `next` returns the next request. The run needs no clock.
struct MotorSetupRun {
    /// Failure of a run: a code, and a sentence with the remedy.
    struct Failure: Error {
        var code: String
        var sentence: String

        /// The encoders of the joints have failed during the run.
        static let encoderMissing = Failure(
            code: "encoder_missing",
            sentence:
                "The encoders no longer deliver readings. `airframectl doctor` shows the cause.")
    }

    private enum Phase {
        /// The outputs must be off before the next motor moves.
        case rest(since: Instant?)
        /// The motor swings.
        case swing(began: Instant)
    }

    /// Longest duration of a motor's swing, s. The swing ends after four complete strokes.
    private static let longestSeconds = 45.0
    /// Largest rate of a camera at rest, rad/s, and longest wait for rest, s.
    private static let (restRate, restPatience) = (4 * Double.pi / 180, 15.0)
    /// Time at rest before a motor swings, s. This time at rest is longer than the dead-man timeout
    /// of a motor test.
    private static let restSeconds = 0.7
    /// Longest time from a request to the motor's output, s.
    private static let startSeconds = 1.0
    /// Interval between two requests for the motor test, s.
    private static let period = 0.1
    /// Camera rate at which the stabilizer ends a motor test, rad/s; see `MotorSwing`.
    private static let largestRate = 150 * Double.pi / 180
    /// Cosine of the largest inclination of the camera, 50°.
    private static let leastUpright = 0.64

    private let axes: [GimbalAxis]
    private let type: MotorType
    private let polePairs: Double
    private var index = 0
    private var lastCommand = 0.0
    private var restBegan: Instant?
    private var phase = Phase.rest(since: nil)
    private var motion: MotorMotion
    private var lastOutput: Instant?
    private var lastRequest: Instant?
    private var fastest = 0.0
    /// True if the swing must end now, at the middle of the motor's range.
    private var isToStop = false
    /// Results of the motor tests, by the joint to which each motor is assigned.
    private(set) var findings: [GimbalAxis: MotorMotion.Finding] = [:]
    /// Failure that ended the run; nil while the run continues.
    private(set) var failure: Failure?

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - axes: Joints whose motors are tested, in this order.
    ///   - settings: Active settings.
    init(axes: [GimbalAxis], settings: Settings) {
        self.axes = axes
        type = settings.motors.type
        polePairs = Double(settings.motors.polePairs)
        motion = MotorMotion(settings.motors.type)
    }

    /// The joint whose motor is tested now; nil after the last motor.
    var axis: GimbalAxis? { index < axes.count ? axes[index] : nil }
    /// True if all motors have been tested.
    var isComplete: Bool { axis == nil }
    /// Progress of the run, 0...1.
    var progress: Double {
        var share = 0.0
        if case .swing = phase { share = Double(motion.strokeCount) / 4 }
        return min((Double(index) + share) / Double(max(axes.count, 1)), 1)
    }

    /// The request that is due now; nil if none is due. A mode request ends the swing.
    mutating func next(now: Instant) -> MotionRequest? {
        if isToStop {
            isToStop = false
            return .mode(.inactive)
        }
        guard failure == nil, let axis, case .swing = phase else { return nil }
        if let lastRequest, now.seconds(since: lastRequest) < Self.period { return nil }
        lastRequest = now
        return .testMotor(axis)
    }

    /// Adds one tick.
    mutating func feed(_ record: TelemetryRecord) {
        guard failure == nil, let axis else { return }
        let snapshot = record.snapshot
        let now = record.now
        let output = snapshot.output
        switch phase {
        case .rest(let since):
            let waiting = now.seconds(since: restBegan ?? now)
            restBegan = restBegan ?? now
            guard waiting < Self.restPatience else {
                return fail(
                    "not_still",
                    "The camera moves although the motors are off. Balance the camera, hold the handle still, and run the step again."
                )
            }
            guard !output.enabled, snapshot.rate.norm < Self.restRate else {
                return phase = .rest(since: nil)
            }
            guard let since else { return phase = .rest(since: now) }
            guard now.seconds(since: since) >= Self.restSeconds else { return }
            let force = snapshot.accel
            guard force.norm > 0, -force.z / force.norm > Self.leastUpright else {
                return fail(
                    "not_level",
                    "The camera is not upright, or the mounting of the sensor is wrong. Hold the camera level; if it is level, run the step mounting first."
                )
            }
            phase = .swing(began: now)
            restBegan = nil
            lastCommand = 0
            motion = MotorMotion(type)
            lastOutput = nil
            lastRequest = nil
            fastest = 0
        case .swing(let began):
            // Without encoders, the torque of the swing is zero.
            if type == .torque, snapshot.jointSource != .encoders {
                return failure = .encoderMissing
            }
            guard output.enabled else { return watch(began, snapshot, now: now) }
            let start = lastOutput == nil ? now : began
            phase = .swing(began: start)
            lastOutput = now
            fastest = max(fastest, snapshot.rate.norm)
            let seconds = now.seconds(since: start)
            let command = command(output, axis)
            motion.add(
                seconds: seconds, command: command, rate: snapshot.rate, accel: snapshot.accel)
            // The swing ends at the middle position, so that the next pulse does not move a servo.
            if motion.strokeCount >= 4 && command * lastCommand <= 0
                || seconds > Self.longestSeconds
            {
                conclude(axis)
            }
            lastCommand = command
        }
    }

    /// Ends the run with a failure.
    mutating func fail(_ code: String, _ sentence: String) {
        if failure == nil { failure = Failure(code: code, sentence: sentence) }
    }

    /// Decides why the motor's output is off.
    private mutating func watch(_ began: Instant, _ snapshot: StabilizerSnapshot, now: Instant) {
        if lastOutput == nil {
            guard now.seconds(since: began) > Self.startSeconds else { return }
        } else if max(fastest, snapshot.rate.norm) > Self.largestRate {
            return fail(
                "too_fast",
                "The motor of \(axis?.name ?? "") turned the camera faster than 150°/s, so airframed switched the motor off. Check the balance and the wires of the motor, and hold the handle still."
            )
        }
        let words = snapshot.conditions.words.reversed().first {
            $0.name != "inactive_mode" && Supervisor.inhibiting.intersects($0.condition)
        }
        fail(
            "interrupted",
            words?.sentence ?? "Another request ended the motor test. Run the step again.")
    }

    private func command(_ output: MotorOutput, _ axis: GimbalAxis) -> Double {
        switch type {
        case .torque: output.torque[axis]
        case .servo: output.angle[axis]
        case .field: output.field[axis] / polePairs
        }
    }

    private mutating func conclude(_ axis: GimbalAxis) {
        do throws(MotorProblem) {
            findings[axis] = try motion.finding()
        } catch {
            return fail(error.rawValue, Self.sentence(error, axis))
        }
        isToStop = true
        index += 1
        phase = .rest(since: nil)
    }

    /// Text of a problem with the remedy.
    static func sentence(_ problem: MotorProblem, _ axis: GimbalAxis?) -> String {
        let motor = axis.map { "the motor of \($0.name)" } ?? "a motor"
        return switch problem {
        case .noMotion:
            "The camera did not move with \(motor). Check the supply of the motors, the wires of this motor and its output number."
        case .disturbed:
            "The camera did not follow \(motor): a hand, a cable or an end stop turned or blocked the camera. Hold the handle still, leave the camera free, and run the step again."
        case .mixedAxes:
            "With \(motor) the camera did not turn about the axis of a joint. Hold the handle upright, and run the step mounting if the sensor's mounting is not measured."
        case .incomplete:
            "The measurement of \(motor) did not contain four complete strokes. Balance the camera, leave it free, and run the step again."
        case .sameAxis:
            "Two motors turn the same axis. Check that each motor has its own output and drives its own joint."
        case .unclearPoles:
            "The angle of the motors does not agree with a whole number of pole pairs. Balance the camera, increase motors.power, or count the magnets and set motors.pole_pairs."
        case .implausibleTravel:
            "A servo turns its joint by less than a third or more than three times the commanded angle. Set servo.travel_deg and servo.pulse_us as in its data sheet. A servo on a serial bus must turn its joint directly: check its horn."
        }
    }
}
