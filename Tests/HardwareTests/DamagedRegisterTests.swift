import GimbalCore
import Realtime
import Testing

@testable import Hardware

@Suite("Damaged readings of a sensor's registers")
struct DamagedRegisterTests {
    @Test(
        "one wrong bit in a configuration register does not interrupt the samples",
        arguments: FakeChip.Kind.allCases)
    func wrongBit(kind: FakeChip.Kind) {
        let chip = FakeChip(kind)
        let report = SensorReport()
        let sensor = InertialSensor(chip: chip.description(), link: chip, report: report)
        var last = 1.0
        var gap = 0.0
        for tick in 0..<1000 {
            let time = Double(tick) / 500
            chip.now = Instant(nanoseconds: 1_000_000_000).advanced(bySeconds: time)
            // One damaged reading in each tenth of a second, of one register after the other.
            if tick >= 500, tick % 50 == 0 { chip.damagedReads = 1 }
            var batch = SampleBatch()
            do { try sensor.read(into: &batch, time: chip.now, now: chip.now) } catch {}
            guard batch.count > 0, time >= 1 else { continue }
            gap = max(gap, time - last)
            last = time
        }
        #expect(chip.damagedReads == 0)
        #expect(report.lostConfigurations == 0)
        #expect(gap < 0.01, "\(gap) s")
        #expect(last > 1.99)
    }
}
