import Testing

@testable import GimbalCore

@Suite("Age of the newest sample")
struct SampleAgeTests {
    @Test(
        "after an outage of the sensor, a sample of the usual age has the deviation 0",
        arguments: [0.5, 1, 60])
    func outage(seconds: Double) {
        var age = SampleAge()
        for _ in 0..<1000 { _ = age.excess(age: 0.002, dt: 1e-3) }
        var largest = 0.0
        for tick in 1...Int(seconds * 1000) {
            largest = max(largest, age.excess(age: 0.002 + Double(tick) * 1e-3, dt: 1e-3))
        }
        #expect(largest == 0.005)
        #expect(abs(age.excess(age: 0.002, dt: 1e-3)) < 1e-9)
        // A sample that is late by 1 ms still deviates by 1 ms.
        #expect(abs(age.excess(age: 0.003, dt: 1e-3) - 0.001) < 1e-9)
    }
}
