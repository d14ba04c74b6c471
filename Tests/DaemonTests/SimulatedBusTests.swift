import GimbalCore
import Realtime
import Simulation
import Testing

@testable import Daemon

@Suite("Simulated bus") struct SimulatedBusTests {
    private static let period: Int64 = 1_000_000

    private func bus() -> SimulatedBus {
        SimulatedBus(
            parameters: SimulatedGimbal.Parameters(), motion: BaseMotion(.walking, seed: 3), seed: 3
        )
    }

    /// Reads the bus once, and returns the samples.
    private func read(_ bus: inout SimulatedBus, at now: Int64) throws -> [IMUSample] {
        var batch = SampleBatch()
        try bus.read(into: &batch, now: Instant(nanoseconds: now))
        return (0..<batch.count).map { batch[$0] }
    }

    @Test(
        "samples begin with the first read, and their times use the caller's clock",
        arguments: [0, 5_000_000_000_000])
    func clock(start: Int64) throws {
        var bus = bus()
        var last = start - 1
        var count = 0
        for tick in 0..<1000 {
            let now = start + Int64(tick) * Self.period
            for sample in try read(&bus, at: now) {
                #expect(sample.time.nanoseconds > last)
                #expect(sample.time.nanoseconds >= start && sample.time.nanoseconds <= now)
                #expect(sample.gyro.isFinite && sample.accel.isFinite)
                last = sample.time.nanoseconds
                count += 1
            }
        }
        // The sensor's clock has an error of about 1 %.
        #expect((950...1050).contains(count))
    }

    @Test("after a pause of an hour, the bus does not generate the missed samples")
    func longStop() throws {
        var bus = bus()
        for tick in 0..<100 { _ = try read(&bus, at: Int64(tick) * Self.period) }
        let later = 100 * Self.period + 3_600_000_000_000
        var samples: [IMUSample] = []
        for tick in 0..<100 { samples += try read(&bus, at: later + Int64(tick) * Self.period) }
        #expect((90...110).contains(samples.count))
        for sample in samples {
            let behind = later + 100 * Self.period - sample.time.nanoseconds
            // All samples are from after the pause, with a tolerance of one period.
            #expect(behind >= 0 && behind <= 102 * Self.period)
        }
    }

    @Test("after a pause of 60 ms, the next reads deliver every sample of the pause")
    func shortStop() throws {
        var bus = bus()
        var samples: [IMUSample] = []
        for tick in 0..<200 where !(100..<160).contains(tick) {
            samples += try read(&bus, at: Int64(tick) * Self.period)
        }
        // The sensor's clock has an error of about 1 %.
        #expect((190...205).contains(samples.count))
        for (earlier, later) in zip(samples, samples.dropFirst()) {
            let interval = later.time.nanoseconds - earlier.time.nanoseconds
            #expect(interval > 0 && interval < 2 * Self.period)
        }
        let newest = try #require(samples.last)
        #expect(200 * Self.period - newest.time.nanoseconds < 3 * Self.period)
    }

    @Test("two simulated buses with the same calls give the same samples")
    func deterministic() throws {
        var first = bus()
        var second = bus()
        for tick in 0..<200 {
            let now = Int64(tick) * Self.period
            let a = try read(&first, at: now)
            let b = try read(&second, at: now)
            #expect(a.map(\.gyro) == b.map(\.gyro) && a.map(\.accel) == b.map(\.accel))
            try first.write(.off, now: Instant(nanoseconds: now))
            try second.write(.off, now: Instant(nanoseconds: now))
        }
    }
}
