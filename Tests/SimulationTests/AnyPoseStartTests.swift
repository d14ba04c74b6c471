import GimbalCore
import Simulation
import Testing

/// The camera lies as it was left: upside down, on its side, thrown over backwards.
@Suite("Torque motors start from any pose of the camera")
struct AnyPoseStartTests {
    static let degrees = 180 / Double.pi

    @Test(
        "it goes to level at the profile's pace and stays there",
        arguments: [
            AxisVector(yaw: 0, roll: 180, pitch: 0), AxisVector(yaw: 0, roll: 90, pitch: 0),
            AxisVector(yaw: 0, roll: 0, pitch: 120), AxisVector(yaw: 0, roll: 0, pitch: -120),
        ], [BaseMotion.Kind.still, .walking])
    func levels(from joints: AxisVector, motion: BaseMotion.Kind) {
        for seed in UInt64(1)...2 {
            var parameters = SimulatedGimbal.Parameters()
            parameters.imu.accelBias = 0
            parameters.imu.accelScaleError = 0
            parameters.imu.accelMisalignment = 0
            // The stops of this gimbal let the camera lie like that.
            parameters.plant.jointRange = AxisVector(repeating: 6)
            parameters.initialJoints = joints * (1 / Self.degrees)
            var gimbal = SimulatedGimbal(
                parameters: parameters,
                motion: BaseMotion(motion, seed: seed, stillDuration: 0, rampDuration: 0),
                seed: seed)
            var stabilizer = Stabilizer(parameters: .init())
            var largestRate = 0.0
            var largestAcceleration = 0.0
            var lastRate = Vector3.zero
            var switches = 0
            var wasEnabled = false
            var tilt = 0.0
            for tick in 1...6000 {
                let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                let output = stabilizer.step(now: now)
                gimbal.apply(output, at: now)
                if output.enabled != wasEnabled { switches += 1 }
                if wasEnabled {
                    largestRate = max(largestRate, gimbal.rate.norm * Self.degrees)
                    let change = (gimbal.rate - lastRate).norm
                    largestAcceleration = max(largestAcceleration, change * 1000)
                }
                wasEnabled = output.enabled
                lastRate = gimbal.rate
                // Upside down, the way up alone takes two seconds at the modes' pace.
                if tick > 4500 {
                    let down = gimbal.attitude.inverseRotate(Vector3(0, 0, 1))
                    let sine = down.cross(Vector3(0, 0, 1)).norm
                    tilt = max(tilt, down.z < 0 ? 180 : sine * Self.degrees)
                }
            }
            #expect(switches == 1, "the outputs come on once and stay on")
            #expect(tilt < 2)
            // 240°/s are asked for; on top come the swing of a loose camera that is caught, and the way back of a roll
            // joint that lies beyond its configured range.
            #expect(largestRate < 600)
            #expect(largestAcceleration < 300)
        }
    }
}
