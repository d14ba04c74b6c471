import Testing

@testable import GimbalCore

@Suite("What motors do to the camera's rate")
struct MotorEffectTests {
    /// Whether a gyroscope is contradicted whose rate leaps by 8 rad/s for two samples of 235 Hz, as a servo's horn turns when
    /// a pulse of 73 Hz brings the turn of three samples at once.
    private static func isContradicted(told: Double) -> Bool {
        var effect = MotorEffect()
        var witness = GyroWitness()
        let dt = 1 / 235.0
        for index in 0..<500 {
            effect.turn(
                rates: AxisVector(yaw: 0, roll: 0, pitch: told),
                limit: AxisVector(repeating: 600 * .pi / 180), joints: .zero, dt: dt)
            let leaps = index % 100 == 98 || index % 100 == 99
            _ = witness.believes(
                rate: Vector3(0, leaps ? 8 : 0, 0), joints: nil, isRepeated: false,
                motors: effect.motors, sensorDelay: 0, dt: dt)
        }
        return witness.isContradicted
    }

    @Test("a servo may turn in stairs; a leap of the gyroscope without any turn is a fault")
    func stairs() {
        #expect(!Self.isContradicted(told: 0.9))
        #expect(Self.isContradicted(told: 0))
    }
}
