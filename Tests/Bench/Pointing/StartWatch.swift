import GimbalCore
import Simulation

/// Observer of the gimbal's start, from power-on. The observer measures the time until the camera
/// is level, the angle by which the camera turns during the identification of the inertia, and the
/// camera's tremor.
struct StartWatch {
    private let degrees = 180 / Double.pi
    private var held: Quaternion?
    private var tremor = Vector3.zero
    private var lastRate = Vector3.zero

    mutating func note(
        _ time: Double, _ gimbal: SimulatedGimbal, _ snapshot: StabilizerSnapshot,
        _ outcome: inout PointingRun.Outcome
    ) {
        let down = Vector3(0, 0, 1)
        let tilt = gimbal.attitude.inverseRotate(down).cross(down).norm
        if tilt > 1 / degrees || gimbal.attitude.inverseRotate(down).z < 0 { outcome.level = time }
        let rate = gimbal.rate
        // A first-order high-pass at 15 Hz extracts the tremor from the rate.
        tremor = (tremor + rate - lastRate) * 0.914
        lastRate = rate
        guard snapshot.output.enabled else { return }
        outcome.largestRate = max(outcome.largestRate, rate.norm * degrees)
        let sigma = snapshot.inertiaSigma
        if max(sigma.yaw, sigma.roll, sigma.pitch) > 0.6 {
            let start = held ?? gimbal.attitude
            held = start
            outcome.searchAngle = max(
                outcome.searchAngle, start.error(to: gimbal.attitude).norm * degrees)
        } else {
            outcome.tremor.append(tremor.norm * degrees)
        }
    }
}
