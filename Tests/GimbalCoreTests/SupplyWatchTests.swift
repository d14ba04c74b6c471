import Testing

@testable import GimbalCore

@Suite("A low supply of the motors")
struct SupplyWatchTests {
    private static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 1_000_000_000).advanced(bySeconds: seconds)
    }

    /// Feeds a voltage to the watch every 10 ms.
    private static func feed(
        _ watch: inout SupplyWatch, _ voltage: Double, _ times: Range<Int>
    ) {
        for tick in times { watch.step(voltage: voltage, now: at(Double(tick) * 0.01)) }
    }

    @Test(
        "a falling voltage is reported as low, then as empty, and each report ends 3 % above its limit"
    )
    func stages() {
        var watch = SupplyWatch(limits: SupplyWatch.Limits(low: 10, empty: 9))
        Self.feed(&watch, 12, 0..<500)
        #expect(watch.conditions == .none)
        Self.feed(&watch, 9.8, 500..<1500)
        #expect(watch.conditions == .supplyLow)
        Self.feed(&watch, 8.5, 1500..<2500)
        #expect(watch.conditions == .supplyLow | .supplyEmpty)
        Self.feed(&watch, 9.2, 2500..<3500)
        #expect(watch.conditions == .supplyLow | .supplyEmpty)
        Self.feed(&watch, 10.2, 3500..<4500)
        #expect(watch.conditions == .supplyLow)
        Self.feed(&watch, 10.4, 4500..<5500)
        #expect(watch.conditions == .none)
    }

    @Test("a short drop and an unknown voltage are ignored")
    func drops() {
        var watch = SupplyWatch(limits: SupplyWatch.Limits(low: 10, empty: 9))
        Self.feed(&watch, 12, 0..<500)
        Self.feed(&watch, 6, 500..<520)
        #expect(watch.conditions == .none)
        Self.feed(&watch, .nan, 520..<1000)
        Self.feed(&watch, 0, 1000..<2000)
        #expect(watch.conditions == .none && watch.voltage > 10)
    }

    @Test("without limits no condition is reported")
    func unlimited() {
        var watch = SupplyWatch(limits: SupplyWatch.Limits(low: 0, empty: 0))
        Self.feed(&watch, 0.5, 0..<1000)
        #expect(watch.conditions == .none)
    }
}

@Suite("The correction of the torque by the supply voltage")
struct SupplyScaleTests {
    /// The factor after 20 s at a voltage, measured every 10 ms.
    private static func settled(nominal: Double, _ voltage: Double) -> Double {
        var scale = SupplyScale(nominal: nominal)
        for tick in 0..<2000 {
            scale.step(
                voltage: voltage,
                now: Instant(nanoseconds: 0).advanced(bySeconds: Double(tick) * 0.01))
        }
        return scale.factor
    }

    @Test("the factor times the voltage is the nominal voltage, within the bounds")
    func factor() {
        for voltage in [8.0, 9.6, 11.1, 12.6, 20] {
            #expect(abs(Self.settled(nominal: 11.1, voltage) * voltage - 11.1) < 1e-4)
        }
        #expect(abs(Self.settled(nominal: 11.1, 3) - 1.5) < 1e-4)
        #expect(abs(Self.settled(nominal: 11.1, 40) - 0.5) < 1e-4)
    }

    @Test("a short drop of the voltage changes the factor little, and unknown voltages lead to 1")
    func smoothing() {
        var scale = SupplyScale(nominal: 10)
        func at(_ seconds: Double) -> Instant {
            Instant(nanoseconds: 0).advanced(bySeconds: seconds)
        }
        for tick in 0..<1000 { scale.step(voltage: 10, now: at(Double(tick) * 0.01)) }
        for tick in 1000..<1005 { scale.step(voltage: 7, now: at(Double(tick) * 0.01)) }
        #expect((1...1.03).contains(scale.factor), "\(scale.factor)")
        for tick in 1005..<2000 { scale.step(voltage: 7, now: at(Double(tick) * 0.01)) }
        #expect(scale.factor > 1.4)
        for tick in 2000..<3000 {
            scale.step(voltage: tick % 2 == 0 ? .nan : 0, now: at(Double(tick) * 0.01))
        }
        #expect(abs(scale.factor - 1) < 1e-3)
    }

    @Test("without a nominal voltage the factor stays 1")
    func off() { #expect(Self.settled(nominal: 0, 7) == 1) }
}
