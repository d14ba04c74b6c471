import Testing

@testable import GimbalCore

@Suite("First estimate of the vertical")
struct FirstVerticalTests {
    private static let gravity = 9.80665

    @Test("the vertical of a sensor at rest is complete without a mean")
    func rest() {
        var vertical = FirstVertical()
        for _ in 0..<150 {
            vertical.note(
                gyro: .zero, accel: Vector3(0, 0, -Self.gravity), gravity: Self.gravity, dt: 1e-3)
        }
        #expect(vertical.isComplete && !vertical.isMean)
    }

    @Test("a force that rotates for 30 ms requires a mean, although it has gravity's magnitude")
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
