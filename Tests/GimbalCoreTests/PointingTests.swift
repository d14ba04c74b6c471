import Testing

@testable import GimbalCore

/// Tests of `Pointing` with a handle that follows a script.
@Suite("Pointing in each mode")
struct PointingTests {
    static let degree = Double.pi / 180

    /// Camera that is always at the set-point, on a handle that follows a script.
    struct Rig {
        var pointing: Pointing
        var tick = 0
        var range = JointRange()
        /// Attitude of the handle at a time; nil if it is unknown.
        var handle: (Double) -> AxisVector? = { _ in .zero }
        var setpoint = Setpoint(attitude: .identity, rate: .zero)

        init(_ mode: Mode, modes: ModeParameters = ModeParameters()) {
            pointing = Pointing(
                mode: mode, parameters: SetpointGenerator.Parameters(), modes: modes)
            pointing.takeOver(from: .identity, nil, range)
        }

        var now: Instant { Instant(nanoseconds: Int64(tick) * 1_000_000) }
        var seconds: Double { Double(tick) * 1e-3 }
        var angles: AxisVector { EulerZXY.angles(setpoint.attitude) * (180 / .pi) }
        var motion: PointingSnapshot { pointing.snapshot(now: now) }

        /// Pose of the handle while the camera is at the set-point.
        var pose: HandlePose? {
            guard let angles = handle(seconds) else { return nil }
            let base = EulerZXY.quaternion(angles * PointingTests.degree)
            let relative = base.conjugate * setpoint.attitude
            return HandlePose(attitude: base, joints: JointKinematics.joints(attitude: relative))
        }

        mutating func step() {
            tick += 1
            pointing.endTracking(now: now)
            setpoint = pointing.step(now: now, dt: 1e-3, handle: pose, range: range)
        }

        mutating func run(_ seconds: Double, each: (Rig) -> Void = { _ in }) {
            for _ in 0..<Int((seconds * 1000).rounded()) {
                step()
                each(self)
            }
        }

        mutating func change(_ mode: Mode) { pointing.change(to: mode, now: now) }

        mutating func point(
            _ yaw: Double, _ roll: Double, _ pitch: Double, duration: Double = 0, rate: Double = 0
        ) {
            let target = AxisVector(yaw: yaw, roll: roll, pitch: pitch) * PointingTests.degree
            let turn = Command.PointRequest(
                target: target, duration: duration, rate: rate * PointingTests.degree)
            pointing.point(turn, isEnabled: true)
        }
    }

    static let turning: @Sendable (Double) -> AxisVector? = { time in
        AxisVector(yaw: 30 * time, roll: 8 * time, pitch: -10 * time)
    }

    @Test("locked holds the commanded attitude in the earth frame while the handle turns")
    func locked() {
        var rig = Rig(.locked)
        rig.handle = { AxisVector(yaw: 40 * $0, roll: 0, pitch: 0) }
        rig.point(10, 0, -30)
        rig.run(2)
        let angles = rig.angles
        #expect(abs(angles.yaw - 10) < 1e-9 && abs(angles.pitch + 30) < 1e-9)
        #expect(rig.setpoint.rate == .zero)
    }

    @Test("pan_follow follows the handle's heading beyond the dead zone, and holds roll and pitch")
    func panFollow() {
        var rig = Rig(.panFollow)
        rig.handle = { AxisVector(yaw: $0 < 1 ? 4 : 60, roll: 20, pitch: -25) }
        rig.point(.nan, 0, -15)
        rig.run(0.9)
        #expect(rig.angles.yaw == 0, "4 degrees are within the dead zone of 5")
        rig.run(4)
        #expect(abs(rig.angles.yaw - 55) < 0.1)
        #expect(abs(rig.angles.roll) < 1e-9 && abs(rig.angles.pitch + 15) < 1e-9)
    }

    @Test("pan_follow follows several turns of the handle, without a jump at 180°")
    func panFollowRound() {
        var rig = Rig(.panFollow)
        rig.handle = { AxisVector(yaw: 60 * $0, roll: 0, pitch: 0) }
        rig.run(1.5)
        rig.run(11) { #expect(abs($0.setpoint.rate.z * (180 / .pi) - 60) < 2) }
        #expect(rig.motion.angles.yaw > 2 * .pi)
    }

    @Test(
        "the set-point follows the handle at the maximum rate of the preset",
        arguments: [40.0, 90, 200])
    func presets(rate: Double) {
        var modes = ModeParameters()
        modes.follow = FollowTuning(
            maxRate: AxisVector(repeating: rate * Self.degree),
            smoothing: AxisVector(repeating: 0.3))
        var rig = Rig(.panFollow, modes: modes)
        rig.handle = { _ in AxisVector(yaw: 125, roll: 0, pitch: 0) }
        var fastest = 0.0
        rig.run(6) { fastest = max(fastest, $0.setpoint.rate.norm * (180 / .pi)) }
        #expect(fastest <= rate * 1.01 && fastest > rate * 0.9)
        #expect(abs(rig.angles.yaw - 120) < 0.1)
    }

    @Test("fpv follows the handle on all axes")
    func fpv() {
        var rig = Rig(.fpv)
        rig.handle = { _ in AxisVector(yaw: 30, roll: -12, pitch: 25) }
        rig.run(4)
        let rest = rig.angles - AxisVector(yaw: 29, roll: -11, pitch: 24)
        #expect(abs(rest.yaw) < 0.1 && abs(rest.roll) < 0.1 && abs(rest.pitch) < 0.1)
    }

    @Test("neutral is level, and points in the handle's direction")
    func neutral() {
        var rig = Rig(.neutral)
        rig.point(.nan, .nan, -40)
        rig.handle = { _ in AxisVector(yaw: 70, roll: -12, pitch: 25) }
        rig.run(5)
        #expect(abs(rig.angles.yaw - 70) < 0.1)
        #expect(abs(rig.angles.roll) < 0.01 && abs(rig.angles.pitch) < 0.01)
    }

    @Test("retract moves the joints to their pose at a limited rate, and reports the arrival")
    func retract() {
        var modes = ModeParameters()
        modes.retractJoints = AxisVector(yaw: 20, roll: 10, pitch: -80) * Self.degree
        var rig = Rig(.retract, modes: modes)
        rig.handle = { _ in AxisVector(yaw: 50, roll: 5, pitch: 10) }
        let fastest = modes.retractRate * 1.02
        rig.run(1) { rig in
            let rates = rig.motion.rates
            #expect(abs(rates.yaw) <= fastest && abs(rates.pitch) <= fastest)
        }
        #expect(!rig.pointing.isRetracted)
        rig.run(8)
        let base = EulerZXY.quaternion(AxisVector(yaw: 50, roll: 5, pitch: 10) * Self.degree)
        let joints = JointKinematics.joints(attitude: base.conjugate * rig.setpoint.attitude)
        let error = joints - modes.retractJoints
        #expect(abs(error.yaw) < 0.01 && abs(error.roll) < 0.01 && abs(error.pitch) < 0.01)
        #expect(rig.pointing.isRetracted)
    }

    @Test(
        "retract reports the arrival at an angle of the joint's next revolution",
        arguments: [0.0, 180])
    func retractAfterRevolution(yaw: Double) {
        var modes = ModeParameters()
        modes.retractJoints = AxisVector(yaw: yaw, roll: 0, pitch: 0) * Self.degree
        var rig = Rig(.retract, modes: modes)
        rig.range.minimum.yaw = -.infinity
        rig.range.maximum.yaw = .infinity
        for tick in 0..<10_000 {
            let joints = JointKinematics.joints(attitude: rig.setpoint.attitude)
            // An encoder's noise at ±180° also changes the revolution.
            let revolution = AxisVector(yaw: tick % 2 == 0 ? 2 * .pi : 0, roll: 0, pitch: 0)
            rig.tick += 1
            rig.setpoint = rig.pointing.step(
                now: rig.now, dt: 1e-3,
                handle: HandlePose(attitude: .identity, joints: joints - revolution),
                range: rig.range)
        }
        let isRetracted = rig.pointing.isRetracted
        #expect(isRetracted)
    }

    @Test(
        "a mode that is selected while the outputs still ramp down levels the camera, as a start does",
        arguments: [Mode.fpv, .retract], [Mode.locked, .panFollow])
    func briefPause(before: Mode, after: Mode) {
        var rig = Rig(before)
        let handle = before == .fpv ? AxisVector(yaw: 0, roll: 25, pitch: -15) : .zero
        rig.handle = { _ in handle }
        rig.run(6)
        #expect(abs(rig.angles.pitch) > 10)
        rig.change(.inactive)
        rig.run(0.1)
        rig.change(after)
        rig.run(4)
        #expect(abs(rig.angles.roll) < 1e-6 && abs(rig.angles.pitch) < 1e-6, "\(rig.angles)")
        #expect(abs(rig.angles.yaw) < 1)
    }

    @Test("a change of the mode never makes the set-point jump in angle, rate or acceleration")
    func noJerk() {
        let order: [Mode] = [
            .locked, .panFollow, .fpv, .tracking, .neutral, .retract, .locked, .fpv, .panFollow,
            .tracking, .fpv, .locked, .neutral, .fpv, .inactive, .fpv, .retract, .panFollow,
        ]
        var rig = Rig(.fpv)
        rig.handle = Self.turning
        rig.run(0.4)
        let limits = SetpointGenerator.Parameters()
        var last = rig.motion
        for (index, mode) in order.enumerated() {
            rig.change(mode)
            if index % 3 == 0 { rig.point(50, 0, -20) }
            rig.run(0.07 + 0.05 * Double(index % 5)) { rig in
                let next = rig.motion
                let jerk = (next.accelerations - last.accelerations) * 1e3
                #expect(abs(jerk.yaw) <= limits.maxJerk.yaw * 1.05, "\(mode)")
                #expect(abs(jerk.roll) <= limits.maxJerk.roll * 1.05, "\(mode)")
                #expect(abs(jerk.pitch) <= limits.maxJerk.pitch * 1.05, "\(mode)")
                let step = next.angles - last.angles - (next.rates + last.rates) * 0.5e-3
                #expect(abs(step.yaw) < 1e-5 && abs(step.roll) < 1e-5 && abs(step.pitch) < 1e-5)
                last = next
            }
        }
    }

    @Test(
        "repeating a request does not change the set-point",
        arguments: [Mode.locked, .panFollow, .tracking])
    func repeated(mode: Mode) {
        var rig = Rig(.locked)
        var twin = Rig(.locked)
        func ask(_ rig: inout Rig) {
            let until = Instant(nanoseconds: 5_000_000_000)
            rig.change(mode)
            if mode == .tracking {
                rig.pointing.track(pan: 0.4, tilt: -0.2, validUntil: until)
            } else {
                rig.point(.nan, 5, -30, duration: 0.5)
            }
        }
        rig.handle = Self.turning
        twin.handle = Self.turning
        ask(&rig)
        ask(&twin)
        for _ in 0..<700 {
            ask(&twin)
            rig.step()
            twin.step()
            #expect(rig.setpoint.attitude == twin.setpoint.attitude)
            #expect(rig.setpoint.rate == twin.setpoint.rate)
            #expect(rig.setpoint.acceleration == twin.setpoint.acceleration)
        }
        #expect(rig.setpoint.attitude != .identity)
    }

    @Test("repeating a rate only extends its dead-man time")
    func repeatedRate() {
        var rig = Rig(.locked)
        var twin = Rig(.locked)
        let rate = AxisVector(yaw: 0.5, roll: 0, pitch: 0.1)
        rig.pointing.turn(at: rate, validUntil: Instant(nanoseconds: 2_000_000_000))
        for _ in 0..<900 {
            twin.pointing.turn(at: rate, validUntil: twin.now.advanced(bySeconds: 0.5))
            rig.step()
            twin.step()
            #expect(rig.setpoint.attitude == twin.setpoint.attitude)
        }
    }

    @Test("a turn of yaw does not end the levelling of the horizon; rates of zero stop every axis")
    func levelsWhileTurning() {
        var rig = Rig(.fpv)
        rig.handle = { _ in AxisVector(yaw: 0, roll: 30, pitch: 0) }
        rig.run(4)
        #expect(abs(rig.angles.roll) > 25)
        rig.change(.locked)
        let turn = AxisVector(yaw: 0.2, roll: 0, pitch: 0)
        rig.pointing.turn(at: turn, validUntil: rig.now.advanced(bySeconds: 3))
        rig.run(2)
        #expect(abs(rig.angles.roll) < 1e-6)
        #expect(abs(rig.motion.rates.yaw - 0.2) < 1e-6)

        rig.point(.nan, 20, -30, duration: 2)
        rig.run(1)
        rig.pointing.turn(at: .zero, validUntil: rig.now)
        rig.run(0.5)
        #expect(!rig.pointing.isMoving)
        #expect((5...15).contains(rig.angles.roll))
    }

    @Test("the end of a turn does not end the movement to level that a mode has started")
    func levelsAfterTurn() {
        var rig = Rig(.fpv)
        rig.handle = { _ in AxisVector(yaw: 0, roll: 30, pitch: 0) }
        rig.run(4)
        rig.change(.locked)
        let turn = AxisVector(yaw: 0.2, roll: 0, pitch: 0)
        rig.pointing.turn(at: turn, validUntil: rig.now.advanced(bySeconds: 3))
        rig.run(0.2)
        #expect(abs(rig.angles.roll) > 5)
        rig.pointing.turn(at: .zero, validUntil: rig.now)
        rig.run(3)
        #expect(abs(rig.angles.roll) < 1e-6)
        #expect(!rig.pointing.isMoving)
    }

    @Test("an axis that turns at a rate stops when its rate becomes 0 while another axis turns")
    func stopsOneAxis() {
        var rig = Rig(.locked)
        let until = Instant(seconds: 3)
        rig.pointing.turn(at: AxisVector(yaw: 0.2, roll: 0, pitch: 0.3), validUntil: until)
        rig.run(1)
        rig.pointing.turn(at: AxisVector(yaw: 0.2, roll: 0, pitch: 0), validUntil: until)
        rig.run(1)
        #expect(rig.motion.rates.pitch == 0 && abs(rig.motion.rates.yaw - 0.2) < 1e-6)
    }

    @Test(
        "without joint angles a following mode holds still and reports this; it continues with new angles"
    )
    func blind() {
        var rig = Rig(.fpv)
        rig.handle = { $0 > 1 && $0 < 2 ? nil : AxisVector(yaw: 40 * $0, roll: 0, pitch: 0) }
        rig.run(1.3)
        #expect(rig.pointing.isBlind && rig.pointing.mode == .fpv)
        #expect(rig.setpoint.rate.norm < 1e-9)
        rig.run(1.5)
        #expect(!rig.pointing.isBlind)
        #expect(rig.setpoint.rate.z > 0.5)
    }

    @Test("a boot mode without joint angles becomes locked, until a mode is requested")
    func bootMode() {
        var pointing = Pointing(
            mode: .fpv, parameters: SetpointGenerator.Parameters(), modes: ModeParameters())
        let now = Instant(nanoseconds: 0)
        pointing.judgeBootMode(showsJoints: false)
        #expect(pointing.mode == .locked && pointing.isBootModeMissing)
        pointing.change(to: .locked, now: now)
        #expect(!pointing.isBootModeMissing)
    }
}
