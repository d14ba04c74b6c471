import Realtime
import Testing

@testable import airframe_bench

/// The campaign in short: one seed of every fault in every mode, from one source; `airframe-bench faults` has them all.
@Suite("Campaign of faults, in short")
struct FaultCampaignTests {
    @Test("every fault ends in a safe state in time, and moves the camera by no more than it may")
    func campaign() {
        var campaign = FaultCampaign()
        campaign.links = [.airos]
        for row in campaign.rows(seeds: 1) {
            let bars = row.fault.bars
            #expect(row.unsafe == 0, "\(row.fault.rawValue)")
            #expect(row.returned == 0, "\(row.fault.rawValue)")
            #expect(row.slowest <= bars.seconds, "\(row.fault.rawValue)")
            #expect(row.largest <= bars.degrees, "\(row.fault.rawValue)")
        }
    }
}
