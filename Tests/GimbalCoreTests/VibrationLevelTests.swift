import Foundation
import GimbalCore
import Testing

@Suite("Vibration level")
struct VibrationLevelTests {
    /// The level after 6 s of a sine on one axis of both sensors.
    private func level(
        hertz: Double, amplitude: Double, rate: Double = 1000
    ) -> VibrationLevel {
        var level = VibrationLevel()
        for index in 0..<Int(6 * rate) {
            let wave = amplitude * sin(2 * .pi * hertz * Double(index) / rate)
            level.update(
                gyro: Vector3(0, wave, 0), accel: Vector3(wave, 0, -9.81),
                dt: index == 0 ? 0 : 1 / rate)
        }
        return level
    }

    @Test("the level is the root mean square of the vibration", arguments: [53.0, 71, 120])
    func shaking(hertz: Double) {
        let level = level(hertz: hertz, amplitude: 5)
        let rms = 5 / 2.0.squareRoot()
        #expect(level.accelRMS > 0.82 * rms && level.accelRMS < 1.02 * rms)
        #expect(level.gyroRMS > 0.82 * rms && level.gyroRMS < 1.02 * rms)
    }

    @Test("the level is almost zero at the frequencies of walking", arguments: [1.0, 2.0])
    func walking(hertz: Double) {
        #expect(level(hertz: hertz, amplitude: 1).accelRMS < 0.02)
    }

    @Test("the level does not depend on the sample rate", arguments: [250.0, 400, 2000])
    func sampleRate(rate: Double) {
        let reference = level(hertz: 53, amplitude: 1).accelRMS
        #expect(abs(level(hertz: 53, amplitude: 1, rate: rate).accelRMS / reference - 1) < 0.15)
    }

    @Test("gravity and a gap between samples do not add to the level")
    func still() {
        var level = VibrationLevel()
        level.update(gyro: .zero, accel: Vector3(0, 0, -9.81), dt: 0)
        level.update(gyro: .zero, accel: Vector3(0, 0, -9.81), dt: 0.001)
        level.update(gyro: Vector3(1, 0, 0), accel: Vector3(9.81, 0, 0), dt: 0.5)
        level.update(gyro: Vector3(1, 0, 0), accel: Vector3(9.81, 0, 0), dt: 0.001)
        #expect(level.accelRMS == 0 && level.gyroRMS == 0)
    }

    @Test("the level falls within 5 s after the vibration ends")
    func ends() {
        var level = level(hertz: 53, amplitude: 5)
        for _ in 0..<5000 {
            level.update(gyro: .zero, accel: Vector3(0, 0, -9.81), dt: 0.001)
        }
        #expect(level.accelRMS < 0.4)
    }
}
