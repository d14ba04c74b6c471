import GimbalCore
import Simulation
import Testing

/// At the start, the camera is upside down, on its side, or tilted backwards or forwards by 120°.
@Suite("Torque motors start from any pose of the camera")
struct AnyPoseStartTests {
    static let degrees = 180 / Double.pi

    @Test(
        "the camera turns to level at the profile's rate and stays level",
        arguments: [
            AxisVector(yaw: 0, roll: 180, pitch: 0), AxisVector(yaw: 0, roll: 90, pitch: 0),
            AxisVector(yaw: 0, roll: 0, pitch: 120), AxisVector(yaw: 0, roll: 0, pitch: -120),
        ], [HandleMotion.still, .walking])
    func levels(from joints: AxisVector, motion: HandleMotion) {
        for seed in UInt64(1)...2 {
            let base = BaseMotion(motion, seed: seed, stillDuration: 0, rampDuration: 0)
            var loop = SimulatedLoop(base, seed: seed) { gimbal, _ in
                gimbal.imu.accelBias = 0
                gimbal.imu.accelScaleError = 0
                gimbal.imu.accelMisalignment = 0
                // The stops of this gimbal permit these poses.
                gimbal.plant.jointRange = AxisVector(repeating: 6)
                gimbal.initialJoints = joints * (1 / Self.degrees)
            }
            var largestRate = 0.0
            var largestAcceleration = 0.0
            var lastRate = Vector3.zero
            var switches = 0
            var wasEnabled = false
            var tilt = 0.0
            loop.run(seconds: 6) { loop in
                let gimbal = loop.gimbal
                if loop.output.enabled != wasEnabled { switches += 1 }
                if wasEnabled {
                    largestRate = max(largestRate, gimbal.rate.norm * Self.degrees)
                    let change = (gimbal.rate - lastRate).norm
                    largestAcceleration = max(largestAcceleration, change * 1000)
                }
                wasEnabled = loop.output.enabled
                lastRate = gimbal.rate
                // From upside down, the turn to level alone takes two seconds at the rate of the
                // modes.
                if loop.tick > 4500 {
                    let down = gimbal.attitude.inverseRotate(Vector3(0, 0, 1))
                    let sine = down.cross(Vector3(0, 0, 1)).norm
                    tilt = max(tilt, down.z < 0 ? 180 : sine * Self.degrees)
                }
            }
            #expect(switches == 1, "the outputs are switched on once and stay on")
            #expect(tilt < 2)
            // The set-point turns at 240°/s. Two motions add to this rate: the swing of the loose
            // camera when the motors catch it, and the return of a roll joint from beyond its
            // configured range.
            #expect(largestRate < 600)
            #expect(largestAcceleration < 300)
        }
    }
}
