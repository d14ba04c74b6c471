import Testing

@testable import GimbalCore

@Suite("Age of the newest sample")
struct SampleAgeTests {
    @Test(
        "after an outage of the sensor, a sample of the usual age deviates by less than 0.6 ms",
        arguments: [0.5, 1, 60])
    func outage(seconds: Double) {
        var age = SampleAge()
        for _ in 0..<1000 { _ = age.excess(age: 0.002, dt: 1e-3) }
        var largest = 0.0
        for tick in 1...Int(seconds * 1000) {
            largest = max(largest, age.excess(age: 0.002 + Double(tick) * 1e-3, dt: 1e-3))
        }
        #expect(largest == 0.005)
        #expect(abs(age.excess(age: 0.002, dt: 1e-3)) < 0.6e-3)
    }

    @Test("a single late tick after an interruption of the loop does not change the mean age")
    func interruption() {
        var age = SampleAge()
        for _ in 0..<1000 { _ = age.excess(age: 0.002, dt: 1e-3) }
        // The loop was interrupted for 0.3 s; the first sample afterwards is older than usual.
        #expect(age.excess(age: 0.3, dt: 0.3) == 0.005)
        #expect(age.excess(age: 0.006, dt: 1e-3) > 0.0039)
        #expect(abs(age.excess(age: 0.002, dt: 1e-3)) < 0.1e-3)
    }
}
