import Foundation
import GimbalCore
import Recording
import Simulation
import SystemPackage
import Testing

/// The constants in `GaitTests` come from a larger set of recordings. This comparison uses the
/// recordings themselves, if they exist.
@Suite("Simulated walk compared with the recordings of people")
struct RecordedGaitTests {
    /// Duration of the examined part of each walk, s. Every recording has a straight part that is
    /// longer.
    static let seconds = 6.0

    /// Statistics of the straightest part of a recorded walk.
    static func straightest(_ path: FilePath) throws -> StrideStatistics {
        let log = try IMULog(path: path)
        let samples = try log.handleSamples(path: path)
        let count = Int(seconds * log.sampleRate)
        var heading = 0.0
        let headings = samples.map { sample in
            heading += sample.gyro.z / log.sampleRate
            return heading
        }
        let starts = stride(from: 0, through: samples.count - count, by: 10).filter { start in
            log.records[start..<(start + count)].allSatisfy(\.isMoving)
        }
        let start = try #require(
            starts.min { swing(headings[$0..<($0 + count)]) < swing(headings[$1..<($1 + count)]) },
            "\(path) has no \(seconds) s of motion")
        let part = samples[start..<(start + count)]
        return StrideStatistics(rates: part.map(\.gyro), forces: part.map(\.accel))
    }

    private static func swing(_ angles: ArraySlice<Double>) -> Double {
        (angles.max() ?? 0) - (angles.min() ?? 0)
    }

    static func median(
        _ walks: [StrideStatistics], _ figure: (StrideStatistics) -> Double
    ) -> Double {
        let sorted = walks.map(figure).sorted()
        return 0.5 * (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2])
    }

    static let walkers = (1...16).map {
        StrideStatistics(
            BaseMotion(.walking, seed: UInt64($0), stillDuration: 0, rampDuration: 0), from: 2,
            seconds: seconds)
    }

    /// Median of the simulated walkers divided by the median of the recordings; nil without
    /// recordings.
    static func ratio(_ figure: (StrideStatistics) -> Double) throws -> Double? {
        let people = try people.get()
        guard !people.isEmpty else { return nil }
        return median(walkers, figure) / median(people, figure)
    }

    static let people = Result { try HandleRecordingTests.recordings("gait").map(straightest) }

    @Test("strides take as long as recorded strides within 5 %, and vary as much within 30 %")
    func strides() throws {
        guard let duration = try Self.ratio(\.stride),
            let variation = try Self.ratio(\.variation)
        else { return }
        #expect(abs(duration - 1) < 0.05, "\(duration)")
        #expect(abs(variation - 1) < 0.3, "\(variation)")
    }

    @Test(
        "consecutive strides differ as much as recorded strides within 25 %, in each frequency band",
        arguments: [2.0, 4, 8, 20])
    func residuals(hertz: Double) throws {
        guard let rate = try Self.ratio({ $0.rateResidual(below: hertz) }),
            let force = try Self.ratio({ $0.forceResidual(below: hertz) })
        else { return }
        #expect(abs(rate - 1) < 0.25, "rate \(rate)")
        #expect(abs(force - 1) < 0.25, "force \(force)")
    }

    /// Above 15 Hz the recordings contain five times as much motion as the simulated walk, whose
    /// strides have 16 harmonics. The motion above 15 Hz is at most 6 °/s and 0.3 m/s² RMS.
    @Test(
        "the spectrum of rates and forces is the recorded spectrum within 35 %, below 15 Hz",
        arguments: [0.5..<2.0, 2..<4, 4..<8, 8..<15])
    func spectrum(band: Range<Double>) throws {
        let axes: [(name: String, axis: (Vector3) -> Double)] = [
            ("x", \.x), ("y", \.y), ("z", \.z),
        ]
        for (name, axis) in axes {
            guard let rate = try Self.ratio({ axis($0.rates(band)) }),
                let force = try Self.ratio({ axis($0.forces(band)) })
            else { return }
            #expect(abs(rate - 1) < 0.35, "rate about \(name): \(rate)")
            #expect(abs(force - 1) < 0.35, "force along \(name): \(force)")
        }
    }
}
