import Testing

@testable import GimbalCore

@Suite("Motors without encoders that shake the camera")
struct FieldInertiaTests {
    /// Periods of 1 ms in which the pitch axis swings at 60 Hz with this share of its motor.
    private static func run(_ search: inout FieldInertia, share: Double, seconds: Double) {
        for tick in 0..<Int(seconds * 1000) {
            let phase = 2 * Double.pi * 60 * Double(tick) * 1e-3
            _ = search.watch(
                moment: Vector3(0, share * sine(phase), 0), largest: AxisVector(repeating: 1),
                rate: Vector3(0, -share * 100 / 377 * sine(phase + .pi / 2), 0),
                belief: AxisVector(repeating: 0.01), delay: 0.0035, dt: 1e-3)
        }
    }

    private static func sine(_ x: Double) -> Double { Quaternion.aboutX(2 * x).x }

    @Test("make its answer prove no wrong sign, but for three seconds after the last swing only")
    func bounded() {
        var search = FieldInertia()
        #expect(!search.isShaking)
        Self.run(&search, share: 0.5, seconds: 0.3)
        #expect(search.isShaking)
        Self.run(&search, share: 0, seconds: 2.5)
        #expect(search.isShaking)
        Self.run(&search, share: 0, seconds: 1)
        #expect(!search.isShaking)
    }
}
