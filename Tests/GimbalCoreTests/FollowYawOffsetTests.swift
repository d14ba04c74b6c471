import Testing

@testable import GimbalCore

@Suite("Yaw offset from the handle in pan_follow") struct FollowYawOffsetTests {
    private static let degree = Double.pi / 180

    private func rig() -> PointingTests.Rig { PointingTests.Rig(.panFollow) }

    @Test("the offset counts from the handle's direction, not from the edge of its dead zone")
    func angle() {
        var rig = rig()
        rig.handle = { _ in AxisVector(yaw: 4, roll: 0, pitch: 0) }
        rig.look(25)
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
        rig.turn(10, until: 1)
        rig.run(6)
        // Starting and stopping take 20 ms each, at half the rate on average.
        #expect(abs(rig.angles.yaw - 9.8) < 0.1)
    }

    @Test("a turn with a low acceleration is at rest at the end of its dead-man time")
    func atRest() {
        var rig = rig()
        rig.pointing.parameters.maxAcceleration.yaw = 100 * Self.degree
        rig.pointing.parameters.maxJerk.yaw = 1000 * Self.degree
        rig.turn(40, until: 3)
        rig.run(3)
        let stopped = rig.angles.yaw
        #expect(stopped > 90 && abs(rig.motion.rates.yaw) < Self.degree, "\(stopped)")
        rig.run(2)
        #expect(abs(rig.angles.yaw - stopped) < 0.3)
    }

    @Test("a turn at more than the largest rate ends with its dead-man time, or with the request 0")
    func tooFast() {
        for isReleased in [false, true] {
            var rig = rig()
            rig.pointing.parameters.maxRate.yaw = 30 * Self.degree
            rig.turn(90, until: isReleased ? 9 : 2)
            rig.run(2)
            if isReleased { rig.pointing.turn(at: .zero, validUntil: rig.now) }
            rig.run(0.3)
            let stopped = rig.angles.yaw
            #expect(stopped > 55 && stopped < 62, "\(stopped)")
            rig.run(2)
            #expect(abs(rig.angles.yaw - stopped) < 0.1)
        }
    }

    @Test("a constant rate of the offset has no lag from the smoothing of the handle's motion")
    func lag() {
        var rig = rig()
        rig.turn(10, until: 9)
        rig.run(3)
        #expect(abs(rig.angles.yaw - 30) < 0.2)
    }

    @Test("a change of the mode resets the offset, and an offset has no effect in other modes")
    func modes() {
        var rig = rig()
        rig.look(20)
        rig.run(4)
        rig.change(.locked)
        rig.look(60)
        rig.run(3)
        #expect(abs(rig.angles.yaw - 20) < 0.5)
        rig.change(.panFollow)
        rig.run(4)
        #expect(abs(rig.angles.yaw) < 5.1)
    }

    @Test(
        "a requested offset moves within the limits of the set-point, not with the follow preset's smoothing"
    )
    func quick() {
        var rig = rig()
        rig.look(-60)
        rig.run(2)
        rig.look(60)
        let limits = SetpointGenerator.Parameters()
        rig.run(0.8) { rig in
            #expect(abs(rig.motion.rates.yaw) <= limits.maxRate.yaw * 1.001)
            #expect(abs(rig.motion.accelerations.yaw) <= limits.maxAcceleration.yaw * 1.001)
            #expect(rig.angles.yaw < 60.01)
        }
        // 120° at 240 °/s need 0.5 s and the time to accelerate; the preset would need 1.8 s.
        #expect(abs(rig.angles.yaw - 60) < 0.1)
        #expect(abs(rig.motion.target.yaw - 60 * Self.degree) < 1e-6)
    }

    @Test("the handle's motion keeps the smoothing of the follow preset while the offset turns")
    func feel() {
        func path(_ offset: Double) -> [Double] {
            var rig = rig()
            rig.handle = { AxisVector(yaw: $0 < 2 ? 0 : 20 * ($0 - 2), roll: 0, pitch: 0) }
            rig.run(2.5)
            if offset != 0 { rig.turn(offset, until: 9) }
            var yaws: [Double] = []
            rig.run(1) { yaws.append($0.angles.yaw) }
            return yaws
        }
        let (still, turning) = (path(0), path(30))
        let added = zip(still, turning).map { $1 - $0 }
        // The acceleration to 30 °/s costs 0.5°.
        let errors = added.enumerated().map { abs($1 - 0.03 * Double($0 + 1)) }
        #expect((errors.max() ?? 9) < 0.8)
    }

    @Test("a rate limits the motion to an offset")
    func slow() {
        var rig = rig()
        rig.look(30, rate: 10)
        rig.run(1.5)
        #expect(abs(rig.angles.yaw - 15) < 0.5)
        rig.run(2)
        #expect(abs(rig.angles.yaw - 30) < 0.01)
    }

    @Test("repeated requests for the same offset do not disturb its motion")
    func repeated() {
        var (once, often) = (rig(), rig())
        once.look(80)
        for _ in 0..<20 {
            often.look(80)
            once.run(0.05)
            often.run(0.05)
            #expect(abs(once.angles.yaw - often.angles.yaw) < 1e-9)
        }
    }

    @Test("an offset equal to the camera's present direction does not move the camera")
    func present() {
        var rig = PointingTests.Rig(.locked)
        rig.point(-50, 0, 0)
        rig.run(2)
        rig.change(.panFollow)
        rig.look(-50)
        rig.run(3) { #expect(abs($0.angles.yaw + 50) < 0.01) }
    }

    @Test("after more than one revolution, the camera turns to an offset on the shorter way")
    func revolutions() {
        var rig = PointingTests.Rig(.locked)
        rig.pointing.turn(
            at: AxisVector(yaw: 90 * Self.degree, roll: 0, pitch: 0),
            validUntil: Instant(seconds: 5))
        rig.run(6)
        rig.change(.panFollow)
        rig.run(3)
        let before = rig.motion.angles.yaw
        rig.look(20)
        rig.run(3)
        #expect(abs(rig.motion.angles.yaw - before) < 40 * Self.degree)
        #expect(abs(rig.angles.yaw - 20) < 0.01)
    }

    @Test("an offset beyond the joint's range stops softly at the end of the range")
    func end() {
        var rig = rig()
        rig.range.minimum.yaw = -45 * Self.degree
        rig.range.maximum.yaw = 45 * Self.degree
        rig.look(90)
        rig.run(2) { rig in
            #expect(rig.angles.yaw < 45.01)
            #expect(abs(rig.motion.accelerations.yaw) <= 3000 * Self.degree * 1.001)
        }
        // The joint limiter keeps a distance of 0.5° from the end.
        #expect(abs(rig.angles.yaw - 44.5) < 0.05)
    }

    /// Rig whose camera has a requested offset of 60°. From 2 s to 4 s, the handle turns 55° to the
    /// left, within its dead zone of 60°. The yaw joint then permits only an offset of 35°.
    private func blockedRig() -> PointingTests.Rig {
        var modes = ModeParameters()
        modes.panDeadZone = 60 * Self.degree
        var rig = PointingTests.Rig(.panFollow, modes: modes)
        rig.range.minimum.yaw = -90 * Self.degree
        rig.range.maximum.yaw = 90 * Self.degree
        rig.handle = {
            let turned = min(max($0 - 2, 0), 2) - min(max($0 - 5, 0), 2)
            return AxisVector(yaw: -27.5 * turned, roll: 0, pitch: 0)
        }
        rig.look(60)
        rig.run(4.5)
        return rig
    }

    @Test("a requested offset returns when the handle returns within its dead zone")
    func returns() {
        var rig = blockedRig()
        #expect(abs(rig.angles.yaw - 35) < 0.1)
        rig.run(4)
        #expect(abs(rig.angles.yaw - 60) < 0.1)
    }

    @Test("a turn leaves the end of the joint's range at once, also after an offset beyond it")
    func leavesTheEnd() {
        var rig = blockedRig()
        let before = rig.angles.yaw
        rig.turn(-30, until: 9)
        rig.run(0.5)
        #expect(before - rig.angles.yaw > 8)
    }

    @Test("a request for rates of 0 stops the motion to an offset, which a new request continues")
    func stop() {
        var rig = rig()
        rig.look(90, rate: 5)
        rig.run(2)
        rig.pointing.turn(at: .zero, validUntil: rig.now)
        rig.run(5)
        #expect(abs(rig.angles.yaw - 10) < 0.5)
        rig.look(90, rate: 20)
        rig.run(6)
        #expect(abs(rig.angles.yaw - 90) < 0.01)
    }

    @Test("a turn at a rate does not move the camera to the centre of the dead zone")
    func deadZone() {
        var rig = rig()
        rig.handle = { _ in AxisVector(yaw: 4, roll: 0, pitch: 0) }
        rig.run(1)
        // A stick that is deflected only in pitch requests a yaw rate of 0.
        rig.turn(0, until: 2)
        rig.run(2)
        #expect(rig.angles.yaw == 0)
        rig.turn(10, until: 4)
        rig.run(3)
        #expect(abs(rig.angles.yaw - 9.8) < 0.1)
    }

    @Test("a lead is smoothed like the handle's motion")
    func lead() {
        var rig = rig()
        rig.pointing.lookAside(yaw: .nan, rate: 0, lead: 10 * Self.degree, validUntil: rig.now)
        rig.run(0.2)
        #expect(rig.angles.yaw < 4)
        rig.run(3)
        #expect(abs(rig.angles.yaw - 10) < 0.05)
    }
}

extension PointingTests.Rig {
    /// Requests an offset, degrees, with a largest rate, degrees per second.
    fileprivate mutating func look(_ yaw: Double, rate: Double = 0) {
        pointing.lookAside(
            yaw: yaw * .pi / 180, rate: rate * .pi / 180, lead: 0, validUntil: now)
    }

    /// Turns the offset at a rate, degrees per second, until a time, s.
    fileprivate mutating func turn(_ rate: Double, until seconds: Double) {
        pointing.lookAside(
            yaw: .nan, rate: rate * .pi / 180, lead: 0, validUntil: Instant(seconds: seconds))
    }
}
