import Testing

@testable import GimbalCore

@Suite("The vertical at the start")
struct FirstVerticalTests {
    private static let gravity = 9.80665

    @Test("of a sensor at rest is the first sample's")
    func rest() {
        var vertical = FirstVertical()
        for _ in 0..<150 {
            vertical.note(
                gyro: .zero, accel: Vector3(0, 0, -Self.gravity), gravity: Self.gravity, dt: 1e-3)
        }
        #expect(vertical.isComplete && !vertical.isMean)
    }

    @Test("of a runner is a mean, though the force has gravity's length for 30 ms while it turns")
    func turning() {
        var vertical = FirstVertical()
        for tick in 0..<30 {
            let turn = Quaternion.aboutX(Double(tick) * 0.02)
            vertical.note(
                gyro: .zero, accel: turn.rotate(Vector3(0, 0, Self.gravity)),
                gravity: Self.gravity, dt: 1e-3)
        }
        #expect(vertical.isMean && !vertical.isComplete)
    }
}
