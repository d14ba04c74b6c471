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
            // After the block, a tick has only the newest of the samples since the previous tick.
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

    @Test("a loop of 200 Hz records all 8 samples of a tick, so a sine has only one frequency")
    func slowLoop() throws {
        var recording = GyroRecording()
        for tick in 0..<600 {
            var batch = GyroBatch()
            for back in (0..<8).reversed() {
                let moment = Double(tick) * 5e-3 - Double(back) * 0.625e-3
                batch.append(Vector3(sine(2 * .pi * 83 * moment), 0, 0))
            }
            recording.append(
                batch, time: Instant(nanoseconds: Int64(tick) * 5_000_000), isTorn: false)
        }
        let (stretch, isWhole) = try #require(recording.longestStretch)
        #expect(isWhole && abs(stretch.sampleRate - 1600) < 1e-6)
        let spectrum = try #require(
            PowerSpectrum(of: stretch.rates.map(\.x), sampleRate: stretch.sampleRate))
        let peaks = SpectralPeak.find(in: spectrum)
        let strongest = try #require(peaks.first)
        #expect(abs(strongest.hz - 83) < 0.1)
        #expect(peaks.dropFirst().allSatisfy { $0.density < 1e-6 * strongest.density })
    }

    @Test("a full batch keeps the newest samples in their order")
    func fullBatch() {
        var batch = GyroBatch()
        for number in 1...20 { batch.append(Vector3(Double(number), 0, 0)) }
        let kept = (0..<batch.count).map { batch[$0].x }
        #expect(kept == (5...20).map { Double($0) })
    }

    @Test("a lost record with a sample splits the recording if the next record has none")
    func tornBeforeEmpty() throws {
        var recording = GyroRecording()
        for tick in 0..<3000 where tick != 1000 {
            // The sensor has half of the loop's rate.
            var batch = GyroBatch()
            if tick.isMultiple(of: 2) {
                batch.append(Vector3(sine(2 * .pi * 83 * Double(tick) * 1e-3), 0, 0))
            }
            recording.append(
                batch, time: Instant(nanoseconds: Int64(tick) * 1_000_000), isTorn: tick == 1001)
        }
        let (stretch, isWhole) = try #require(recording.longestStretch)
        #expect(!isWhole && stretch.rates.count == 999)
        #expect(abs(try line(stretch) - 83) < 0.1)
    }

    @Test("a single tick is too short for a recording")
    func none() {
        #expect(GyroRecording().longestStretch == nil)
        #expect(recording(seconds: 0.001).longestStretch == nil)
    }
}
