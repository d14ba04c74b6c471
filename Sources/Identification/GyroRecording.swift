public import GimbalCore

/// Recording of gyroscope samples over some seconds, with marks where samples are missing.
///
/// If the loop is delayed, samples are lost. A gap in the samples blurs the lines of the spectrum
/// and shifts their frequencies. Therefore only the longest part without a gap is evaluated.
public struct GyroRecording: Sendable {
    /// Gap-free part of a recording.
    public struct Stretch: Sendable {
        /// Angular rates in the camera frame, rad/s, at equal intervals.
        public var rates: [Vector3]
        /// Sample rate, Hz.
        public var sampleRate: Double
    }

    /// The samples of one tick.
    private struct Batch {
        /// Index after the last sample of the tick.
        var end: Int
        /// Time of the last sample of the tick.
        var time: Instant
        /// True if a tick since the previous batch is missing in the recording.
        var isTorn: Bool
    }

    private var rates: [Vector3] = []
    private var batches: [Batch] = []
    /// True if a tick since the last batch was lost.
    private var isTorn = false

    /// Creates an empty recording.
    public init() {}

    /// Time from the first to the newest sample, s.
    public var seconds: Double {
        guard let first = batches.first, let last = batches.last else { return 0 }
        return last.time.seconds(since: first.time)
    }

    /// Adds the samples of a tick. A batch can be empty, because the loop can be faster than the
    /// sensor.
    ///
    /// - Parameters:
    ///   - batch: Samples of the tick, oldest first.
    ///   - time: Time of the last sample.
    ///   - isLossy: True if the tick directly before the given tick was lost.
    public mutating func append(_ batch: GyroBatch, time: Instant, isTorn isLossy: Bool) {
        isTorn = isTorn || isLossy
        guard batch.count > 0 else { return }
        for index in 0..<batch.count { rates.append(batch[index]) }
        batches.append(Batch(end: rates.count, time: time, isTorn: isTorn))
        isTorn = false
    }

    /// The longest part without a gap, and a Boolean: true if this part is the whole recording. The
    /// result is nil if the part has fewer than two ticks.
    public var longestStretch: (stretch: Stretch, isWhole: Bool)? {
        guard batches.count >= 2 else { return nil }
        let steps = zip(batches, batches.dropFirst()).map {
            $1.time.seconds(since: $0.time) / Double($1.end - $0.end)
        }
        let period = steps.sorted()[steps.count / 2]
        guard period > 0 else { return nil }
        var best = 0...0
        var start = 0
        for index in 1..<batches.count {
            let count = Double(batches[index].end - batches[index - 1].end)
            // A time step that exceeds its nominal length by more than 1.5 sample periods is a gap.
            // The jitter of the read times is smaller than 1.5 sample periods.
            let isHeldUp = steps[index - 1] * count > (count + 1.5) * period
            if isHeldUp || batches[index].isTorn { start = index }
            if index - start > best.count - 1 { best = start...index }
        }
        let (first, last) = (batches[best.lowerBound], batches[best.upperBound])
        let span = last.time.seconds(since: first.time)
        guard span > 0 else { return nil }
        let samples = Array(rates[(first.end - 1)..<last.end])
        return (
            Stretch(rates: samples, sampleRate: Double(samples.count - 1) / span),
            best == 0...(batches.count - 1)
        )
    }
}
