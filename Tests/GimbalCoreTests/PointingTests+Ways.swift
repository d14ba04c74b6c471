import CMathShim
import Testing

@testable import GimbalCore

// Direction in which the joints turn to the angles of a mode.
extension PointingTests {
    @Test(
        "retract turns each joint in the direction in which the joint can reach its pose",
        arguments: [
            (AxisVector(yaw: 0, roll: 0, pitch: 100), AxisVector(yaw: 0, roll: 0, pitch: -90)),
            (AxisVector(yaw: -100, roll: 0, pitch: 0), AxisVector(yaw: 150, roll: 0, pitch: 0)),
        ])
    func retractDirection(start: AxisVector, pose: AxisVector) {
        var modes = ModeParameters()
        modes.retractJoints = pose * Self.degree
        var rig = Rig(.locked, modes: modes)
        rig.point(start.yaw, 0, start.pitch)
        rig.run(2)
        rig.change(.retract)
        rig.run(15)
        let joints = JointKinematics.joints(attitude: rig.setpoint.attitude) * (180 / .pi)
        #expect(abs(joints.yaw - pose.yaw) < 0.1 && abs(joints.pitch - pose.pitch) < 0.1)
        let isRetracted = rig.pointing.isRetracted
        #expect(isRetracted)
    }

    @Test(
        "retract reaches its pose on a tilted handle, and locked then returns to the permitted range",
        arguments: [-60.0, -90, 50])
    func retractTilted(pitch: Double) {
        var rig = Rig(.locked)
        rig.handle = { _ in AxisVector(yaw: 0, roll: 0, pitch: pitch) }
        if pitch > 0 { rig.pointing.modes.retractJoints.pitch = 100 * Self.degree }
        let pose = rig.pointing.modes.retractJoints.pitch
        rig.run(1)
        rig.change(.retract)
        rig.run(12)
        let base = EulerZXY.quaternion(AxisVector(yaw: 0, roll: 0, pitch: pitch) * Self.degree)
        let joints = JointKinematics.joints(attitude: base.conjugate * rig.setpoint.attitude)
        #expect(abs(joints.pitch - pose) < 0.1 * Self.degree)
        let isRetracted = rig.pointing.isRetracted
        #expect(isRetracted)
        rig.change(.locked)
        rig.run(4)
        #expect(abs(rig.angles.pitch) < 0.1 && abs(rig.angles.roll) < 0.1)
    }

    @Test(
        "a camera that is folded on a tilted handle unfolds in the direction with room after a start",
        arguments: [-85.0, -95, -110], [Mode.locked, .panFollow, .fpv])
    func unfolds(pitch: Double, mode: Mode) {
        var rig = Rig(.locked)
        rig.handle = { _ in AxisVector(yaw: 0, roll: 0, pitch: pitch) }
        rig.run(1)
        rig.change(.retract)
        rig.run(12)
        let isRetracted = rig.pointing.isRetracted
        #expect(isRetracted)
        // The outputs are off in the rest pose, and a request switches them on.
        let attitude = rig.setpoint.attitude
        rig.pointing.letGo()
        rig.pointing.idle(at: attitude, rig.pose, rig.range)
        rig.change(mode)
        rig.pointing.takeOver(from: attitude, rig.pose, rig.range)
        rig.pointing.resume(from: attitude, rate: .zero)
        rig.run(8)
        let goal = mode == .fpv ? pitch : 0
        #expect(abs(rig.angles.pitch - goal) < 1.1 && abs(rig.angles.roll) < 0.1, "\(rig.angles)")
    }

    @Test("a start with a requested pitch angle beyond its range does not turn the camera over")
    func startBeyondRange() {
        var rig = Rig(.locked)
        rig.handle = { _ in AxisVector(yaw: 0, roll: 0, pitch: -100) }
        rig.pointing.idle(at: .identity, rig.pose, rig.range)
        let target = AxisVector(yaw: .nan, roll: .nan, pitch: 150) * Self.degree
        rig.pointing.point(
            Command.PointRequest(target: target, duration: 0), isEnabled: false)
        rig.pointing.takeOver(from: .identity, rig.pose, rig.range)
        // The range ends at 120°. Only 150°, outside the range, could be reached over -180°.
        rig.run(5) { rig in #expect(rig.angles.pitch > -1) }
        #expect(rig.angles.pitch > 15, "\(rig.angles)")
    }

    /// Rig in mode `locked` whose yaw joint has a range of -250° to 90°, and an angle of -200°.
    private func turnedRig() -> Rig {
        var rig = Rig(.locked)
        rig.range.minimum.yaw = -250 * Self.degree
        rig.range.maximum.yaw = 90 * Self.degree
        rig.pointing.turn(
            at: AxisVector(yaw: -60 * Self.degree, roll: 0, pitch: 0),
            validUntil: Instant(seconds: 3.4))
        rig.run(4)
        return rig
    }

    @Test(
        "a yaw joint that has turned by more than half a turn turns back to the handle's heading",
        arguments: [Mode.panFollow, .fpv, .neutral, .retract])
    func turnsBack(mode: Mode) {
        var rig = turnedRig()
        #expect(abs(rig.motion.angles.yaw + 200 * Self.degree) < 3 * Self.degree)
        rig.change(mode)
        rig.run(9)
        #expect(abs(rig.motion.angles.yaw) < 5.1 * Self.degree)
        #expect(abs(rig.angles.yaw) < 5.1)
    }

    @Test("a requested offset from the handle's heading also turns such a yaw joint back")
    func turnsBackAside() {
        var rig = turnedRig()
        rig.change(.panFollow)
        rig.pointing.lookAside(yaw: 20 * Self.degree, rate: 0, lead: 0, validUntil: rig.now)
        rig.run(4)
        #expect(abs(rig.motion.angles.yaw - 20 * Self.degree) < 0.1 * Self.degree)
        #expect(abs(rig.angles.yaw - 20) < 0.1)
    }

    @Test(
        "a heading that was requested while the outputs were off is reached in a direction with room",
        arguments: [(from: 0.0, to: 60.0), (from: 160, to: -140)])
    func startDirection(from: Double, to: Double) {
        var rig = Rig(.locked)
        rig.point(160, 0, 0)
        rig.run(2)
        // The outputs are off, and a hand turns the camera.
        let attitude = EulerZXY.quaternion(
            AxisVector(yaw: from, roll: 0, pitch: 0) * Self.degree)
        rig.pointing.letGo()
        rig.setpoint = Setpoint(attitude: attitude, rate: .zero)
        rig.pointing.idle(at: attitude, rig.pose, rig.range)
        // A forecast of the next start needs the room of the present joint angle.
        #expect(abs(rig.motion.yawRoom.up - (170 - from) * Self.degree) < 0.1 * Self.degree)
        let target = AxisVector(yaw: to, roll: .nan, pitch: .nan) * Self.degree
        rig.pointing.point(
            Command.PointRequest(target: target, duration: 0), isEnabled: false)
        rig.pointing.takeOver(from: attitude, rig.pose, rig.range)
        rig.run(5)
        #expect(abs(rig.angles.yaw - to) < 0.1, "\(rig.angles)")
    }

    @Test(
        "after a whole turn of the handle, the camera has the handle's direction again",
        arguments: [Mode.fpv, .neutral, .panFollow], [1.0, -1])
    func wholeTurn(mode: Mode, sign: Double) {
        var rig = Rig(mode)
        rig.pointing.parameters.minimum.yaw = -100 * Self.degree
        rig.pointing.parameters.maximum.yaw = 100 * Self.degree
        let turn = 60 * sign
        if case .fpv = mode {
            rig.handle = { AxisVector(yaw: 0, roll: 0, pitch: turn * min($0, 6)) }
        } else {
            rig.handle = { AxisVector(yaw: turn * min($0, 6), roll: 0, pitch: 0) }
        }
        rig.run(6) { rig in
            #expect(abs(rig.motion.rates.yaw) < 2 && abs(rig.motion.rates.pitch) < 2)
        }
        rig.run(5)
        // The dead zone of `pan_follow` is 5°.
        #expect(abs(rig.angles.yaw) < 5.1 && abs(rig.angles.pitch) < 1.1, "\(rig.angles)")
    }

    @Test("a handle that trembles at the end of the range does not turn the camera over")
    func tremblingEnd() {
        var rig = Rig(.fpv)
        rig.pointing.parameters.minimum.pitch = -.pi
        rig.pointing.parameters.maximum.pitch = .pi
        rig.handle = {
            AxisVector(yaw: 0, roll: 0, pitch: min(60 * $0, 180) + 4 * cm_sin(9 * $0))
        }
        rig.run(5)
        rig.run(5) { rig in #expect(abs(rig.motion.rates.pitch) < 1) }
    }

    @Test("tracking turns such a yaw joint back to its pan range")
    func turnsBackTracking() {
        var rig = turnedRig()
        rig.change(.tracking)
        for _ in 0..<60 {
            rig.pointing.track(pan: 0, tilt: 0, validUntil: rig.now.advanced(bySeconds: 1))
            rig.run(0.1)
        }
        #expect(abs(rig.angles.yaw + 90) < 1)
    }
}
