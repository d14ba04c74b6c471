import Testing

@testable import GimbalCore

// Limits and smoothing that change while the set-point follows the handle.
extension PointingTests {
    @Test(
        "the camera does not swing beyond the handle's heading when lower limits or a longer smoothing are set during a pan",
        arguments: [
            (jerk: 1000.0, acceleration: 3000.0, smoothing: 0.4),
            (jerk: 150_000, acceleration: 30, smoothing: 0.4),
            (jerk: 150_000, acceleration: 3000, smoothing: 3),
        ])
    func lowered(jerk: Double, acceleration: Double, smoothing: Double) {
        for seconds in [1.05, 1.1, 1.4] {
            var rig = Rig(.panFollow)
            // The first 5° are within the dead zone.
            rig.handle = { AxisVector(yaw: $0 < 1 ? 0 : 35, roll: 0, pitch: 0) }
            rig.run(seconds)
            rig.pointing.parameters.maxJerk.yaw = jerk * Self.degree
            rig.pointing.parameters.maxAcceleration.yaw = acceleration * Self.degree
            rig.pointing.modes.follow.smoothing.yaw = smoothing
            rig.run(5) { #expect($0.motion.angles.yaw < 30.1 * Self.degree) }
            #expect(abs(rig.motion.angles.yaw - 30 * Self.degree) < 0.5 * Self.degree)
        }
    }

    @Test("a jerk limit that is lowered while the camera is still applies to the whole next pan")
    func loweredStill() {
        var rig = Rig(.panFollow)
        rig.handle = { AxisVector(yaw: $0 < 1.5 ? 0 : 35, roll: 0, pitch: 0) }
        rig.run(1)
        let most = 1000 * Self.degree
        rig.pointing.parameters.maxJerk.yaw = most
        var last = rig.motion.accelerations.yaw
        rig.run(6) { rig in
            let next = rig.motion.accelerations.yaw
            #expect(abs(next - last) * 1e3 <= most * 1.01)
            last = next
        }
        #expect(rig.angles.yaw > 5)
    }
}
