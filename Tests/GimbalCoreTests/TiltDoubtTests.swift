import CMathShim
import Testing

@testable import GimbalCore

@Suite("Doubt of an estimate that the force leans away from")
struct TiltDoubtTests {
    static let degree = Double.pi / 180
    static let gravity = 9.80665

    /// Seconds of `force(time)` (over gravity, earth frame of the estimate) until the doubt comes;
    /// nil = it does not.
    static func named(
        within seconds: Double, force: (Double) -> Vector3
    ) -> Double? {
        var doubt = TiltDoubt()
        for i in 1...Int(seconds * 200) {
            doubt.note(force: force(Double(i) * 0.005), duration: 0.005)
            if doubt.isDoubtful { return Double(i) * 0.005 }
        }
        return nil
    }

    @Test(
        "an estimate that stays wrong is named: 5° after 17 s, 30° after 4 s",
        arguments: [(5.0, 17.5), (10, 9), (30, 4.2), (60, 3)])
    func wrong(degrees: Double, seconds: Double) throws {
        let lean = Vector3(
            cm_sin(degrees * Self.degree), 0, cm_cos(degrees * Self.degree))
        let time = try #require(Self.named(within: 60) { _ in lean })
        #expect(time < seconds, "\(time)")
    }

    @Test("3° are not")
    func slightly() {
        #expect(
            Self.named(within: 120) { _ in Vector3(0, cm_sin(3 * Self.degree), 1) } == nil)
    }

    @Test(
        "whoever starts, stops and turns round is not, at any speed on foot",
        arguments: [1.5, 3, 4.5])
    func onFoot(speed: Double) {
        // A second to start, one to turn round, one to stop, and steps that shake by 6 m/s² all the
        // while.
        let named = Self.named(within: 60) { time in
            let step = 6 * cm_sin(2 * .pi * 2.7 * time)
            let push: Double =
                switch time {
                case 5..<6: speed
                case 12..<13: -2 * speed
                case 20..<21: speed
                default: 0
                }
            return Vector3((push + step) / Self.gravity, 0.5 * step / Self.gravity, 1)
        }
        #expect(named == nil)
    }

    @Test("it ends when the estimate is right again, and with another frame of the estimate")
    func ends() {
        var doubt = TiltDoubt()
        for _ in 0..<2000 { doubt.note(force: Vector3(0.2, 0, 0.98), duration: 0.01) }
        #expect(doubt.isDoubtful)
        for _ in 0..<2000 { doubt.note(force: Vector3(0, 0, 1), duration: 0.01) }
        #expect(!doubt.isDoubtful)
    }

    @Test("a filter that trusts the gyroscope too much, and drifts, is doubted before it is 8° off")
    func drifting() {
        var parameters = AttitudeEstimator.Parameters()
        // So lively a motion that the accelerometer says next to nothing.
        parameters.velocityNoiseDensity *= 300
        parameters.initialBiasSigma = 1e-4
        parameters.biasWalk = 0
        var estimator = AttitudeEstimator(parameters: parameters)
        estimator.restIsPlausible = false
        var doubt = TiltDoubt()
        var error = 0.0
        for _ in 0..<(200 * 60) where !doubt.isDoubtful {
            estimator.update(
                gyro: Vector3(0.3 * Self.degree, 0, 0), accel: Vector3(0, 0, -Self.gravity),
                dt: 0.005)
            doubt.follow(estimator)
            let up = estimator.attitude.inverseRotate(Vector3(0, 0, 1))
            error = cm_acos(min(up.z, 1)) / Self.degree
        }
        #expect(doubt.isDoubtful)
        #expect(error > 4 && error < 8, "\(error)")
    }
}
