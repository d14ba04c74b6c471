import GimbalCore
import Identification
import Simulation
import Testing

@Suite("Autotune of servos")
struct ServoAutotuneTests {
    private static func loop(
        delay: Double = 0.015, lag: Double = 0.004, motion: HandleMotion = .still,
        tuning change: (inout ServoController.Parameters) -> Void = { _ in }
    ) -> SimulatedLoop {
        var loop = SimulatedLoop(BaseMotion(motion, seed: 1), motor: .servo) { gimbal, tuning in
            gimbal.servo.totalDelay = delay
            gimbal.servo.lag = lag
            change(&tuning.servo)
        }
        loop.run(seconds: 6)
        return loop
    }

    @Test("recovers a known servo from exact points")
    func exactFit() throws {
        let truth = ServoResponse(delay: 0.0124, lag: 0.0063, gain: 0.97)
        let points = [3.0, 8, 20, 50, 120, 300].map {
            ResponsePoint(
                omega: $0, response: truth.response(omega: $0), coherence: 1, periods: 4)
        }
        let (model, residual) = try #require(ServoResponse.fit(points))
        #expect(abs(model.delay - 0.0124) < 1e-4 && abs(model.lag - 0.0063) < 1e-4)
        #expect(abs(model.gain - 0.97) < 1e-3 && residual < 0.01)
    }

    @Test(
        "finds delay and lag of the default servo, held still or in the hand, and keeps the tuning",
        arguments: [HandleMotion.still, .handheld])
    func defaultServo(motion: HandleMotion) throws {
        var loop = Self.loop(motion: motion)
        let run = loop.autotune([.pitch])
        let servo = try #require(run.results.first?.servo, "\(String(describing: run.outcome))")
        #expect(abs(servo.design.parameters.delay - 0.011) < 0.001, "\(servo.model)")
        #expect(abs(servo.design.parameters.lag - 0.004) < 0.001, "\(servo.model)")
        #expect(abs(servo.model.gain - 1) < 0.03)
        #expect(abs(run.proposal.servo.trackerBandwidth / 62 - 1) < 0.2)
        #expect(servo.design.margins.areHealthy, "\(servo.design.margins)")
    }

    @Test(
        "finds a faster servo, with which the old tuning oscillates after a disturbance"
    )
    func fast() throws {
        var loop = Self.loop(delay: 0.011, lag: 0.0028)
        let run = loop.autotune([.yaw])
        let servo = try #require(run.results.first?.servo, "\(String(describing: run.outcome))")
        #expect(abs(servo.design.parameters.delay - 0.0082) < 0.001, "\(servo.model)")
        #expect(abs(servo.design.parameters.lag - 0.0028) < 0.001, "\(servo.model)")
    }

    @Test(
        "the proposal has margins of 6 dB and 45°, for any division of the response into delay and lag",
        arguments: [0.008, 0.0165, 0.033], [0, 0.1, 0.25, 0.5, 0.75])
    func healthy(whole: Double, lagging: Double) {
        let model = ServoResponse(delay: whole * (1 - lagging), lag: whole * lagging, gain: 1)
        let design = ServoDesign(
            present: ServoController.Parameters(), model: model, axis: .pitch,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(design.margins.areHealthy, "\(design.margins)")
        let stretch = min(0.0165 / whole, 1.5)
        #expect(design.parameters.trackerBandwidth > 0.4 * 62 * stretch)
    }

    @Test(
        "finds a servo twice as slow, with which the old tuning oscillates, and stops the oscillation"
    )
    func slow() throws {
        var loop = Self.loop(delay: 0.030, lag: 0.008)
        let run = loop.autotune([.pitch])
        let servo = try #require(run.results.first?.servo, "\(String(describing: run.outcome))")
        #expect(abs(servo.design.parameters.delay / 0.022 - 1) < 0.1, "\(servo.model)")
        #expect(abs(servo.design.parameters.lag / 0.008 - 1) < 0.2, "\(servo.model)")
        var tuned = loop.stabilizer.parameters
        tuned.servo = run.proposal.servo
        loop.stabilizer.apply(tuned)
        loop.run(seconds: 3.001)
        var largest = 0.0
        loop.run(seconds: 2.999) { largest = max(largest, $0.snapshot.attitudeError.norm) }
        #expect(largest < 0.005, "\(largest)")
    }

    @Test("ends at the next command from any source")
    func command() {
        var loop = Self.loop()
        loop.expectYielding()
    }
}
