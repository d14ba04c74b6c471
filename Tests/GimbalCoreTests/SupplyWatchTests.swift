import Testing

@testable import GimbalCore

@Suite("A low supply of the motors")
struct SupplyWatchTests {
    private static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 1_000_000_000).advanced(bySeconds: seconds)
    }

    /// A watch that has measured a voltage for some seconds, every 10 ms.
    private static func feed(
        _ watch: inout SupplyWatch, _ voltage: Double, _ times: Range<Int>
    ) {
        for tick in times { watch.step(voltage: voltage, now: at(Double(tick) * 0.01)) }
    }

    @Test("the stages are low, then empty, and each ends 3 % above its limit")
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

    @Test("a short drop is ignored, and so is an unknown voltage")
    func drops() {
        var watch = SupplyWatch(limits: SupplyWatch.Limits(low: 10, empty: 9))
        Self.feed(&watch, 12, 0..<500)
        Self.feed(&watch, 6, 500..<520)
        #expect(watch.conditions == .none)
        Self.feed(&watch, .nan, 520..<1000)
        Self.feed(&watch, 0, 1000..<2000)
        #expect(watch.conditions == .none && watch.voltage > 10)
    }

    @Test("without limits nothing is reported")
    func unlimited() {
        var watch = SupplyWatch(limits: SupplyWatch.Limits(low: 0, empty: 0))
        Self.feed(&watch, 0.5, 0..<1000)
        #expect(watch.conditions == .none)
    }
}
