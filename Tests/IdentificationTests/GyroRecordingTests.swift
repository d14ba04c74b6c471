import GimbalCore
import Testing

@testable import Identification

@Suite("Gyroscope samples with gaps")
struct GyroRecordingTests {
    /// A sine of 83 Hz, sampled 1000 times per second, and read every millisecond except while the
    /// loop is blocked.
    private func recording(
        seconds: Double = 3, heldUp: ClosedRange<Double>? = nil, torn: Set<Int> = []
    ) -> GyroRecording {
        var recording = GyroRecording()
        for tick in 0..<Int(seconds * 1000) {
            let time = Double(tick) * 1e-3
            if let heldUp, heldUp.contains(time) { continue }
            if torn.contains(tick) { continue }
            // A tick keeps the newest four of the samples since the previous tick.
            let isLate =
                heldUp.map { time - $0.upperBound < 1.5e-3 && time > $0.upperBound } ?? false
            var batch = GyroBatch()
            for back in (0..<(isLate ? 4 : 1)).reversed() {
                let moment = time - Double(back) * 1e-3
                batch.append(Vector3(sine(2 * .pi * 83 * moment), 0, 0))
            }
            recording.append(
                batch, time: Instant(nanoseconds: Int64(tick) * 1_000_000),
                isTorn: torn.contains(tick - 1))
        }
        return recording
    }

    private func sine(_ phase: Double) -> Double { Complex(phase: phase).imaginary }

    private func line(_ stretch: GyroRecording.Stretch) throws -> Double {
        let spectrum = try #require(
            PowerSpectrum(of: stretch.rates.map(\.x), sampleRate: stretch.sampleRate))
        return try #require(SpectralPeak.find(in: spectrum).first).hz
    }

    @Test("a recording without a gap uses all samples")
    func whole() throws {
        let (stretch, isWhole) = try #require(recording().longestStretch)
        #expect(isWhole)
        #expect(stretch.rates.count == 3000)
        #expect(abs(stretch.sampleRate - 1000) < 1e-6)
        #expect(abs(try line(stretch) - 83) < 0.1)
    }

    @Test(
        "after a block of 0.1 s the longer part of the recording remains, with the sine at 83 Hz")
    func heldUp() throws {
        for begin in [0.4, 1.2, 2.5] {
            let recording = recording(heldUp: begin...(begin + 0.1))
            let (stretch, isWhole) = try #require(recording.longestStretch)
            #expect(!isWhole)
            #expect(Double(stretch.rates.count) * 1e-3 > max(begin, 2.9 - begin) - 0.01)
            #expect(abs(stretch.sampleRate - 1000) < 1e-6)
            #expect(abs(try line(stretch) - 83) < 0.1)
        }
    }

    @Test("lost records also split the recording")
    func torn() throws {
        let (stretch, isWhole) = try #require(recording(torn: [1000]).longestStretch)
        #expect(!isWhole && stretch.rates.count == 1999)
        #expect(abs(try line(stretch) - 83) < 0.1)
    }

    @Test("a single tick is too short for a recording")
    func none() {
        #expect(GyroRecording().longestStretch == nil)
        #expect(recording(seconds: 0.001).longestStretch == nil)
    }
}
