import Testing

@testable import GimbalCore

@Suite("Yaw offset from the handle in pan_follow") struct FollowYawOffsetTests {
    private static let degree = Double.pi / 180

    private func rig() -> PointingTests.Rig { PointingTests.Rig(.panFollow) }

    @Test("the offset counts from the handle's direction, not from the edge of its dead zone")
    func angle() {
        var rig = rig()
        rig.handle = { _ in AxisVector(yaw: 4, roll: 0, pitch: 0) }
        rig.pointing.lookAside(yaw: 25 * Self.degree, rate: 0, validUntil: rig.now)
        rig.run(5)
        #expect(abs(rig.angles.yaw - 29) < 0.1)
        rig.handle = { _ in AxisVector(yaw: 34, roll: 0, pitch: 0) }
        rig.run(5)
        // The handle has turned by 30°; the first 5° are within the dead zone.
        #expect(abs(rig.angles.yaw - 54) < 0.1)
    }

    @Test("a rate changes the offset until its dead-man time")
    func rate() {
        var rig = rig()
        rig.pointing.lookAside(yaw: 0, rate: 10 * Self.degree, validUntil: Instant(seconds: 1))
        rig.run(6)
        #expect(abs(rig.angles.yaw - 10) < 0.2)
    }

    @Test("a constant rate of the offset has no lag from the smoothing of the handle's motion")
    func lag() {
        var rig = rig()
        rig.pointing.lookAside(yaw: 0, rate: 10 * Self.degree, validUntil: Instant(seconds: 9))
        rig.run(3)
        #expect(abs(rig.angles.yaw - 30) < 0.2)
    }

    @Test("a change of the mode resets the offset, and an offset has no effect in other modes")
    func modes() {
        var rig = rig()
        rig.pointing.lookAside(yaw: 20 * Self.degree, rate: 0, validUntil: rig.now)
        rig.run(4)
        rig.change(.locked)
        rig.pointing.lookAside(yaw: 60 * Self.degree, rate: 0, validUntil: rig.now)
        rig.run(3)
        #expect(abs(rig.angles.yaw - 20) < 0.5)
        rig.change(.panFollow)
        rig.run(4)
        #expect(abs(rig.angles.yaw) < 5.1)
    }
}
