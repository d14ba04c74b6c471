import Testing

@testable import GimbalCore

@Suite("Aim in the mode `tracking`")
struct AimTests {
    private static let degree = Double.pi / 180

    /// Direction of a subject: 5° per second to the right from 10°, and 2° per second down.
    private static func direction(_ seconds: Double) -> AxisVector {
        AxisVector(yaw: 10 + 5 * seconds, roll: 0, pitch: -5 - 2 * seconds)
    }

    private static func aim(
        at angles: AxisVector, rate: AxisVector = AxisVector(yaw: 5, roll: 0, pitch: -2)
    ) -> Aim {
        Aim(target: angles * degree, rate: rate * degree, smoothing: 0.3)
    }

    private func tracking() -> PointingTests.Rig {
        var rig = PointingTests.Rig(.locked)
        rig.change(.tracking)
        return rig
    }

    /// Aims at a steadily moving subject ten times per second.
    private func follow(_ rig: inout PointingTests.Rig, seconds: Double) {
        for _ in 0..<Int(seconds * 10) {
            rig.pointing.aim(
                Self.aim(at: Self.direction(rig.seconds)),
                validUntil: rig.now.advanced(bySeconds: 1))
            rig.run(0.1)
        }
    }

    @Test(
        "the camera follows a steadily moving direction without lag, with and without a known handle pose",
        arguments: [true, false])
    func steady(isHandleKnown: Bool) {
        var rig = tracking()
        if !isHandleKnown { rig.handle = { _ in nil } }
        follow(&rig, seconds: 3)
        let error = rig.angles - Self.direction(rig.seconds)
        #expect(abs(error.yaw) < 0.01 && abs(error.pitch) < 0.01, "\(error)")
        #expect(abs(rig.angles.roll) < 1e-9)
        #expect(abs(rig.motion.rates.yaw / Self.degree - 5) < 0.01)
    }

    @Test("the set-point keeps the limits on acceleration and jerk when the direction jumps")
    func limits() {
        var rig = tracking()
        let limits = rig.pointing.parameters
        var last = rig.motion.accelerations
        for step in 0..<40 {
            let yaw = step % 10 < 5 ? 20.0 : -20
            rig.pointing.aim(
                Self.aim(at: AxisVector(yaw: yaw, roll: 0, pitch: 0), rate: .zero),
                validUntil: rig.now.advanced(bySeconds: 1))
            rig.run(0.1) { rig in
                let motion = rig.motion
                let jerk = abs(motion.accelerations.yaw - last.yaw) / 1e-3
                #expect(abs(motion.accelerations.yaw) < limits.maxAcceleration.yaw * 1.001)
                #expect(jerk < limits.maxJerk.yaw * 1.001)
                // The largest rate of the mode: 45 degrees per second.
                #expect(abs(motion.rates.yaw) < 45.5 * Self.degree)
                last = motion.accelerations
            }
        }
    }

    @Test("after the dead-man time the camera stops, and the mode is locked")
    func deadMan() {
        var rig = tracking()
        follow(&rig, seconds: 2)
        rig.run(0.85)
        #expect(rig.pointing.mode == .tracking)
        rig.run(0.5)
        #expect(rig.pointing.mode == .locked)
        rig.run(1)
        #expect(rig.motion.rates == .zero)
        // The camera has followed the subject at most until the dead-man time, and has then braked.
        #expect(rig.angles.yaw > 22 && rig.angles.yaw < Self.direction(3.3).yaw)
    }

    @Test("the camera turns in the shorter direction, and stays within the range of the mode")
    func range() {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { _ in AxisVector(yaw: 170, roll: 0, pitch: 0) }
        rig.point(170, 0, 0)
        rig.run(10)
        rig.change(.tracking)
        for target in [-170.0, -80] {
            for _ in 0..<40 {
                rig.pointing.aim(
                    Self.aim(at: AxisVector(yaw: target, roll: 0, pitch: 80), rate: .zero),
                    validUntil: rig.now.advanced(bySeconds: 1))
                rig.run(0.1)
            }
            // The end of the range, 90° from the handle's direction, is at -100°; the highest tilt
            // is 45°.
            #expect(abs(rig.angles.yaw - max(-170, min(target, -100))) < 0.1)
            #expect(abs(rig.angles.pitch - 45) < 0.1)
        }
    }

    @Test("a rate replaces the aim, and in other modes an aim has no effect")
    func others() {
        var rig = tracking()
        follow(&rig, seconds: 1)
        rig.pointing.track(pan: 0, tilt: 0, validUntil: rig.now.advanced(bySeconds: 1))
        rig.run(0.9)
        #expect(rig.motion.rates == .zero && rig.pointing.mode == .tracking)
        rig.change(.locked)
        let before = rig.angles
        rig.pointing.aim(
            Self.aim(at: AxisVector(yaw: 50, roll: 0, pitch: 0)),
            validUntil: rig.now.advanced(bySeconds: 1))
        rig.run(1)
        #expect(abs(rig.angles.yaw - before.yaw) < 1e-6 && rig.pointing.mode == .locked)
    }

    @Test("a person who is chosen shortly before the end of the mode is followed")
    func repeated() {
        var rig = tracking()
        rig.run(0.9)
        rig.change(.tracking)
        // airframe-eyes sends the first direction a quarter of a second after the choice.
        rig.run(0.25)
        #expect(rig.pointing.mode == .tracking)
        follow(&rig, seconds: 3)
        #expect(abs(rig.angles.yaw - Self.direction(rig.seconds).yaw) < 0.1)
        // A user who turns the camera chooses a person: the turn ends, and the mode continues.
        rig.pointing.track(pan: 0.5, tilt: 0, validUntil: rig.now.advanced(bySeconds: 1))
        rig.run(0.1)
        rig.pointing.track(pan: 0, tilt: 0, validUntil: rig.now)
        rig.change(.tracking)
        rig.run(0.9)
        #expect(rig.pointing.mode == .tracking && rig.motion.rates == .zero)
        rig.run(0.2)
        #expect(rig.pointing.mode == .locked)
    }
}
