import CMallocCounter
import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

/// Simulates 200,000 transfers of each chip with faults of every kind.
@Suite("Sensor faults in long random runs")
struct FaultCampaignTests {
    /// Random numbers (xorshift), which give the same faults in every run.
    struct Dice {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(limit))
        }
    }

    /// Faults of the chip, and time at which the present fault ends.
    struct Faults {
        var dice = Dice(state: 0x9E37_79B9_7F4A_7C15)
        var counts = [Int](repeating: 0, count: 9)
        var until = Instant(nanoseconds: 0)
        /// Time since which the chip has no fault.
        var whole = Instant(nanoseconds: 0)
        private var isLong = false

        /// Ends or starts a fault before a transfer.
        mutating func next(_ chip: FakeChip) {
            let now = chip.now
            if isLong {
                guard now >= until else { return }
                isLong = false
                whole = now
                chip.failing = 0
                chip.constant = nil
                chip.isFrozen = false
                chip.hasWrongIdentity = false
            }
            chip.failing = 0
            let draw = dice.below(10_000)
            // Single failures have a probability of 0.9 %; six kinds of faults last longer.
            if draw < 90 {
                counts[draw % 3] += 1
                chip.failing = draw % 3 == 0 ? ENXIO : draw % 3 == 1 ? ETIMEDOUT : EIO
            } else if draw < 96 {
                counts[3 + draw - 90] += 1
                begin(draw - 90, chip)
            }
        }

        private mutating func begin(_ kind: Int, _ chip: FakeChip) {
            isLong = true
            until = chip.now.advanced(bySeconds: Double(1 + dice.below(150)) * 1e-3)
            switch kind {
            case 0: chip.failing = ENXIO
            case 1: chip.failing = ENODEV
            case 2: chip.constant = dice.below(2) == 0 ? 0 : 0xFF
            case 3: chip.isFrozen = true
            case 4:
                chip.hasWrongIdentity = true
                chip.reset(part: 0)
            default:
                // One part of the chip loses its configuration.
                until = chip.now
                chip.reset(part: chip.kind == .bmi088 ? dice.below(2) : 0)
            }
        }
    }

    /// Number of allocations that Swift Testing makes for every thrown error to record its origin.
    /// Outside of tests, a thrown error allocates nothing.
    static var costOfThrowing: Int64 {
        func fail() throws(BusErrno) { throw BusErrno(code: 1) }
        var cost: Int64 = 1
        for _ in 0..<3 {
            let before = mc_count()
            do { try fail() } catch {}
            cost = max(mc_count() - before, 1)
        }
        return cost
    }

    @Test(
        "at a fault rate of 1 %, no stale sample passes, samples return within a second, and reads do not allocate",
        arguments: FakeChip.Kind.allCases)
    func campaign(kind: FakeChip.Kind) {
        let chip = FakeChip(kind)
        let report = SensorReport()
        let sensor = InertialSensor(chip: chip.description(), link: chip, report: report)
        var faults = Faults()
        var batch = SampleBatch()
        var period: Int64 = 0
        var newest = 0
        var stale = 0
        var delivered = 0
        var lastFresh = Instant(nanoseconds: 0)
        var longest = 0.0
        var allocations: Int64 = 0
        let hook = Self.costOfThrowing
        while chip.transfers < 200_000 {
            period += 1
            // The loop runs at 800 Hz, the chip at 1 kHz.
            let now = Instant(nanoseconds: 1_250_000 * period)
            chip.now = now
            faults.next(chip)
            batch.removeAll()
            let before = mc_count()
            let failures = report.failedTransfers
            do { try sensor.read(into: &batch, time: now, now: now) } catch {}
            let calls = mc_count() - before
            let isAllowed = report.failedTransfers > failures || report.lastFailure != nil
            if period > 5000 { allocations += isAllowed ? calls % hook : calls }
            for index in 0..<batch.count {
                delivered += 1
                let number = batch[index].number
                // A sample must have the chip's present millisecond, and must not come twice.
                if number <= newest || number != Int(now.nanoseconds / 1_000_000) { stale += 1 }
                newest = number
                lastFresh = now
            }
            let alone = now.seconds(since: max(lastFresh, faults.whole))
            longest = max(longest, alone)
        }
        #expect(
            faults.counts.allSatisfy { $0 > 8 },
            "every kind of fault has occurred: \(faults.counts)")
        #expect(stale == 0)
        #expect(longest < 1, "longest time without a sample from a chip without a fault, s")
        #expect(delivered > 100_000)
        #expect(report.lostConfigurations > 20 && report.outages > 20 && report.stalls > 0)
        #expect(report.failedTransfers > 1000)
        if mc_is_active() { #expect(allocations == 0) }
    }

    @Test(
        "at a fault rate of 1 %, each sample from the buffer is delivered exactly once, with the time of its measurement",
        arguments: [FakeChip.Kind.mpu6050, .mpu6500, .icm42688p])
    func buffer(kind: FakeChip.Kind) {
        let chip = FakeChip(kind)
        let report = SensorReport()
        let sensor = InertialSensor(
            chip: chip.description(), link: chip, report: report, usesBuffer: true,
            wallClock: { Instant(nanoseconds: 0) })
        var faults = Faults()
        var batch = SampleBatch()
        var period: Int64 = 0
        var newest = 0
        var (stale, delivered, wrongTimes) = (0, 0, 0)
        var lastFresh = Instant(nanoseconds: 0)
        var longest = 0.0
        while chip.transfers < 200_000 {
            period += 1
            let now = Instant(nanoseconds: 2_500_000 * period)
            chip.now = now
            faults.next(chip)
            batch.removeAll()
            do { try sensor.read(into: &batch, time: now, now: now) } catch {}
            for index in 0..<batch.count {
                delivered += 1
                let sample = batch[index]
                // A sample must have been taken since the previous read.
                let age = now.nanoseconds / 1_000_000 - Int64(sample.number)
                if sample.number <= newest || age > 5 { stale += 1 }
                let taken = Instant(nanoseconds: Int64(sample.number) * 1_000_000)
                if abs(sample.time.seconds(since: taken)) > 2e-3 { wrongTimes += 1 }
                newest = sample.number
                lastFresh = now
            }
            longest = max(longest, now.seconds(since: max(lastFresh, faults.whole)))
        }
        #expect(stale == 0 && wrongTimes == 0)
        #expect(longest < 1)
        #expect(delivered > 100_000)
    }
}
