public import GimbalCore

/// Gyroscope samples of some seconds, tick after tick, and where samples are missing between them.
///
/// A loop that is held up loses samples. A line of a spectrum over such a place is at a wrong
/// frequency, and blurred: what is evaluated is the longest part without one.
public struct GyroRecording: Sendable {
    /// A part without a gap.
    public struct Stretch: Sendable {
        /// Camera frame, rad/s, evenly spaced.
        public var rates: [Vector3]
        /// Hz.
        public var sampleRate: Double
    }

    /// The samples of one tick.
    private struct Batch {
        /// Index behind its last sample.
        var end: Int
        /// When its last sample was taken.
        var time: Instant
        /// Whether the tick before it is missing.
        var isTorn: Bool
    }

    private var rates: [Vector3] = []
    private var batches: [Batch] = []

    /// An empty recording.
    public init() {}

    /// From the first to the newest sample, s.
    public var seconds: Double {
        guard let first = batches.first, let last = batches.last else { return 0 }
        return last.time.seconds(since: first.time)
    }

    /// Takes the samples of a tick; without any it changes nothing.
    ///
    /// - Parameters:
    ///   - batch: Oldest first.
    ///   - time: When the last one was taken.
    ///   - isTorn: Whether a tick before this one was lost on the way.
    public mutating func append(_ batch: GyroBatch, time: Instant, isTorn: Bool) {
        guard batch.count > 0 else { return }
        for index in 0..<batch.count { rates.append(batch[index]) }
        batches.append(Batch(end: rates.count, time: time, isTorn: isTorn))
    }

    /// The longest part without a gap, and whether it is all; nil with fewer than two ticks.
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
            // The times of reading jitter by less than this.
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
