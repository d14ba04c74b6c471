import Testing

@testable import GimbalCore

@Suite("Reduced gains while the motors shake the camera")
struct OscillationGuardTests {
    private static let all = AxisSet(yaw: true, roll: true, pitch: true)

    /// Simulates a swing of the pitch axis at 60 Hz with half of the motor's torque.
    private static func shake(_ shaking: inout OscillationGuard, seconds: Double) {
        for tick in 0..<Int(seconds * 1000) {
            let phase = 2 * Double.pi * 60 * Double(tick) * 1e-3
            _ = shaking.step(
                commanded: Vector3(0, 50 * sine(phase), 0), largest: AxisVector(repeating: 100),
                rate: Vector3(0, -50 / 377.0 * sine(phase + .pi / 2), 0), delay: 0.0035, dt: 1e-3)
        }
    }

    private static func sine(_ x: Double) -> Double { Quaternion.aboutX(2 * x).x }

    @Test("only the gains of the shaking axis drop within 0.3 s, and a measurement restores them")
    func lowers() {
        var shaking = OscillationGuard()
        Self.shake(&shaking, seconds: 0.3)
        #expect(shaking.oscillating == AxisSet(.pitch))
        #expect(shaking.share.pitch <= 0.5 && shaking.share.yaw == 1 && shaking.share.roll == 1)
        shaking.restoreGains(.pitch)
        #expect(shaking.oscillating.isEmpty && shaking.share.pitch == 1)
    }

    @Test(
        "the gains are restored if the smallest share does not stop the shaking, which has another cause"
    )
    func tolerates() {
        var shaking = OscillationGuard()
        for _ in 0..<5 { shaking.lower(Self.all) }
        #expect(shaking.share == AxisVector(repeating: 1 / 32.0))
        shaking.lower(Self.all)
        #expect(shaking.share == AxisVector(repeating: 1) && shaking.oscillating.isEmpty)
    }

    @Test("the gains do not change while the camera is at rest or is knocked")
    func innocent() {
        var shaking = OscillationGuard()
        for tick in 0..<2000 {
            let knock = tick == 1000 ? 40.0 : 0
            _ = shaking.step(
                commanded: Vector3(knock, 0, 0), largest: AxisVector(repeating: 100),
                rate: Vector3(knock * 1e-3, 0, 0), delay: 0.0035, dt: 1e-3)
        }
        #expect(shaking.share == AxisVector(repeating: 1) && shaking.oscillating.isEmpty)
    }
}
