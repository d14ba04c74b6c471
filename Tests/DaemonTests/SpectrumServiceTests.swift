import Configuration
import GimbalCore
import Glibc
import Port
import Realtime
import Simulation
import Testing
import Wire

@testable import Daemon

@Suite("Proposals of a spectrum")
struct SpectrumServiceTests {
    @Test("a vibration at 1200 Hz with a loop of 4 kHz does not make the proposal invalid")
    func permitted() throws {
        var settings = Settings()
        settings.loop.rateHz = 4000
        var random = RandomSource(seed: 1, stream: 2)
        let service = SpectrumService()
        _ = try service.start(
            seconds: 3, owner: CommandSource(link: .diagnostics, connection: 1),
            now: Instant(nanoseconds: 0))
        for tick in 0...12_010 {
            let time = Double(tick) / 4000
            let tones = 0.02 * sin(2 * .pi * 83 * time) + 0.02 * sin(2 * .pi * 1200 * time)
            let rate = Vector3(0, tones + 1e-4 * random.gaussian(), 0)
            var record = TelemetryRecord.at(time) {
                $0.gyro.append(rate)
                $0.sampleTime = Instant(nanoseconds: Int64(tick) * 250_000)
            }
            record.tick = UInt64(tick)
            service.feed(record)
        }
        service.advance(now: Instant(nanoseconds: 3_100_000_000), settings: settings)
        let report = service.status
        let pitch = try #require(report.axes.first { $0.axis == "y" }, "\(report.sentence)")
        #expect(pitch.peaks.contains { abs($0.hz.value - 1200) < 1 })
        let proposal = try #require(report.proposals.first)
        var store = ParameterStore(LoadedConfiguration())
        let value = try store.set(proposal.key, to: proposal.value)
        guard case .notches(let notches) = value else {
            Issue.record("\(proposal.key) is not a list of notch filters")
            return
        }
        #expect(notches.count == 1 && notches.allSatisfy { abs($0.hz - 83) < 0.2 })
    }
}
