import Foundation
import Testing

@testable import GimbalCore

@Suite("Limits of the joints' ranges")
struct JointLimiterTests {
    @Test(
        "a set-point stops smoothly at the end of a joint's range, and returns when the handle returns"
    )
    func jointRange() {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { AxisVector(yaw: 0, roll: $0 < 3 ? 25 * $0 : 150 - 25 * $0, pitch: 0) }
        var last = rig.setpoint.rate
        rig.run(3) { rig in
            #expect((rig.setpoint.rate - last).norm < 0.02, "at \(rig.seconds) s")
            last = rig.setpoint.rate
        }
        #expect(rig.pointing.atLimit == AxisSet(yaw: false, roll: true, pitch: false))
        #expect(abs(rig.angles.roll - 30) < 0.01, "75 degrees less the 45 that the joint turns")
        rig.run(3)
        #expect(rig.pointing.atLimit.isEmpty)
        #expect(abs(rig.angles.roll) < 1e-9)
    }

    @Test(
        "when the handle turns past the end of yaw, the camera stays at that end and does not swing round"
    )
    func yawEnd() {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { AxisVector(yaw: -80 * min($0, 4), roll: 0, pitch: 0) }
        rig.run(4.5) { #expect($0.setpoint.rate.norm < 1.5) }
        // The handle is at -320 degrees, the camera 170 ahead of it.
        let relative = rig.angles.yaw + 320
        #expect(abs((relative - 170).remainder(dividingBy: 360)) < 0.01)
        #expect(rig.pointing.atLimit == AxisSet(yaw: true, roll: false, pitch: false))
    }

    @Test(
        "an attitude that is held while the motors cannot follow requests stays within the joints' ranges",
        arguments: [GimbalAxis.yaw, .roll])
    func heldWithinReach(axis: GimbalAxis) throws {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { time in
            axis == .yaw
                ? AxisVector(yaw: 60 * time, roll: 0, pitch: 0)
                : AxisVector(yaw: 0, roll: 20 * time, pitch: 0)
        }
        for _ in 0..<4000 {
            rig.tick += 1
            rig.setpoint = rig.pointing.hold(
                .identity, dt: 1e-3, handle: rig.pose, range: rig.range)
            let joints = try #require(rig.pose?.joints)
            #expect(rig.range.outside(joints * (1 - 1e-6)).isEmpty, "\(joints) at \(rig.seconds) s")
        }
        #expect(rig.pointing.atLimit.contains(axis))
    }

    @Test("a very short tick after a late tick does not move the set-point")
    func lateTick() {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { AxisVector(yaw: 15 * sin(6 * $0), roll: 3 * sin(5 * $0), pitch: 0) }
        for tick in 1...3000 {
            rig.tick += 1
            let dt = tick % 100 == 0 ? 1.98e-3 : tick % 100 == 1 ? 0.02e-3 : 1e-3
            let held = rig.pointing.hold(.identity, dt: dt, handle: rig.pose, range: rig.range)
            #expect(held.attitude.error(to: .identity).norm < 1e-9, "at \(rig.seconds) s")
            guard held.attitude.error(to: .identity).norm < 1e-9 else { return }
        }
    }

    @Test(
        "when a moving camera resumes beyond the end of a joint, the set-point is finite and within the range"
    )
    func resumesBeyondTheEnd() {
        for rate in [-3.0, -0.2, 0, 0.2, 3] {
            var rig = PointingTests.Rig(.locked)
            rig.handle = { _ in .zero }
            let camera = EulerZXY.quaternion(AxisVector(yaw: 2.99, roll: 0.8, pitch: 0.3))
            rig.setpoint = Setpoint(attitude: camera, rate: .zero)
            rig.pointing.resume(from: camera, rate: Vector3(rate, rate / 2, rate))
            rig.run(0.1) { rig in
                #expect(rig.setpoint.isFinite, "at \(rig.seconds) s from \(rate) rad/s")
                let joints = rig.pose?.joints ?? AxisVector(repeating: .nan)
                #expect(rig.range.contains(joints * (1 - 1e-6)), "\(joints)")
            }
        }
    }

    @Test(
        "set-points are smooth from -120° to +120° of pitch, through straight down and straight up")
    func throughTheVertical() {
        var rig = PointingTests.Rig(.locked)
        rig.range.minimum.pitch = -3
        rig.range.maximum.pitch = 3
        rig.point(25, 0, -120)
        rig.run(1)
        rig.point(25, 0, 120, duration: 2)
        var last = rig.setpoint
        rig.run(2) { rig in
            let turned = last.attitude.error(to: rig.setpoint.attitude) / 1e-3
            #expect((turned - (last.rate + rig.setpoint.rate) / 2).norm < 1e-3)
            #expect(abs(rig.setpoint.rate.x) < 1e-9 && abs(rig.setpoint.rate.z) < 1e-9)
            last = rig.setpoint
        }
        #expect(abs(rig.motion.angles.pitch - 120 * PointingTests.degree) < 1e-9)
    }

    @Test(
        "a joint that is beyond its range does not slow a turn of another axis",
        arguments: [GimbalAxis.yaw, .pitch], [0.0, 0.6])
    func turnsBesideTheEnd(axis: GimbalAxis, tremor: Double) {
        // A joint without a servo has a range of ±1°.
        for (limit, roll) in [(1.0, 10.0), (45.0, 60.0)] {
            var rig = PointingTests.Rig(.locked)
            rig.range.minimum.roll = -limit * PointingTests.degree
            rig.range.maximum.roll = limit * PointingTests.degree
            rig.handle = { AxisVector(yaw: 0, roll: roll + tremor * sin(13 * $0), pitch: 0) }
            rig.point(-40, 0, 0)
            rig.run(1)
            let start = rig.motion.angles
            let rate = 30 * PointingTests.degree
            rig.pointing.turn(
                at: axis == .yaw
                    ? AxisVector(yaw: rate, roll: 0, pitch: 0)
                    : AxisVector(yaw: 0, roll: 0, pitch: rate),
                validUntil: Instant(seconds: 9))
            var last = rig.motion.rates
            var largest = 0.0
            rig.run(2) { rig in
                largest = max(largest, (rig.motion.rates - last).norm)
                last = rig.motion.rates
            }
            // 3000 °/s² for 1 ms.
            #expect(largest < 3.1 * PointingTests.degree, "range ±\(limit)°, handle \(roll)°")
            let travel = (rig.motion.angles - start).norm * (180 / .pi)
            #expect(abs(travel - 59.5) < 0.2, "range ±\(limit)°, handle \(roll)°")
        }
    }

    @Test("the end of the yaw range does not slow a turn of pitch in the same request")
    func turnsDiagonally() {
        var rig = PointingTests.Rig(.locked)
        rig.range.minimum.yaw = -90 * PointingTests.degree
        rig.range.maximum.yaw = 90 * PointingTests.degree
        rig.run(0.1)
        rig.pointing.turn(
            at: AxisVector(yaw: 60, roll: 0, pitch: 20) * PointingTests.degree,
            validUntil: Instant(seconds: 9))
        var last = 0.0
        var largest = 0.0
        rig.run(3) { rig in
            largest = max(largest, abs(rig.motion.rates.pitch - last))
            last = rig.motion.rates.pitch
        }
        #expect(largest < 3.1 * PointingTests.degree, "3000 °/s² for 1 ms")
        #expect(abs(rig.angles.pitch - 59.7) < 0.2)
        #expect(abs(rig.angles.yaw - 90) < 0.1)
    }

    @Test(
        "a turn stops if the joints of a tilted handle cannot follow it, and the opposite turn moves the camera at once"
    )
    func tiltedHandle() {
        var rig = PointingTests.Rig(.locked)
        rig.handle = { _ in AxisVector(yaw: 0, roll: 0, pitch: 80) }
        rig.run(0.5)
        let turn = AxisVector(yaw: 30 * PointingTests.degree, roll: 0, pitch: 0)
        rig.pointing.turn(at: turn, validUntil: Instant(seconds: 9))
        rig.run(5)
        let end = rig.angles.yaw
        #expect((46...50).contains(rig.motion.angles.yaw * (180 / .pi)))
        rig.pointing.turn(at: turn * -1, validUntil: Instant(seconds: 9))
        rig.run(0.5)
        #expect(end - rig.angles.yaw > 8, "half a second at 30 °/s")
    }

    @Test(
        "a joint with a narrow range moves continuously, in the direction of the request, and equally to both ends",
        arguments: [0.5, 1, 1.5])
    func narrowRange(limit: Double) throws {
        var rig = PointingTests.Rig(.locked)
        rig.range.minimum.roll = -limit * PointingTests.degree
        rig.range.maximum.roll = limit * PointingTests.degree
        let step = 0.002
        let rolls = (-2000...2000).map { (index: Int) -> Double in
            let roll = Double(index) * step * PointingTests.degree
            rig.tick += 1
            let held = rig.pointing.hold(
                EulerZXY.quaternion(AxisVector(yaw: 0, roll: roll, pitch: 0)), dt: 1e-3,
                handle: rig.pose, range: rig.range)
            return EulerZXY.angles(held.attitude).roll * (180 / .pi)
        }
        let changes = zip(rolls, rolls.dropFirst()).map { $1 - $0 }
        let least = try #require(changes.min())
        let most = try #require(changes.max())
        #expect(least > -1e-9 && most < step * 1.001)
        let difference = try #require(zip(rolls, rolls.reversed()).map { abs($0 + $1) }.max())
        #expect(difference < 1e-9)
        let end = try #require(rolls.last)
        #expect(abs(end - limit) < 1e-9)
    }

    @Test("the same point turns the camera again after the end of a joint's range has stopped it")
    func repeatedPoint() {
        var rig = PointingTests.Rig(.locked)
        rig.range.maximum.pitch = 20 * PointingTests.degree
        rig.point(.nan, .nan, 45)
        rig.run(2)
        #expect(abs(rig.angles.pitch - 20) < 0.01)
        // A change of the mode ends the movement beyond the end of the range.
        rig.change(.panFollow)
        rig.handle = { AxisVector(yaw: 0, roll: 0, pitch: min(40 * ($0 - 2), 40)) }
        rig.run(2)
        #expect(rig.angles.pitch < 30)
        rig.point(.nan, .nan, 45)
        rig.run(2)
        #expect(abs(rig.angles.pitch - 45) < 0.01)
    }
}
