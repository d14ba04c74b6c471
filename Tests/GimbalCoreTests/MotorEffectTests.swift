import Testing

@testable import GimbalCore

@Suite("What motors do to the camera's rate")
struct MotorEffectTests {
    /// Whether a gyroscope is contradicted whose rate leaps by so many rad/s for two samples of 235 Hz, when the model of the servo
    /// turns steadily and its pulses come so often a second.
    private static func isContradicted(by leap: Double, told: Double, frameHz: Double) -> Bool {
        var effect = MotorEffect()
        var witness = GyroWitness()
        var servo = ServoController.Parameters()
        servo.framePeriod = 1 / frameHz
        let stairs = ServoController(parameters: servo).stairs
        let dt = 1 / 235.0
        for index in 0..<500 {
            effect.turn(
                rates: AxisVector(yaw: 0, roll: 0, pitch: told), stairs: stairs,
                limit: servo.maxRate, joints: .zero, dt: dt)
            let leaps = index % 100 == 98 || index % 100 == 99
            _ = witness.believes(
                rate: Vector3(0, leaps ? leap : 0, 0), joints: nil, isRepeated: false,
                motors: effect.motors, sensorDelay: 0, dt: dt)
        }
        return witness.isContradicted
    }

    /// The largest rate of a horn, over that which it is told, after pulses that each bring a frame's turn.
    private static func largest(frameHz: Double) -> Double {
        let (lag, dt) = (ServoController.Parameters().lag, 1e-5)
        var (angle, target, largest) = (0.0, 0.0, 0.0)
        var frame = -1
        for step in 0..<100_000 {
            let now = Int(Double(step) * dt * frameHz)
            if now != frame {
                frame = now
                target = Double(step) * dt
            }
            let rate = (target - angle) / lag
            angle += rate * dt
            if step > 50_000 { largest = max(largest, rate) }
        }
        return largest
    }

    @Test("a servo makes up for a frame within its lag", arguments: [333.0, 150, 73, 50])
    func stairs(frameHz: Double) {
        var servo = ServoController.Parameters()
        servo.framePeriod = 1 / frameHz
        let expected = Self.largest(frameHz: frameHz)
        #expect(abs(ServoController(parameters: servo).stairs / expected - 1) < 0.01)
    }

    @Test("pulses of 73 Hz may make the camera leap, those of 333 Hz less; without a turn none do")
    func leap() {
        #expect(!Self.isContradicted(by: 8, told: 1.7, frameHz: 73))
        #expect(Self.isContradicted(by: 8, told: 1.7, frameHz: 333))
        #expect(Self.isContradicted(by: 8, told: 0, frameHz: 73))
    }

    @Test("no pulse turns a servo faster than twice its fastest rate")
    func bound() {
        #expect(Self.isContradicted(by: 30, told: 10, frameHz: 50))
    }
}
