import GimbalCore
import Testing

@Suite("Contradictions between gravity and the estimate")
struct GravityWatchTests {
    private let gravity = 9.80665

    /// Feeds the constant readings of a still sensor for this time.
    private func feed(
        _ estimator: inout AttitudeEstimator, accel: Vector3, seconds: Double
    ) {
        for _ in 0..<Int(seconds * 200) {
            estimator.update(gyro: .zero, accel: accel, dt: 0.005)
        }
    }

    @Test(
        "a change of gravity's direction without rotation is not used for 5 s, and restarts the estimate within 7 s",
        arguments: [Vector3(9.80665, 0, 0), Vector3(0, -9.80665, 0), Vector3(0, 0, 9.80665)])
    func sideways(reading: Vector3) {
        var estimator = AttitudeEstimator(parameters: .init())
        feed(&estimator, accel: Vector3(0, 0, -gravity), seconds: 5)
        feed(&estimator, accel: reading, seconds: 5)
        #expect(estimator.isGravityDoubtful && estimator.refutations == 0)
        let down = estimator.attitude.inverseRotate(Vector3(0, 0, 1))
        #expect(down.z > 0.9999, "less than 0.8°")
        feed(&estimator, accel: Vector3(0, 0, -gravity), seconds: 1)
        #expect(!estimator.isGravityDoubtful)
        feed(&estimator, accel: reading, seconds: 7)
        #expect(estimator.refutations == 1)
    }

    @Test("a sudden inversion restarts the estimate within 7 s, in both earth frames")
    func flipped() {
        for down in [gravity, -gravity] {
            var estimator = AttitudeEstimator(
                parameters: .init(), restSpecificForce: Vector3(0, 0, down))
            feed(&estimator, accel: Vector3(0, 0, down), seconds: 5)
            #expect(estimator.refutations == 0)
            feed(&estimator, accel: Vector3(0, 0, -down), seconds: 7)
            #expect(estimator.refutations == 1)
            feed(&estimator, accel: Vector3(0, 0, -down), seconds: 3)
            #expect(estimator.refutations == 1 && estimator.isConverged)
            let up = estimator.attitude.rotate(Vector3(0, 0, -down))
            #expect((up - Vector3(0, 0, down)).norm < 0.1)
        }
    }

    @Test("free fall for 1 s, jumps and 0.5 g forward do not restart the estimate")
    func motion() {
        var estimator = AttitudeEstimator(parameters: .init())
        let rest = Vector3(0, 0, -gravity)
        feed(&estimator, accel: rest, seconds: 5)
        feed(&estimator, accel: .zero, seconds: 1)
        feed(&estimator, accel: rest, seconds: 2)
        for _ in 0..<5 {
            feed(&estimator, accel: rest * 3, seconds: 0.2)
            feed(&estimator, accel: .zero, seconds: 0.4)
        }
        feed(&estimator, accel: rest + Vector3(0.5 * gravity, 0, 0), seconds: 5)
        #expect(estimator.refutations == 0)
    }

    @Test("an accelerometer that reads zero restarts the estimate repeatedly")
    func dead() {
        var estimator = AttitudeEstimator(parameters: .init())
        feed(&estimator, accel: Vector3(0, 0, -gravity), seconds: 5)
        feed(&estimator, accel: .zero, seconds: 10)
        #expect(estimator.refutations > 2 && !estimator.isConverged)
        #expect(estimator.attitude.isFinite && estimator.bias.isFinite)
    }
}
