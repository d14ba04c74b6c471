import CMathShim
import GimbalCore
import Testing

@Suite("Filters on the controller's rate")
struct RateFilterTests {
    static func filters(_ notches: [Notch], lowPass: Double = 0, order: Int = 2)
        -> RateFilter.Parameters
    {
        var parameters = RateFilter.Parameters()
        parameters.pitch = RateFilter.Axis(
            notches: notches, lowPassHz: lowPass, order: order, sampleRate: 1000)
        return parameters
    }

    /// Gain of the running filter at a frequency, measured in the last second of two.
    static func gain(_ parameters: RateFilter.Parameters, hz: Double) -> Double {
        var filter = RateFilter(parameters: parameters)
        var sum = 0.0
        for tick in 0..<2000 {
            let x = cm_sin(2 * .pi * hz * Double(tick) / 1000)
            let y = filter.step(Vector3(0, x, 0), dt: 0.001).y
            if tick >= 1000 { sum += y * y }
        }
        return (2 * sum / 1000).squareRoot()
    }

    @Test("without filters every value passes unchanged on every axis")
    func identity() {
        var filter = RateFilter(parameters: RateFilter.Parameters())
        for value in [0.1, -3.7, 1e-9, 0] {
            let rate = Vector3(value, 2 * value, -value)
            #expect(filter.step(rate, dt: 0.001) == rate)
        }
    }

    @Test(
        "a notch attenuates by its depth at its centre, and hardly attenuates distant frequencies"
    )
    func notch() {
        let parameters = Self.filters([Notch(hz: 80, q: 3, depth: 20)])
        #expect(abs(Self.gain(parameters, hz: 80) - 0.1) < 0.005)
        #expect(abs(Self.gain(parameters, hz: 5) - 1) < 0.01)
        #expect(abs(Self.gain(parameters, hz: 400) - 1) < 0.03)
    }

    @Test("a low-pass of first or second order has -3 dB at its corner", arguments: [1, 2])
    func lowPass(order: Int) {
        let parameters = Self.filters([], lowPass: 60, order: order)
        #expect(abs(Self.gain(parameters, hz: 60) - 0.7071) < 0.005)
        #expect(abs(Self.gain(parameters, hz: 2) - 1) < 0.01)
        #expect(Self.gain(parameters, hz: 300) < (order == 1 ? 0.2 : 0.04))
    }

    @Test("the response for the margins equals the response of the running filter")
    func response() {
        let parameters = Self.filters(
            [Notch(hz: 80, q: 3, depth: 20), Notch(hz: 150, q: 5, depth: 10)], lowPass: 200)
        for hz in [10.0, 60, 80, 120, 150, 250] {
            let expected = parameters.pitch.response(omega: 2 * .pi * hz).magnitude
            #expect(abs(Self.gain(parameters, hz: hz) - expected) < 0.01, "\(hz) Hz")
        }
    }

    @Test("a change of the filters at run time causes no jump, and removed filters have no effect")
    func bumpless() {
        let parameters = Self.filters([Notch(hz: 80)], lowPass: 40)
        var filter = RateFilter(parameters: RateFilter.Parameters())
        var last = 0.0
        var largest = 0.0
        for tick in 0..<2000 {
            if tick == 500 { filter.apply(parameters) }
            if tick == 1000 { filter.apply(RateFilter.Parameters()) }
            // A sine of 3 Hz with 1 rad/s changes by at most 0.019 rad/s in 1 ms.
            let x = cm_sin(2 * .pi * 3 * Double(tick) / 1000)
            let y = filter.step(Vector3(0, x, 0), dt: 0.001).y
            if tick > 0 { largest = max(largest, abs(y - last)) }
            if tick > 1400 { #expect(abs(y - x) < 1e-6) }
            last = y
        }
        #expect(largest < 0.03, "\(largest)")
    }

    @Test("a value that is not finite passes through and does not change the filter's state")
    func notANumber() {
        var filter = RateFilter(parameters: Self.filters([], lowPass: 50))
        _ = filter.step(Vector3(0, 1, 0), dt: 0.001)
        #expect(!filter.step(Vector3(0, .nan, 0), dt: 0.001).isFinite)
        #expect(filter.step(Vector3(0, 1, 0), dt: 0.001).isFinite)
    }

    @Test("the margins include the phase lag of a filter")
    func margins() {
        let tuning = AttitudeController.Parameters()
        let bare = LoopMargins(
            of: tuning, axis: .pitch, lead: AttitudeEstimator.Parameters().sensorDelay)
        let filter = Self.filters([], lowPass: 150).pitch
        let filtered = LoopMargins(
            of: tuning, axis: .pitch, lead: AttitudeEstimator.Parameters().sensorDelay,
            filter: filter)
        let lost = bare.phaseDegrees - filtered.phaseDegrees
        #expect(lost > 5 && lost < 25, "\(lost)")
        #expect(!filtered.areHealthy)
    }
}
