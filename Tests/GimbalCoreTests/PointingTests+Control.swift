import Testing

@testable import GimbalCore

// Set-points when the outputs begin to control the camera, or continue to.
extension PointingTests {
    @Test(
        "a request that arrived before the motors could follow starts from the camera's attitude when they can follow"
    )
    func resumes() {
        let here = EulerZXY.quaternion(AxisVector(yaw: 3, roll: -2, pitch: 1) * Self.degree)
        var rig = Rig(.locked)
        rig.point(.nan, 0, -20, rate: 30)
        rig.pointing.resume(from: here, rate: .zero)
        rig.run(0.001)
        #expect(abs(rig.angles.pitch - 1) < 0.1)
        rig.run(3) { #expect(abs($0.motion.rates.pitch) < 30.1 * Self.degree) }
        #expect(abs(rig.angles.pitch + 20) < 0.01)
        #expect(abs(rig.angles.yaw) < 0.01 && abs(rig.angles.roll) < 0.01)

        rig = Rig(.locked)
        let turn = AxisVector(yaw: 10, roll: .nan, pitch: .nan) * Self.degree
        rig.pointing.turn(at: turn, validUntil: rig.now.advanced(bySeconds: 2))
        rig.pointing.resume(from: here, rate: .zero)
        rig.run(1)
        #expect(abs(rig.motion.rates.yaw - 10 * Self.degree) < 1e-6)
        rig.run(2)
        #expect(rig.motion.rates.yaw == 0)

        rig = Rig(.tracking)
        rig.pointing.track(
            pan: 10 * Self.degree, tilt: 0, validUntil: rig.now.advanced(bySeconds: 2))
        rig.pointing.resume(from: here, rate: .zero)
        rig.run(1)
        #expect(abs(rig.motion.rates.yaw - 10 * Self.degree) < 1e-6)
    }

    @Test("an axis at rest returns to its angle, and a timed turn keeps its time of arrival")
    func resumesAtRest() {
        let tilted = EulerZXY.quaternion(AxisVector(yaw: 0, roll: 4, pitch: -3) * Self.degree)
        var rig = Rig(.locked)
        rig.pointing.turn(at: AxisVector(yaw: 0.1, roll: 0.1, pitch: 0), validUntil: rig.now)
        rig.pointing.turn(at: .zero, validUntil: rig.now)
        rig.run(1)
        let before = rig.angles
        rig.pointing.resume(from: tilted, rate: .zero)
        rig.run(2)
        #expect(abs(rig.angles.roll - before.roll) < 0.01)
        #expect(abs(rig.angles.pitch - before.pitch) < 0.01)

        rig = Rig(.locked)
        rig.point(.nan, 0, -20, duration: 10)
        rig.run(9)
        rig.pointing.resume(from: .identity, rate: .zero)
        rig.run(3)
        #expect(abs(rig.angles.pitch + 20) < 0.01)
    }

    @Test("a camera that turns when control begins is brought to rest within the limits")
    func resumesInMotion() {
        var rig = Rig(.locked)
        rig.point(0, 0, 0)
        rig.run(1)
        rig.pointing.resume(from: .identity, rate: Vector3(0, 1, 0))
        rig.run(0.001)
        #expect(abs(rig.motion.rates.pitch - 1) < 0.1)
        let limit = SetpointGenerator.Parameters().maxAcceleration.pitch
        rig.run(1) { #expect(abs($0.motion.accelerations.pitch) < 1.01 * limit) }
        #expect(abs(rig.angles.pitch) < 0.01)
    }
}
