import GimbalCore
import Simulation

// Results that must be identical on all instruction sets: every number of a run, in order. proof.c
// calls these functions.

/// Runs the estimator on recorded samples, and writes the body-to-earth attitude after each sample.
///
/// - Parameters:
///   - samples: gyro x y z (rad/s), accel x y z (m/s²), seconds since the previous sample: 7 numbers each.
///   - count: Number of samples.
///   - out: Receives the quaternion w x y z after each sample.
@_cdecl("proof_estimate")
public func estimate(
    _ samples: UnsafePointer<Double>, _ count: Int, _ out: UnsafeMutablePointer<Double>
) {
    // The z axis of the recordings' earth frame points up.
    var estimator = AttitudeEstimator(
        parameters: AttitudeEstimator.Parameters(), restSpecificForce: Vector3(0, 0, 9.80665))
    for index in 0..<count {
        let s = samples + 7 * index
        estimator.update(
            gyro: Vector3(s[0], s[1], s[2]), accel: Vector3(s[3], s[4], s[5]), dt: s[6])
        let q = estimator.attitude
        let o = out + 4 * index
        (o[0], o[1], o[2], o[3]) = (q.w, q.x, q.y, q.z)
    }
}

/// Runs the stabilizer on a simulated gimbal in the hand of a walking person. At half time, the
/// camera receives a new target.
///
/// - Parameters:
///   - motor: Motor type: 0 torque, 1 servo, 2 field.
///   - ticks: Duration, ms.
///   - out: Receives 13 numbers per tick: the true attitude w x y z, and torque, angle and field of
///     yaw, roll and pitch.
@_cdecl("proof_closed_loop")
public func closedLoop(_ motor: Int, _ ticks: Int, _ out: UnsafeMutablePointer<Double>) {
    let type: MotorType = motor == 0 ? .torque : motor == 1 ? .servo : .field
    var loop = SimulatedLoop(BaseMotion(.walking, seed: 1, stillDuration: 2), motor: type)
    for tick in 1...ticks {
        loop.advance()
        if tick == ticks / 2 {
            loop.ask(.point(target: AxisVector(yaw: 0.5, roll: 0, pitch: -0.3), duration: 0))
        }
        loop.drive()
        let output = loop.output
        let (q, o) = (loop.gimbal.attitude, out + 13 * (tick - 1))
        (o[0], o[1], o[2], o[3]) = (q.w, q.x, q.y, q.z)
        (o[4], o[5], o[6]) = (output.torque.yaw, output.torque.roll, output.torque.pitch)
        (o[7], o[8], o[9]) = (output.angle.yaw, output.angle.roll, output.angle.pitch)
        (o[10], o[11], o[12]) = (output.field.yaw, output.field.roll, output.field.pitch)
    }
}
