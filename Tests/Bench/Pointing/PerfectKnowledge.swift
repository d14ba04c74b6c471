import GimbalCore
import Simulation

/// Controller that reads the true state without delay and cancels every disturbance exactly. The
/// error of this controller, with the same handle, mechanics and set-points, is the reference for
/// every result. The error is not zero, because the controller holds its output for a period.
/// Motors without encoders are replaced by torque motors without delay. Servos keep their speed and
/// resolution, but the controller knows the future motion of the handle.
struct PerfectKnowledge {
    /// Desired attitude of the camera.
    private(set) var attitude = Quaternion.identity
    private var generator: SetpointGenerator
    private var target = AxisVector.zero

    init(_ parameters: SetpointGenerator.Parameters) {
        generator = SetpointGenerator(parameters: parameters)
        generator.hold(at: .identity)
    }

    /// Returns a copy of a gimbal's parameters without delays.
    static func undelayed(_ parameters: SimulatedGimbal.Parameters) -> SimulatedGimbal.Parameters {
        var result = parameters
        result.transportDelay = 0
        result.actuatorLag = 0
        if result.motor == .field { result.motor = .torque }
        return result
    }

    mutating func point(to wanted: AxisVector) {
        target = wanted.filled(from: target)
        generator.point(target: target, duration: 0)
    }

    mutating func step(_ gimbal: SimulatedGimbal, now: Instant, dt: Double) -> MotorOutput {
        let setpoint = generator.step(now: now, dt: dt)
        attitude = setpoint.attitude
        if gimbal.parameters.motor == .servo { return foresee(gimbal, setpoint, now: now) }
        // The remaining error decays with a bandwidth of 200 rad/s and critical damping.
        let bandwidth = 200.0
        let error = gimbal.attitude.error(to: setpoint.attitude)
        let lag = setpoint.rate - gimbal.rate
        let wanted =
            setpoint.acceleration + lag * (2 * bandwidth) + error * (bandwidth * bandwidth)
        return MotorOutput(enabled: true, torque: gimbal.requiredTorque(acceleration: wanted))
    }

    /// Joint angles that the servos will need when the command takes effect.
    private func foresee(
        _ gimbal: SimulatedGimbal, _ setpoint: Setpoint, now: Instant
    ) -> MotorOutput {
        let delay = gimbal.parameters.servo.totalDelay
        let ahead = setpoint.rate * delay + setpoint.acceleration * (0.5 * delay * delay)
        let goal = setpoint.attitude * Quaternion(rotationVector: ahead)
        let time = now.seconds(since: Instant(nanoseconds: 0)) + delay
        let handle = gimbal.motion.state(at: time).attitude
        return MotorOutput(
            enabled: true, angle: JointKinematics.joints(attitude: handle.conjugate * goal),
            power: AxisVector(repeating: 1))
    }
}
