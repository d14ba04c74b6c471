internal import GimbalCore

/// Estimator of the times of the samples in a chip's FIFO. The rate of the chip's clock deviates by
/// several per cent, and the driver can read only the number of samples in the FIFO. The newest
/// sample was measured before the end of the driver's read. The sample is at most one sample period
/// older than the beginning of the read. The estimator models the chip's clock as a straight line
/// between the earliest and the latest possible times of the samples. Only the bus thread uses a
/// `SampleClock`.
struct SampleClock: Sendable {
    /// Index of a sample, and the sample's time.
    private struct Mark {
        var index = 0
        var time = Instant(nanoseconds: 0)
    }

    private let nominal: Double
    /// Estimated interval of the samples, s.
    private(set) var period: Double
    private var line: Mark?
    private var recent = Mark()
    private var old = Mark()
    private var nextIndex = 0
    private var last = Instant(nanoseconds: .min / 2)

    /// Largest relative error of a chip's oscillator.
    private static let tolerance = 0.06
    /// Shortest window over which the sample period is measured, s; the longest window is twice as
    /// long.
    private static let window = 5.0
    /// Time after the start during which the driver uses the nominal sample period, s.
    private static let least = 0.5

    /// Creates a clock.
    ///
    /// - Parameter period: Nominal sample period in the data sheet, s.
    init(period: Double) {
        nominal = period
        self.period = period
    }

    /// Relative error of the chip's clock, parts per million, positive for a slow clock.
    var errorPPM: Double { (period / nominal - 1) * 1e6 }

    /// Discards the times of unread samples, and keeps the estimated sample period.
    mutating func restart() {
        line = nil
        nextIndex = 0
    }

    /// Updates the estimated sample period and the times of the waiting samples from the number of
    /// samples in the FIFO.
    ///
    /// - Parameters:
    ///   - available: Number of samples in the FIFO that `next` has not returned yet.
    ///   - before: Time just before the driver requested the number of samples from the chip.
    ///   - after: Time just after the chip's answer arrived.
    mutating func note(available: Int, before: Instant, after: Instant) {
        guard available > 0 else { return }
        let newest = nextIndex + available - 1
        guard let line else {
            let mark = Mark(index: newest, time: after)
            (self.line, recent, old) = (mark, mark, mark)
            return
        }
        var time = line.time.advanced(bySeconds: Double(newest - line.index) * period)
        time = min(time, after)
        time = max(time, before.advanced(bySeconds: -period))
        self.line = Mark(index: newest, time: time)
        updatePeriod(Mark(index: newest, time: time))
    }

    private mutating func updatePeriod(_ now: Mark) {
        let span = now.time.seconds(since: old.time)
        if span > Self.least, now.index > old.index {
            let measured = span / Double(now.index - old.index)
            period = min(
                max(measured, nominal * (1 - Self.tolerance)), nominal * (1 + Self.tolerance))
        }
        if now.time.seconds(since: recent.time) > Self.window {
            old = recent
            recent = now
        }
    }

    /// Returns the time of the next sample; the times strictly increase.
    mutating func next() -> Instant {
        let mark = line ?? Mark()
        let time = mark.time.advanced(bySeconds: Double(nextIndex - mark.index) * period)
        nextIndex += 1
        last = max(time, last.advanced(bySeconds: 0.25 * period))
        return last
    }
}
