public import Atomics

/// Histogram of durations from 0 ns to 34 s. The buckets are log-linear, 16 per octave, so the
/// error of a quantile is at most about 3 %.
///
/// One thread records durations, without waiting and without allocation. Any thread can take a
/// snapshot without a lock; a snapshot during a `record` can miss the recorded value. The layout of
/// the buckets follows Gil Tene's HdrHistogram.
///
/// The value is a handle: copies refer to the same histogram. The creator of a histogram calls
/// `deallocate()` once, after the threads that use it have ended.
@frozen
public struct LatencyHistogram: BitwiseCopyable, @unchecked Sendable {
    @usableFromInline typealias Cell = UnsafeAtomic<UInt64>

    /// Memory of the counts in `bucketCount` buckets, followed by the maximum.
    @usableFromInline let cells: UnsafeMutablePointer<Cell.Storage>

    @inlinable static var bucketCount: Int { 512 }
    /// Longest duration with a separate bucket, ns; longer durations are recorded as this duration.
    @inlinable static var longest: UInt64 { (1 << 35) - 1 }

    /// Creates an empty histogram.
    public init() {
        cells = .allocate(capacity: Self.bucketCount + 1)
        for index in 0...Self.bucketCount { (cells + index).initialize(to: .init(0)) }
    }

    /// Frees the histogram. After this call, threads must not use any copy of the histogram.
    public func deallocate() { cells.deallocate() }

    /// Adds one duration to the histogram, in constant time. Only the recording thread can call
    /// this method.
    ///
    /// - Parameter nanoseconds: Duration, ns; a negative duration is recorded as zero.
    @inlinable
    @_noLocks @_noAllocation
    public func record(nanoseconds: Int64) {
        let value = min(UInt64(max(nanoseconds, 0)), Self.longest)
        let cell = Cell(at: cells + Self.bucket(of: value))
        // Only one thread writes, so a load and a store suffice, and no locked instruction is
        // needed.
        cell.store(cell.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        let longest = Cell(at: cells + Self.bucketCount)
        if value > longest.load(ordering: .relaxed) { longest.store(value, ordering: .relaxed) }
    }

    /// Index of the bucket for a duration, ns; the duration is at most `longest`.
    @inlinable
    static func bucket(of value: UInt64) -> Int {
        if value < 16 { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 3) * 16 + Int((value >> UInt64(exponent - 4)) & 15)
    }

    /// Lower bound of a bucket, ns.
    static func lowerBound(of bucket: Int) -> UInt64 {
        if bucket < 16 { return UInt64(bucket) }
        return (16 + UInt64(bucket % 16)) << UInt64(bucket / 16 - 1)
    }

    /// Copies the present counts. Any thread can call this method; it allocates memory.
    public func snapshot() -> HistogramSnapshot {
        var counts: [UInt64] = []
        counts.reserveCapacity(Self.bucketCount)
        for index in 0..<Self.bucketCount {
            counts.append(Cell(at: cells + index).load(ordering: .relaxed))
        }
        let longest = Cell(at: cells + Self.bucketCount).load(ordering: .relaxed)
        return HistogramSnapshot(counts: counts, longest: longest)
    }

    /// Computes the present quantiles. Any thread can read this property; it allocates memory.
    public var summary: LatencySummary { snapshot().summary }
}

/// Snapshot of a histogram.
public struct HistogramSnapshot: Sendable {
    var counts: [UInt64]
    var longest: UInt64

    /// Subtract the counts of `earlier`, a snapshot of the same histogram. The maximum of the
    /// result is the maximum since the start.
    public func since(_ earlier: HistogramSnapshot) -> HistogramSnapshot {
        HistogramSnapshot(
            counts: zip(counts, earlier.counts).map { $0 &- $1 }, longest: longest)
    }

    /// Number of recorded durations.
    public var count: UInt64 { counts.reduce(0, +) }

    /// Compute the quantile: the duration that the given fraction of the recorded durations does
    /// not exceed.
    ///
    /// - Parameter share: Fraction of the values, 0...1.
    /// - Returns: Middle of the bucket, ns; 0 for an empty histogram.
    public func quantile(_ share: Double) -> Double {
        let total = count
        guard total > 0 else { return 0 }
        let rank = max(1, min(total, UInt64((share * Double(total)).rounded(.up))))
        var seen: UInt64 = 0
        for bucket in 0..<counts.count {
            seen += counts[bucket]
            if seen >= rank {
                let low = Double(LatencyHistogram.lowerBound(of: bucket))
                let high = Double(LatencyHistogram.lowerBound(of: bucket + 1) - 1)
                return min((low + high) / 2, Double(longest))
            }
        }
        return Double(longest)
    }

    /// The summary of the counts.
    public var summary: LatencySummary {
        LatencySummary(
            count: count, p50: quantile(0.5), p99: quantile(0.99), longest: Double(longest))
    }
}

/// Summary of a histogram, nanoseconds.
public struct LatencySummary: Sendable, BitwiseCopyable {
    /// Number of recorded durations.
    public var count: UInt64
    /// The median, ns.
    public var p50: Double
    /// The 99th percentile, ns.
    public var p99: Double
    /// The longest duration, ns.
    public var longest: Double
}
