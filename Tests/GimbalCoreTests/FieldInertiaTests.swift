import Testing

@testable import GimbalCore

@Suite("Motors without encoders that shake the camera")
struct FieldInertiaTests {
    /// Simulates a swing of the pitch axis at 60 Hz with this share of the motor's torque, in steps
    /// of 1 ms.
    private static func run(_ search: inout FieldInertia, share: Double, seconds: Double) {
        for tick in 0..<Int(seconds * 1000) {
            let phase = 2 * Double.pi * 60 * Double(tick) * 1e-3
            search.watch(
                moment: Vector3(0, share * sine(phase), 0), largest: AxisVector(repeating: 1),
                rate: Vector3(0, -share * 100 / 377 * sine(phase + .pi / 2), 0),
                belief: AxisVector(repeating: 0.01), delay: 0.0035, dt: 1e-3)
        }
    }

    private static func sine(_ x: Double) -> Double { Quaternion.aboutX(2 * x).x }

    @Test("shaking is reported during the swing and for 3 s after it")
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

    @Test("reduced gains return when the motors are switched on, unless the inertia is measured")
    func restart() {
        let first = AxisVector(repeating: 0.01)
        for isProbed in [false, true] {
            var search = FieldInertia()
            Self.run(&search, share: 0.5, seconds: 0.3)
            let reduced = search.belief(first: first, isProbed: isProbed)
            #expect(reduced.pitch < 0.006)
            // The permitted acceleration of the set-point belongs to the camera's true inertia.
            #expect(abs(reduced.pitch / search.gainShares.pitch - 0.01) < 1e-9)
            search.restart(isProbed: isProbed)
            let pitch = search.belief(first: first, isProbed: isProbed).pitch
            #expect(isProbed ? pitch < 0.006 : pitch == 0.01)
            #expect(!search.isShaking)
        }
    }
}
