import Configuration
import GimbalCore
import Identification
import Port
import Realtime
import Simulation

@testable import Daemon
@testable import Realtime

/// Runs the setup step `joints` with a simulated gimbal that has stops, in simulated time.
struct RangedGimbal {
    /// Result of a run.
    struct Outcome {
        /// Changed settings by key, as TOML; empty after a failure.
        var changes: [String: String] = [:]
        /// Measured ends, degrees.
        var ends: [GimbalAxis: (lower: Double, upper: Double)] = [:]
        /// Code of the failure; empty without one.
        var code = ""
        var sentence = ""
        /// Highest rate of the camera, deg/s.
        var fastest = 0.0
        /// Largest distance of the command from the camera's position at the stops, degrees.
        var press = 0.0
        /// Simulated duration, s.
        var seconds = 0.0
    }

    var type = MotorType.servo
    /// Ends of the joints, degrees. Without servos the ends are symmetrical, and only `upper`
    /// applies.
    var stops = AxisRanges(
        lower: AxisVector(yaw: -40, roll: -25, pitch: -30),
        upper: AxisVector(yaw: 40, roll: 30, pitch: 20))
    /// Joint whose encoder is connected as the encoder of yaw, roll and pitch.
    var encoders: [GimbalAxis] = [.yaw, .roll, .pitch]
    /// Direction of each encoder.
    var directions = AxisVector(repeating: 1)
    /// Joints whose encoder follows the joint.
    var hasEncoder: Set<GimbalAxis> = [.yaw, .roll, .pitch]
    /// Reading of each encoder at joint angle zero, rad.
    var zero = AxisVector.zero
    /// Pause of the hand halfway to each end, s.
    var pause = 0.0
    /// Motion of the handle.
    var motion = BaseMotion(.still, seed: 1)
    /// Ratio of the angle to which the hand turns a joint to the angle of the stop; above 1 the
    /// hand presses against the stop.
    var reach = 1.2
    var settings = Settings()
    /// Receives time, command and true joint angles, degrees, after each tick.
    var trace: (Double, AxisVector, AxisVector) -> Void = { _, _, _ in }
    /// True if a hand holds the camera while the motors turn.
    var isHeld = false

    func run() -> Outcome {
        var settings = settings
        settings.motors.type = type
        settings.mode.boot = .inactive
        let degrees = Double.pi / 180
        var gimbal = SimulatedGimbal.Parameters()
        gimbal.motor = type
        gimbal.plant.stepRate = 4000
        gimbal.plant.imbalance = .zero
        gimbal.plant.cableStiffness = .zero
        gimbal.plant.jointRange = stops.upper * degrees
        gimbal.imu.sampleRate = 200
        var loop = SimulatedLoop(
            SimulatedGimbal(parameters: gimbal, motion: motion, seed: 3),
            settings.stabilizerParameters, rateHz: 200)
        var run = JointRangeRun(
            axes: settings.motorisedAxes, settings: settings, isByHand: type == .torque)
        var outcome = Outcome()
        var rested = Int.max
        var hand = TurningHand()
        while run.failure == nil, !run.isComplete, loop.seconds < 600 {
            // The estimate of the attitude needs some samples.
            loop.gimbal.push = push(run, loop, &hand)
            loop.advance { sample in
                guard sample.contents.contains(.joints) else { return }
                let true_ = sample.joints
                for axis in GimbalAxis.allCases {
                    let joint = encoders[Int(axis.rawValue)]
                    sample.joints[axis] =
                        zero[axis]
                        + (hasEncoder.contains(joint) ? directions[axis] * true_[joint] : 0)
                }
            }
            let isReady = loop.seconds > 2
            if isReady, let request = run.next(now: loop.now),
                case .camera(let command) = request.effect
            {
                loop.ask(command, validUntil: loop.now.advanced(bySeconds: 0.5))
            }
            let (seconds, joints) = (loop.seconds, loop.gimbal.joints)
            loop.drive { output in
                trace(seconds, output.angle * (1 / degrees), joints * (1 / degrees))
                guard type == .servo, output.enabled else { return }
                for axis in GimbalAxis.allCases {
                    let reached = min(
                        max(output.angle[axis], stops.lower[axis] * degrees),
                        stops.upper[axis] * degrees)
                    outcome.press = max(outcome.press, abs(output.angle[axis] - reached) / degrees)
                    output.angle[axis] = isHeld ? min(max(reached, -0.05), 0.05) : reached
                }
            }
            rested = min(rested, loop.tick)
            guard isReady else { continue }
            run.feed(
                TelemetryRecord(
                    tick: UInt64(loop.tick), now: loop.now, snapshot: loop.snapshot,
                    timing: TickTiming(), counters: RuntimeCounters()))
            // A servo jumps to its middle with its first pulse.
            outcome.fastest = max(outcome.fastest, loop.gimbal.rate.norm / degrees)
        }
        outcome.seconds = loop.seconds
        outcome.sentence = run.failure?.sentence ?? ""
        outcome.code = run.failure?.code ?? (run.isComplete ? "" : "endless")
        guard run.failure == nil else { return outcome }
        for (axis, finding) in run.findings {
            outcome.ends[axis] = (finding.lower / degrees, finding.upper / degrees)
        }
        for update in settings.updates(for: run.findings) {
            outcome.changes[update.key] = update.valueText
        }
        return outcome
    }

    /// Moment of the hand, which turns the joint of the present instruction.
    private func push(
        _ run: JointRangeRun, _ loop: SimulatedLoop, _ hand: inout TurningHand
    ) -> Vector3 {
        guard type == .torque, let axis = run.axis, loop.seconds > 2 else { return .zero }
        hand.stop = stops.upper[axis] * Double.pi / 180 * reach
        hand.pause = pause
        return hand.moment(axis, on: loop.gimbal, at: loop.seconds)
    }
}

/// A simulated hand that turns one joint to both ends and back, and holds the others.
struct TurningHand {
    /// Angle to which the hand turns the joint, rad. If the angle exceeds the joint's range, the
    /// hand presses against the end.
    var stop = 0.0
    /// Pause halfway to each end, s.
    var pause = 0.0
    private var joint: GimbalAxis?
    private var began = 0.0

    /// Computes the angle to which the hand turns a joint at 20°/s.
    ///
    /// - Parameters:
    ///   - path: Angles that the hand visits, beginning at 0, and the pause at each, s.
    ///   - time: Time since the hand began to turn the joint, s.
    /// - Returns: The angle, rad.
    private static func goal(_ path: [(angle: Double, pause: Double)], at time: Double) -> Double {
        let speed = 20 * Double.pi / 180
        var (rest, angle) = (time, 0.0)
        for (next, pause) in path {
            let travel = abs(next - angle) / speed
            guard rest > travel else { return angle + (next - angle) * rest / travel }
            angle = next
            guard rest > travel + pause else { return angle }
            rest -= travel + pause
        }
        return angle
    }

    /// Computes the moment of the hand about the camera's axes.
    ///
    /// - Parameters:
    ///   - axis: Joint that the hand turns. A change of the joint starts the motion again.
    ///   - gimbal: The gimbal.
    ///   - seconds: Present time, s.
    /// - Returns: The moment, N·m.
    mutating func moment(_ axis: GimbalAxis, on gimbal: SimulatedGimbal, at seconds: Double)
        -> Vector3
    {
        if joint != axis { (joint, began) = (axis, seconds) }
        let time = seconds - began
        guard time > 1 else { return .zero }
        let goal = Self.goal(
            [(stop / 2, pause), (stop, 3), (-stop / 2, pause), (-stop, 3), (0, .infinity)],
            at: time - 1)
        let joints = gimbal.joints
        // The hand moves the arm of one joint; the others return to the middle.
        var torques = AxisVector.zero
        for joint in GimbalAxis.allCases {
            let error = (joint == axis ? goal : 0) - joints[joint]
            torques[joint] = min(max(2 * error - 0.15 * gimbal.jointRates[joint], -0.2), 0.2)
        }
        let kinematics = JointKinematics(joints: joints)
        func moment(_ direction: Vector3) -> Double {
            let rates = kinematics.jointRates(relativeRate: direction)
            return torques.yaw * rates.yaw + torques.roll * rates.roll + torques.pitch * rates.pitch
        }
        return Vector3(
            moment(Vector3(1, 0, 0)), moment(Vector3(0, 1, 0)), moment(Vector3(0, 0, 1)))
    }
}
