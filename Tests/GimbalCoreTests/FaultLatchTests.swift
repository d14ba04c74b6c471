import Testing

@testable import GimbalCore

@Suite("Faults that are reported only after some time")
struct FaultLatchTests {
    /// Duration of `rotorLost`, s, if the camera turns fast for 0.25 s, then slowly.
    private func loss(_ latch: inout FaultLatch, deviation: Double = 10) -> Double {
        var seconds = 0.0
        for tick in 1...70_000 {
            let isFlung = tick <= 250
            latch.step(
                FaultLatch.Evidence(
                    isEnabled: isFlung, reversed: .none, saturated: .none,
                    rate: isFlung ? 10 : 0.1, deviation: isFlung ? deviation : 0, error: 0,
                    external: .none), dt: 1e-3)
            if latch.conditions.intersects(.rotorLost) { seconds += 1e-3 }
        }
        return seconds
    }

    @Test(
        "rotorLost lasts until the camera has turned slowly for 1 s; each repetition doubles this time"
    )
    func rotorLost() {
        var latch = FaultLatch()
        // The latch sets the condition 0.1 s before the fast turn ends.
        for softening in [1.0, 2, 4, 8, 16, 32, 64, 64] {
            let seconds = min(loss(&latch), 64)
            #expect(abs(seconds - min(softening + 0.1, 64)) < 0.02)
        }
        latch = FaultLatch()
        _ = loss(&latch)
        latch.reset()
        #expect(abs(loss(&latch) - 1.1) < 0.02)
    }

    @Test("ten minutes without a fault reset the waiting time to 1 s")
    func holding() {
        var latch = FaultLatch()
        for _ in 1...6 { _ = loss(&latch) }
        for _ in 1...600_000 {
            latch.step(
                FaultLatch.Evidence(
                    isEnabled: true, reversed: .none, saturated: .none, rate: 0, deviation: 0,
                    error: 0, external: .none), dt: 1e-3)
        }
        #expect(abs(loss(&latch) - 1.1) < 0.02)
    }

    @Test("a camera that turns fast with its set-point does not cause rotorLost")
    func commanded() {
        var latch = FaultLatch()
        #expect(loss(&latch, deviation: 6) == 0)
    }
}
