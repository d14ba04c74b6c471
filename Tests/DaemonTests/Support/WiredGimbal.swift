import Configuration
import GimbalCore
import Identification
import Port
import Realtime
import Simulation

@testable import Daemon
@testable import Realtime

/// True wiring of a gimbal's motors: joint and direction of each output of the driver.
struct TrueWiring: Sendable {
    /// Joint of the motor at output 0, 1 and 2; nil for an output without a wire.
    var joints: [GimbalAxis?] = [.yaw, .roll, .pitch]
    /// 1, or -1 for a motor that turns backwards.
    var directions = [1.0, 1, 1]
    /// True pole pairs of the motors without encoders.
    var polePairs = 7.0
    /// True travel of the servos, degrees.
    var travel = 90.0

    /// Commands that reach the joints, if the driver gets `command` for the joints of the settings.
    func joints(_ command: AxisVector, _ settings: MotorAssignment) -> AxisVector {
        var result = AxisVector.zero
        for axis in GimbalAxis.allCases {
            let output = Int(settings.outputs[axis])
            guard let joint = joints[output] else { continue }
            result[joint] += command[axis] * settings.direction[axis] * directions[output]
        }
        return result
    }

    /// The output as the motors receive it.
    func applied(to output: MotorOutput, _ settings: MotorAssignment) -> MotorOutput {
        var result = output
        // Without power, a torque has no effect.
        result.torque = joints(output.torque * output.power, settings)
        result.field = joints(output.field, settings)
        result.angle = joints(
            AxisVector(
                yaw: output.angle.yaw / settings.travel.yaw,
                roll: output.angle.roll / settings.travel.roll,
                pitch: output.angle.pitch / settings.travel.pitch) * travel, settings)
        result.power = .zero
        for axis in GimbalAxis.allCases {
            guard let joint = joints[Int(settings.outputs[axis])] else { continue }
            result.power[joint] += output.power[axis]
        }
        return result
    }

    /// True if these settings fit the wiring.
    func fits(_ settings: MotorAssignment, _ type: MotorType) -> Bool {
        GimbalAxis.allCases.allSatisfy { axis in
            let output = Int(settings.outputs[axis])
            return joints[output] == axis
                && settings.direction[axis] * directions[output] == 1
                && (type != .servo || settings.travel[axis] == travel)
        } && (type != .field || Double(settings.polePairs) == polePairs)
    }
}

/// Runs the setup step `motors` with a simulated gimbal of any wiring, in simulated time.
struct WiredGimbal {
    /// Result of a run.
    struct Outcome {
        /// The measured settings; nil after a failure.
        var settings: MotorAssignment?
        /// Code of the failure; empty without one.
        var code = ""
        /// Highest rate of the camera, deg/s.
        var fastest = 0.0
        /// Simulated duration, s.
        var seconds = 0.0
    }

    var type = MotorType.servo
    var wiring = TrueWiring()
    /// True rotation from the camera to the sensor, and the rotation in the settings.
    var mounting = Quaternion.identity
    var correction = Quaternion.identity
    /// Motion of the handle.
    var motion = BaseMotion(.still, seed: 1)
    /// Moment of a hand at the camera as a function of time.
    var push: (Double) -> Vector3 = { _ in .zero }
    var encoders = true
    var inertiaFactor = 1.0
    var frictionFactor = 1.0
    var imbalanceMm = 1.0
    var initialJoints = AxisVector.zero

    /// Runs the step; `stop` is the time of an emergency stop, s.
    func run(stop: Double? = nil) -> Outcome {
        var settings = Settings()
        settings.motors.type = type
        settings.mode.boot = .inactive
        let present = settings.motorAssignment
        var tuning = settings.stabilizerParameters
        tuning.correction.mounting = correction
        var gimbal = SimulatedGimbal.Parameters()
        gimbal.motor = type
        gimbal.plant.stepRate = 4000
        gimbal.plant.scale(
            inertia: inertiaFactor, friction: frictionFactor, imbalance: imbalanceMm)
        gimbal.imu.sampleRate = 200
        gimbal.field.polePairs = wiring.polePairs
        gimbal.sensorMounting = mounting
        gimbal.initialJoints = initialJoints
        if !encoders { gimbal.encoderCounts = 0 }
        var loop = SimulatedLoop(
            SimulatedGimbal(parameters: gimbal, motion: motion, seed: 3), tuning, rateHz: 200)
        var run = MotorSetupRun(axes: settings.motorisedAxes, settings: settings)
        var outcome = Outcome()
        while run.failure == nil, !run.isComplete, loop.seconds < 120 {
            loop.gimbal.push = push(loop.seconds)
            loop.advance()
            if let request = run.next(now: loop.now), case .camera(let command) = request.effect {
                loop.ask(command, validUntil: loop.now.advanced(bySeconds: 0.5))
            }
            if let stop, loop.seconds >= stop, loop.seconds < stop + 0.01 {
                loop.ask(.emergencyStop)
            }
            // The driver addresses outputs, not joints.
            loop.drive { $0 = wiring.applied(to: $0, present) }
            run.feed(
                TelemetryRecord(
                    tick: UInt64(loop.tick), now: loop.now, snapshot: loop.snapshot,
                    timing: TickTiming(), counters: RuntimeCounters()))
            outcome.fastest = max(outcome.fastest, loop.gimbal.rate.norm * 180 / .pi)
        }
        outcome.seconds = loop.seconds
        outcome.code = run.failure?.code ?? ""
        guard run.failure == nil else { return outcome }
        do throws(MotorProblem) {
            outcome.settings = try present.corrected(by: run.findings, type: type)
        } catch {
            outcome.code = error.rawValue
        }
        return outcome
    }
}
