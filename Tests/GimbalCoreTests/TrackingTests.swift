import Testing

@testable import GimbalCore

@Suite("Mode tracking")
struct TrackingTests {
    @Test("tracking turns right at positive pan and lowers the camera at positive tilt")
    func tracking() {
        var rig = PointingTests.Rig(.locked)
        rig.point(.nan, 0, 20)
        rig.run(1)
        rig.change(.tracking)
        for _ in 0..<10 {
            let until = rig.now.advanced(bySeconds: 1)
            rig.pointing.track(
                pan: 30 * PointingTests.degree, tilt: 10 * PointingTests.degree, validUntil: until)
            rig.run(0.1)
        }
        rig.pointing.track(pan: 0, tilt: 0, validUntil: rig.now.advanced(bySeconds: 1))
        rig.run(0.3)
        #expect(abs(rig.angles.yaw - 30) < 0.1)
        #expect(abs(rig.angles.pitch - 10) < 0.1)
        #expect(abs(rig.angles.roll) < 1e-9)
    }

    @Test(
        "tracking stops at ±90° of pan and ±45° of tilt from where it began, and turns back at once"
    )
    func trackingRange() {
        var rig = PointingTests.Rig(.locked)
        rig.point(40, 0, 20)
        rig.run(1)
        rig.change(.tracking)
        func track(_ rig: inout PointingTests.Rig, _ pan: Double, _ tilt: Double, seconds: Double) {
            for _ in 0..<Int(seconds * 10) {
                let until = rig.now.advanced(bySeconds: 1)
                rig.pointing.track(pan: pan, tilt: tilt, validUntil: until)
                rig.run(0.1)
            }
        }
        // 45 degrees per second is the most, whatever is asked for.
        track(&rig, 20, 20, seconds: 1)
        #expect(abs(rig.angles.yaw - 40 - 45) < 1)
        track(&rig, 20, 20, seconds: 4)
        #expect(abs(rig.angles.yaw - 130) < 1e-6)
        #expect(abs(rig.angles.pitch + 25) < 1e-6)
        track(&rig, -20, .nan, seconds: 1)
        #expect(abs(rig.angles.yaw - 85) < 1)
        #expect(abs(rig.angles.pitch + 25) < 1e-6)
    }

    @Test("a second of silence turns tracking into locked, standing still; from mode entry on")
    func trackingSilence() {
        var rig = PointingTests.Rig(.locked)
        rig.run(0.1)
        rig.change(.tracking)
        rig.run(0.999)
        #expect(rig.pointing.mode == .tracking)
        rig.run(0.002)
        #expect(rig.pointing.mode == .locked)

        rig.change(.tracking)
        let until = rig.now.advanced(bySeconds: 1)
        rig.pointing.track(pan: 0.5, tilt: 0, validUntil: until)
        rig.run(0.998)
        #expect(rig.pointing.mode == .tracking)
        #expect(abs(rig.motion.trackingSeconds - 0.002) < 1e-9)
        rig.run(0.1)
        #expect(rig.pointing.mode == .locked)
        #expect(rig.setpoint.rate.norm < 1e-9)
        #expect(rig.pointing.rateValidUntil == until, "the condition names the dead-man")
    }

    @Test(
        "tracking rates outside mode tracking move nothing",
        arguments: [Mode.locked, .panFollow, .fpv])
    func trackingElsewhere(mode: Mode) {
        var rig = PointingTests.Rig(mode)
        rig.pointing.track(pan: 1, tilt: 1, validUntil: Instant(nanoseconds: 9_000_000_000))
        rig.run(0.5)
        #expect(rig.setpoint.attitude == .identity)
        #expect(rig.pointing.mode == mode)
    }
}
