import Testing

@testable import GimbalCore

/// An encoder measures an angle within one turn. A joint's range can extend beyond half a turn.
@Suite("Joint ranges beyond half a turn")
struct EncoderRangeTests {
    private static let degree = Double.pi / 180

    private static func range(from lower: Double, to upper: Double) -> JointRange {
        var range = JointRange()
        range.minimum.yaw = lower * degree
        range.maximum.yaw = upper * degree
        return range
    }

    @Test(
        "the joint angle is the one in the range or nearest to it",
        arguments: [
            // Lower end, upper end, reading, joint angle.
            [-200.0, 150, 170, -190], [-200, 150, 157, -203], [-200, 150, 153, 153],
            [-200, 150, 20, 20], [-60, 290, -80, 280], [-60, 290, -64, -64],
            // The joint has turned beyond a symmetrical range, or a sensor counts turns.
            [-170, 170, 178, 178], [-170, 170, -178, -178], [-120, 120, 150, 150],
            [-200, 150, 200, 200], [-360, 360, 170, 170],
        ] as [[Double]])
    func angle(values: [Double]) {
        let range = Self.range(from: values[0], to: values[1])
        let angles = range.angles(
            of: AxisVector(yaw: values[2] * Self.degree, roll: 0, pitch: 0))
        #expect(abs(angles.yaw / Self.degree - values[3]) < 1e-9)
        #expect(angles.roll == 0 && angles.pitch == 0)
    }

    @Test("an endless joint keeps the encoder's angle")
    func endless() {
        let range = Self.range(from: -.infinity, to: .infinity)
        let reading = AxisVector(yaw: 3, roll: 0, pitch: 0)
        #expect(range.angles(of: reading) == reading)
    }

    /// Snapshot of a camera at rest whose yaw encoder reads 170°, with a range of -200° to 150°.
    private func snapshot(_ type: MotorType) -> StabilizerSnapshot {
        var parameters = Stabilizer.Parameters()
        parameters.motorType = type
        parameters.jointRange = Self.range(from: -200, to: 150)
        var stabilizer = Stabilizer(parameters: parameters)
        for tick in 1...20 {
            let now = Instant(nanoseconds: Int64(tick) * 5_000_000)
            var sample = IMUSample(
                time: now, gyro: Vector3(1e-6 * Double(tick % 7), 0, 0),
                accel: Vector3(0, 0, -9.80665))
            sample.joints = AxisVector(yaw: 170 * Self.degree, roll: 0, pitch: 0)
            sample.contents.insert(.joints)
            stabilizer.integrate(sample)
            _ = stabilizer.step(now: now)
        }
        return stabilizer.snapshot
    }

    @Test(
        "a motor with an encoder is not at the end of its joint",
        arguments: [MotorType.torque, .field])
    func motor(type: MotorType) {
        let snapshot = snapshot(type)
        #expect(abs(snapshot.joints.yaw / Self.degree + 190) < 1e-6)
        #expect(!snapshot.conditions.intersects(.jointLimit))
    }

    @Test("a servo keeps the angle within its travel")
    func servo() {
        let snapshot = snapshot(.servo)
        #expect(abs(snapshot.joints.yaw / Self.degree - 170) < 1e-6)
        #expect(snapshot.conditions.intersects(.jointLimit))
    }
}
