import CMathShim
import Testing

@testable import GimbalCore

@Suite("Doubt about an estimate that is tilted against the mean force")
struct TiltDoubtTests {
    static let degree = Double.pi / 180
    static let gravity = 9.80665

    /// Time until the estimate with `force(time)` is doubted, s; nil if it is not. The force is
    /// relative to gravity, in the earth frame of the estimate.
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
        "a constant error of the estimate is reported: 5° within 17.5 s, 30° within 4.2 s",
        arguments: [(5.0, 17.5), (10, 9), (30, 4.2), (60, 3)])
    func wrong(degrees: Double, seconds: Double) throws {
        let lean = Vector3(
            cm_sin(degrees * Self.degree), 0, cm_cos(degrees * Self.degree))
        let time = try #require(Self.named(within: 60) { _ in lean })
        #expect(time < seconds, "\(time)")
    }

    @Test("a constant error of 3° is not reported")
    func slightly() {
        #expect(
            Self.named(within: 120) { _ in Vector3(0, cm_sin(3 * Self.degree), 1) } == nil)
    }

    @Test(
        "starts, stops and turns at walking and running speed are not reported",
        arguments: [1.5, 3, 4.5])
    func onFoot(speed: Double) {
        // The person takes 1 s to start, 1 s to turn round and 1 s to stop. Steps shake the camera
        // by 6 m/s² all the time.
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

    @Test("the doubt ends when the estimate is right again")
    func ends() {
        var doubt = TiltDoubt()
        for _ in 0..<2000 { doubt.note(force: Vector3(0.2, 0, 0.98), duration: 0.01) }
        #expect(doubt.isDoubtful)
        for _ in 0..<2000 { doubt.note(force: Vector3(0, 0, 1), duration: 0.01) }
        #expect(!doubt.isDoubtful)
    }

    @Test(
        "the drift of a filter that trusts the gyroscope too much is reported at an error below 8°")
    func drifting() {
        var parameters = AttitudeEstimator.Parameters()
        // The assumed motion is so large that the accelerometer has hardly any weight.
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
