import Foundation
import GimbalCore
import Simulation
import Testing

/// How much of a handle's swing, or how much more, a camera on servos makes at each frequency.
@Suite("Servos' sensitivity to the handle")
struct ServoSensitivityTests {
    /// Amplitude of the handle's swing at each frequency, degrees: a walker's, five times as large
    /// from 8 Hz on, where the dead band of 0.2° would hide it.
    private static let swings: [(hertz: Double, degrees: Double)] = [
        (1.5, 1.5), (3, 1), (5.5, 0.5), (8.5, 0.6), (12.5, 0.5), (19, 0.4),
    ]
    /// Before this the motion begins and the estimate settles, s.
    private static let settled = 8.0
    /// What the frequencies have a whole number of periods in, s.
    private static let measured = 20.0

    /// A handle that swings at all frequencies at once about its pitch axis, the first second
    /// still.
    private static func swinging() -> RecordedMotion {
        let rate = 500.0
        let samples = (0..<Int((settled + measured + 2) * rate)).map { index in
            let time = Double(index) / rate
            let share = min(max(time - 1, 0), 1)
            var (angle, turning) = (0.0, 0.0)
            for (order, swing) in swings.enumerated() {
                let omega = 2 * Double.pi * swing.hertz
                let size = swing.degrees * .pi / 180 * share * share
                angle += size * sin(omega * time + Double(order))
                turning += size * omega * cos(omega * time + Double(order))
            }
            return IMUSample(
                time: Instant(nanoseconds: Int64(time * 1e9)), gyro: Vector3(0, turning, 0),
                accel: Quaternion.aboutY(angle).inverseRotate(Vector3(0, 0, -9.80665)))
        }
        return RecordedMotion(samples, sampleRate: rate)
    }

    /// Camera over handle at each frequency, amplitudes of the true pitch.
    private static func ratios(later: Double) -> [(hertz: Double, ratio: Double)] {
        var loop = SimulatedLoop(BaseMotion(swinging(), stillDuration: 0), motor: .servo) {
            $0.servo.totalDelay += later
            // Tremor as large and as lasting as this is taken for an oscillation.
            $1.servo.watchesOscillation = false
        }
        loop.run(seconds: settled)
        var sums = swings.map { _ in (handle: Complex(0), camera: Complex(0)) }
        loop.run(seconds: measured) { loop in
            let handle = EulerZXY.angles(loop.gimbal.base.attitude).pitch
            let camera = EulerZXY.angles(loop.gimbal.attitude).pitch
            for (index, swing) in swings.enumerated() {
                let turn = Complex(phase: -2 * .pi * swing.hertz * loop.seconds)
                sums[index].handle = sums[index].handle + turn * handle
                sums[index].camera = sums[index].camera + turn * camera
            }
        }
        return zip(swings, sums).map {
            ($0.hertz, $1.camera.magnitude / $1.handle.magnitude)
        }
    }

    /// A loop behind a delay has to pay for what it takes away at low frequencies by what it adds
    /// above (Bode's integral): with at most 1.2 at every frequency, three times as much of 1 to 4
    /// Hz would be left.
    @Test(
        "steps are taken away, 8.5 Hz is amplified by 1.2 at most, and no tremor by 2.5",
        arguments: [0, 0.002])
    func sensitivity(later: Double) {
        let bars = [1.5: 0.12, 3: 0.25, 5.5: 0.65, 8.5: 1.2, 12.5: 2, 19: 2.5]
        for (hertz, ratio) in Self.ratios(later: later) {
            #expect(ratio < bars[hertz] ?? 0, "at \(hertz) Hz")
        }
    }
}
