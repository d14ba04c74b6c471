import GimbalCore
import Testing
import Wire

@testable import Links

@Suite("Forecast of a turn to angles")
struct PointForecastTests {
    private static let degree = Double.pi / 180

    /// Limits of a request for a camera that is level, in a handle that is rolled by 10°. The roll
    /// joint has no servo, so its range is ±1°.
    private func limits(_ angles: AxisVector) -> [String] {
        var snapshot = StabilizerSnapshot()
        snapshot.output.enabled = true
        snapshot.jointSource = .encoders
        snapshot.joints.roll = -10 * Self.degree
        var range = JointRange()
        range.minimum.roll = -1 * Self.degree
        range.maximum.roll = 1 * Self.degree
        let forecast = PointForecast(
            snapshot: snapshot, parameters: SetpointGenerator.Parameters(), jointRange: range)
        return forecast.acknowledgement(angles, duration: 0, rate: 0, mode: .locked).limitedBy ?? []
    }

    @Test("the end of a joint's range is announced only if a requested angle is not reached")
    func requestedAxes() {
        let yaw = AxisVector(yaw: 20 * Self.degree, roll: .nan, pitch: .nan)
        #expect(limits(yaw) == [])
        let roll = AxisVector(yaw: .nan, roll: 0, pitch: .nan)
        #expect(limits(roll) == ["joints"])
    }

    @Test("with a low supply, the announced turn takes longer, and the sentence names the reason")
    func lowSupply() throws {
        func answer(isSlow: Bool, rate: Double = 0) -> Acknowledgement {
            var snapshot = StabilizerSnapshot()
            snapshot.output.enabled = true
            let parameters = SetpointGenerator.Parameters()
            snapshot.motion = MotionLimits(
                isSlow: isSlow, possible: .infinity, configured: parameters.maxAcceleration)
            let forecast = PointForecast(
                snapshot: snapshot, parameters: parameters, jointRange: JointRange())
            return forecast.acknowledgement(
                AxisVector(yaw: 120 * Self.degree, roll: .nan, pitch: .nan), duration: 0.3,
                rate: rate, mode: .locked)
        }
        let (full, slow) = (answer(isSlow: false), answer(isSlow: true))
        #expect(full.sentence.contains("motion.max_rate_dps makes the turn longer"))
        #expect(
            slow.sentence.contains(
                "motion.max_rate_dps (at present 50.0 % of it) makes the turn longer"))
        #expect(try #require(slow.durationS?.value) > 1.5 * #require(full.durationS?.value))
        // An assistant's request has both a duration and a rate.
        #expect(
            answer(isSlow: true, rate: 0.5).sentence.contains(
                "mcp.max_rate_dps or motion.max_rate_dps (at present 50.0 % of it) makes"))
    }
}
