import CMathShim
import Testing

@testable import GimbalCore

@Suite("Errors of the gyroscope in the filter")
struct GyroErrorTests {
    @Test("a new mounting resets the scale errors, which belong to the old axes")
    func turned() {
        var motion = SimulatedMotion()
        motion.scale = Vector3(0.01, 0.01, 0.01)
        motion.rate = { Vector3(cm_sin(2 * $0), cm_sin(3 * $0), 0) * 2 }
        var estimator = AttitudeEstimator(parameters: .undelayed)
        motion.run(&estimator, seconds: 30)
        #expect(estimator.scale.norm > 0.002)
        let turn = Quaternion(rotationVector: Vector3(0, 0, 1.5))
        estimator.turnBodyFrame(by: turn, bias: turn.rotate(estimator.bias))
        #expect(estimator.scale == .zero)
    }

    @Test(
        "products and outer products with the covariance of six errors equal those of a full matrix"
    )
    func blocks() {
        var noise = SeededNoise(seed: 5)
        var covariance = GyroCovariance(bias: 3, scale: 2)
        let a = GyroError(bias: noise.vector(), scale: noise.vector())
        let b = GyroError(bias: noise.vector(), scale: noise.vector())
        covariance.subtractOuter(a, times: 0.25)
        let product = covariance * b
        let diagonal = GyroError(bias: b.bias * 3, scale: b.scale * 2)
        let difference = product - (diagonal - a * (0.25 * a.dot(b)))
        #expect(difference.dot(difference) < 1e-24)
        let unit = GyroError(bias: Vector3(0, 1, 0), scale: .zero)
        let column = covariance.biasColumn(1) - covariance * unit
        #expect(column.dot(column) < 1e-24)
    }
}
