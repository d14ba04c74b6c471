import GimbalCore
import Testing

@testable import Realtime

@Suite("The latency histogram")
struct LatencyHistogramTests {
    @Test("every duration is in its bucket, whose width is at most 1/16 of the duration")
    func buckets() {
        var value: UInt64 = 0
        while value <= LatencyHistogram.longest {
            let bucket = LatencyHistogram.bucket(of: value)
            let low = LatencyHistogram.lowerBound(of: bucket)
            let next = LatencyHistogram.lowerBound(of: bucket + 1)
            #expect(low <= value && value < next)
            #expect(next - low <= max(1, low / 16))
            value = value + value / 37 + 1
        }
        #expect(LatencyHistogram.bucket(of: LatencyHistogram.longest) == 511)
    }

    @Test("quantiles of a known distribution have an error below 4 %")
    func quantiles() {
        let histogram = LatencyHistogram()
        defer { histogram.deallocate() }
        for value: Int64 in 1...100_000 { histogram.record(nanoseconds: value) }
        let summary = histogram.summary
        #expect(summary.count == 100_000)
        #expect(abs(summary.p50 / 50_000 - 1) < 0.04)
        #expect(abs(summary.p99 / 99_000 - 1) < 0.04)
        #expect(summary.longest == 100_000)
    }

    @Test("without values all results are zero")
    func empty() {
        let histogram = LatencyHistogram()
        defer { histogram.deallocate() }
        let summary = histogram.summary
        #expect(summary.count == 0 && summary.p50 == 0 && summary.p99 == 0 && summary.longest == 0)
    }

    @Test("a negative duration counts as zero, and an excessive one as the longest")
    func extremes() {
        let histogram = LatencyHistogram()
        defer { histogram.deallocate() }
        histogram.record(nanoseconds: -5)
        histogram.record(nanoseconds: .max)
        let summary = histogram.summary
        #expect(summary.count == 2)
        #expect(summary.p50 == 0)
        #expect(summary.longest == Double(LatencyHistogram.longest))
    }

    @Test("the difference of two snapshots contains the values between them")
    func difference() {
        let histogram = LatencyHistogram()
        defer { histogram.deallocate() }
        histogram.record(nanoseconds: 1000)
        let earlier = histogram.snapshot()
        for _ in 0..<3 { histogram.record(nanoseconds: 5_000_000) }
        let between = histogram.snapshot().since(earlier)
        #expect(between.count == 3)
        #expect(abs(between.quantile(0.01) / 5e6 - 1) < 0.04)
    }

    @Test("one thread can read while another records")
    func concurrent() throws {
        let histogram = LatencyHistogram()
        let total: UInt64 = 200_000
        let recorder = try RealtimeThread(ThreadConfiguration(name: "rec", priority: nil)) {
            for value in 0..<Int64(total) { histogram.record(nanoseconds: value) }
        }
        var last: UInt64 = 0
        let end = Instant.minuteAhead
        while last < total, MonotonicClock.now < end {
            let count = histogram.snapshot().count
            #expect(count >= last)
            last = count
        }
        #expect(recorder.join(until: .minuteAhead))
        #expect(last == total)
        histogram.deallocate()
    }
}
