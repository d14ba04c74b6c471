import GimbalCore
import Realtime
import Testing

@testable import Hardware

@Suite("Sample buffer of a sensor")
struct SampleBufferTests {
    static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    /// Jitter that is the same in every run, 0..<1.
    static func jitter(_ index: Int) -> Double { Double((index * 7919) % 1000) / 1000 }

    @Test(
        "the clock error is estimated within 300 ppm, and each sample's time within half a period",
        arguments: [-30_000.0, -2_000, 0, 500, 13_000, 40_000])
    func clock(ppm: Double) {
        var clock = SampleClock(period: 1e-3)
        let period = 1e-3 * (1 + ppm * 1e-6)
        var taken = 0
        var worst = 0.0
        var last = Self.at(-1)
        // A loop at 400 Hz that wakes up to 0.2 ms late, for 20 s; the transfer takes 50 µs.
        for tick in 1...8000 {
            let before = Double(tick) / 400 + 0.2e-3 * Self.jitter(tick)
            let available = Int(before / period) - taken
            guard available > 0 else { continue }
            clock.note(
                available: available, before: Self.at(before), after: Self.at(before + 50e-6))
            for _ in 0..<available {
                taken += 1
                let time = clock.next()
                #expect(time > last)
                last = time
                if tick > 4000 {
                    worst = max(worst, abs(time.seconds(since: Self.at(Double(taken) * period))))
                }
            }
        }
        #expect(abs(clock.errorPPM - ppm) < 300)
        #expect(worst < 0.5e-3)
    }

    struct Bench {
        let chip: FakeChip
        let report = SensorReport()
        let sensor: InertialSensor

        init(_ kind: FakeChip.Kind) {
            let chip = FakeChip(kind)
            self.chip = chip
            sensor = InertialSensor(
                chip: chip.description(), link: chip, report: report, usesBuffer: true,
                wallClock: { Instant(nanoseconds: 0) })
        }

        func read(at seconds: Double) -> [IMUSample] {
            let now = SampleBufferTests.at(seconds)
            chip.now = now
            var batch = SampleBatch()
            do { try sensor.read(into: &batch, time: now, now: now) } catch {}
            return (0..<batch.count).map { batch[$0] }
        }
    }

    static let kinds: [FakeChip.Kind] = [.mpu6050, .mpu6500, .icm42688p]

    @Test("delivers every sample once, in order, each with its own timestamp", arguments: kinds)
    func everySample(kind: FakeChip.Kind) throws {
        let bench = Bench(kind)
        var samples: [IMUSample] = []
        for tick in 1...2000 { samples += bench.read(at: Double(tick) * 5e-3) }
        let settled = samples.filter { $0.time > Self.at(2) }
        #expect(settled.count > 7990)
        for (before, after) in zip(settled, settled.dropFirst()) {
            #expect(after.number == before.number + 1)
            #expect(abs(after.time.seconds(since: before.time) - 1e-3) < 0.3e-3)
        }
        let last = try #require(settled.last)
        #expect(abs(last.accel.z + 9.80665) < 1e-9)
        #expect(abs(last.time.seconds(since: Self.at(Double(last.number) * 1e-3))) < 1.1e-3)
        #expect(bench.report.bufferOverflows == 0)
        #expect(abs(bench.report.clockErrorPPM) < 300)
    }

    @Test(
        "a full buffer is emptied and counted, and new samples follow",
        arguments: kinds)
    func overflow(kind: FakeChip.Kind) throws {
        let bench = Bench(kind)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        #expect(bench.sensor.isUp)
        // The thread was blocked for half a second.
        #expect(bench.read(at: 1.5).isEmpty)
        #expect(bench.report.bufferOverflows == 1)
        let first = try #require(bench.read(at: 1.505).first)
        #expect(first.number > 1500)
        #expect(first.time > Self.at(1.5) && first.time < Self.at(1.506))
    }

    @Test(
        "an emptying that fails at one of its writes is repeated completely",
        arguments: [FakeChip.Kind.mpu6050, .mpu6500], 0...2)
    func interruptedEmptying(kind: FakeChip.Kind, writes: Int) {
        let bench = Bench(kind)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        bench.chip.writesBeforeFailure = writes
        #expect(bench.read(at: 1.5).isEmpty)
        // The bus thread repeats a failed read at once, in the same period.
        #expect(bench.read(at: 1.5).isEmpty)
        #expect(bench.chip.writesBeforeFailure == nil)
        let samples = (301...320).flatMap { bench.read(at: Double($0) * 5e-3) }
        #expect(samples.count > 80)
        #expect(bench.report.stalls == 0)
    }

    @Test(
        "a read of the buffer that fails part of the way does not shift the later samples",
        arguments: kinds, [1, 6, 21])
    func interruptedRead(kind: FakeChip.Kind, bytes: Int) {
        let bench = Bench(kind)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        bench.chip.bytesBeforeFailure = bytes
        #expect(bench.read(at: 1.005).isEmpty)
        // The bus thread repeats a failed read at once, in the same period.
        #expect(bench.read(at: 1.005).isEmpty)
        let samples = (202...240).flatMap { bench.read(at: Double($0) * 5e-3) }
        #expect(samples.count > 180)
        for (before, after) in zip(samples, samples.dropFirst()) {
            #expect(after.number == before.number + 1)
        }
        #expect(samples.allSatisfy { abs($0.accel.z + 9.80665) < 1e-9 })
        #expect(bench.report.failedTransfers == 1 && bench.report.stalls == 0)
    }

    @Test("a buffer that stays full is a stall, and the sensor is set up again", arguments: kinds)
    func staysFull(kind: FakeChip.Kind) {
        let bench = Bench(kind)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        bench.chip.keepsBuffer = true
        for tick in 300...330 { #expect(bench.read(at: Double(tick) * 5e-3).isEmpty) }
        #expect(bench.report.stalls == 1 && bench.report.bufferOverflows > 10)
        bench.chip.keepsBuffer = false
        let samples = (331...500).flatMap { bench.read(at: Double($0) * 5e-3) }
        #expect(samples.count > 300)
        #expect(bench.report.stalls == 1 && bench.report.isRunning)
    }

    @Test("the ICM-42688-P's read cache can hold a packet beyond the full buffer")
    func readCache() throws {
        let bench = Bench(.icm42688p)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        bench.chip.cached = 1
        #expect(bench.read(at: 1.5).isEmpty)
        #expect(bench.report.bufferOverflows == 1)
        bench.chip.cached = 0
        #expect(bench.read(at: 1.505).first != nil)
    }

    @Test(
        "samples that were collected during a failed transfer are not delivered", arguments: kinds)
    func failure(kind: FakeChip.Kind) throws {
        let bench = Bench(kind)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        bench.chip.failing = 5
        #expect(bench.read(at: 1.005).isEmpty)
        bench.chip.failing = 0
        #expect(bench.read(at: 1.010).isEmpty)
        let first = try #require(bench.read(at: 1.015).first)
        #expect(first.number > 1010)
        #expect(bench.report.failedTransfers == 1 && bench.report.outages == 0)
    }

    @Test(
        "failing reads with working writes are one outage, which ends when reads succeed",
        arguments: kinds)
    func readsAlone(kind: FakeChip.Kind) {
        let bench = Bench(kind)
        for tick in 1...200 { _ = bench.read(at: Double(tick) * 5e-3) }
        bench.chip.failing = 5
        bench.chip.takesWrites = true
        for tick in 201...210 { _ = bench.read(at: Double(tick) * 5e-3) }
        #expect(bench.report.outages == 1 && bench.report.stalls == 0)
        bench.chip.failing = 0
        let samples = (211...411).flatMap { bench.read(at: Double($0) * 5e-3) }
        #expect(samples.count > 300)
        #expect(bench.report.outages == 1)
    }
}
