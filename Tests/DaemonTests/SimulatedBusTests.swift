import GimbalCore
import Realtime
import Simulation
import Testing

@testable import Daemon

@Suite("The simulated gimbal behind the bus thread") struct SimulatedBusTests {
    private static let period: Int64 = 1_000_000

    private func bus() -> SimulatedBus {
        SimulatedBus(
            parameters: SimulatedGimbal.Parameters(), motion: BaseMotion(.walking, seed: 3), seed: 3
        )
    }

    /// Reads once, and returns the samples.
    private func read(_ bus: inout SimulatedBus, at now: Int64) throws -> [IMUSample] {
        var batch = SampleBatch()
        try bus.read(into: &batch, now: Instant(nanoseconds: now))
        return (0..<batch.count).map { batch[$0] }
    }

    @Test(
        "begins when the bus does, and stamps samples with the caller's clock",
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
        // A sensor's clock is off by up to a per cent or so.
        #expect((950...1050).contains(count))
    }

    @Test("does not catch up after the process was stopped for an hour")
    func longStop() throws {
        var bus = bus()
        for tick in 0..<100 { _ = try read(&bus, at: Int64(tick) * Self.period) }
        let later = 100 * Self.period + 3_600_000_000_000
        var samples: [IMUSample] = []
        for tick in 0..<100 { samples += try read(&bus, at: later + Int64(tick) * Self.period) }
        #expect((90...110).contains(samples.count))
        for sample in samples {
            let behind = later + 100 * Self.period - sample.time.nanoseconds
            // All of them are from after the stop, to within the period in which it happened.
            #expect(behind >= 0 && behind <= 102 * Self.period)
        }
    }

    @Test("gives the same samples to the same calls")
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
