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
        "tracking stops at 90° from the handle's direction and at 45° from level, even if it begins again",
        arguments: [true, false]
    )
    func trackingRange(isHandleKnown: Bool) {
        var rig = PointingTests.Rig(.locked)
        if isHandleKnown {
            rig.handle = { _ in AxisVector(yaw: 40, roll: 0, pitch: 0) }
        } else {
            rig.handle = { _ in nil }
        }
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
        // The rate is limited to 45 degrees per second.
        track(&rig, 20, 20, seconds: 1)
        #expect(abs(rig.angles.yaw - 40 - 45) < 1)
        for _ in 0..<3 {
            track(&rig, 20, 20, seconds: 4)
            #expect(abs(rig.angles.yaw - 130) < 1e-6)
            #expect(abs(rig.angles.pitch + 45) < 1e-6)
            rig.change(.locked)
            rig.run(0.2)
            rig.change(.tracking)
        }
        track(&rig, -20, .nan, seconds: 1)
        #expect(abs(rig.angles.yaw - 85) < 1)
        #expect(abs(rig.angles.pitch + 45) < 1e-6)
    }

    @Test(
        "tracking that begins outside its range returns to the range, at most at the tracking rate")
    func trackingFromOutside() {
        var rig = PointingTests.Rig(.locked)
        rig.point(-120, 0, 80)
        rig.run(2)
        rig.change(.tracking)
        for _ in 0..<30 {
            rig.pointing.track(pan: 0, tilt: 0, validUntil: rig.now.advanced(bySeconds: 1))
            rig.run(0.1) { #expect(abs($0.motion.rates.yaw) < 45.3 * PointingTests.degree) }
        }
        #expect(abs(rig.angles.yaw + 90) < 0.1 && abs(rig.angles.pitch - 45) < 0.1)
    }

    @Test("a camera that tracks at the end of its range turns with the handle")
    func trackingWithATurningHandle() {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { AxisVector(yaw: $0 < 6 ? 0 : min(30 * ($0 - 6), 60), roll: 0, pitch: 0) }
        rig.change(.tracking)
        func track(_ pan: Double, _ seconds: Double) {
            for _ in 0..<Int(seconds * 10) {
                rig.pointing.track(
                    pan: pan * PointingTests.degree, tilt: 0,
                    validUntil: rig.now.advanced(bySeconds: 1))
                rig.run(0.1)
            }
        }
        track(30, 5)
        #expect(abs(rig.angles.yaw - 90) < 0.1)
        track(30, 5)
        #expect(abs(rig.angles.yaw - 150) < 0.5, "the handle is at 60 degrees")
        rig.handle = { _ in AxisVector(yaw: -30, roll: 0, pitch: 0) }
        track(0, 5)
        #expect(abs(rig.angles.yaw - 60) < 1)
    }

    @Test(
        "after 1 s without a request, tracking changes to locked at rest, even right after the mode begins"
    )
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
        #expect(
            rig.pointing.rateValidUntil == until, "the expiry time of the command does not change")
    }

    @Test(
        "tracking rates have no effect in other modes",
        arguments: [Mode.locked, .panFollow, .fpv])
    func trackingElsewhere(mode: Mode) {
        var rig = PointingTests.Rig(mode)
        rig.pointing.track(pan: 1, tilt: 1, validUntil: Instant(nanoseconds: 9_000_000_000))
        rig.run(0.5)
        #expect(rig.setpoint.attitude == .identity)
        #expect(rig.pointing.mode == mode)
    }
}
