import Testing

@testable import GimbalCore

@Suite("Looking to the side of the handle") struct FollowYawOffsetTests {
    private static let degree = Double.pi / 180

    private func rig() -> PointingTests.Rig { PointingTests.Rig(.panFollow) }

    @Test("an angle counts from where the handle points, not from the edge of its dead zone")
    func angle() {
        var rig = rig()
        rig.handle = { _ in AxisVector(yaw: 4, roll: 0, pitch: 0) }
        rig.pointing.lookAside(yaw: 25 * Self.degree, rate: 0, validUntil: rig.now)
        rig.run(5)
        #expect(abs(rig.angles.yaw - 29) < 0.1)
        rig.handle = { _ in AxisVector(yaw: 34, roll: 0, pitch: 0) }
        rig.run(5)
        // The handle has turned by 30°, 5 of them within the dead zone.
        #expect(abs(rig.angles.yaw - 54) < 0.1)
    }

    @Test("a rate turns it further until its dead-man, and no further")
    func rate() {
        var rig = rig()
        rig.pointing.lookAside(yaw: 0, rate: 10 * Self.degree, validUntil: Instant(seconds: 1))
        rig.run(6)
        #expect(abs(rig.angles.yaw - 10) < 0.2)
    }

    @Test("at a constant rate it does not lag by the smoothing of the handle's motion")
    func lag() {
        var rig = rig()
        rig.pointing.lookAside(yaw: 0, rate: 10 * Self.degree, validUntil: Instant(seconds: 9))
        rig.run(3)
        #expect(abs(rig.angles.yaw - 30) < 0.2)
    }

    @Test("another mode forgets it; in another mode it moves nothing")
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
