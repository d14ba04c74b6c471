internal import GimbalCore
internal import Realtime

/// Synchronises the bus thread's periods with the sensor's measurements, instead of with the clock.
/// Only the bus thread uses this class.
///
/// If the sensor is faster than the loop, the thread waits for an edge only in the last quarter of
/// each period. If no edge arrives within half a period after the expected time, the clock begins
/// the period.
final class DataReady {
    private let line: EdgeLine
    private let report: SensorReport
    private let periodSeconds: Double
    private var last = Instant(nanoseconds: .min / 2)
    /// Time at which the sensor measured the sample of this period; nil if the time is unknown.
    private var edge: Instant?

    /// Creates the synchronisation with a data-ready line.
    ///
    /// - Parameters:
    ///   - line: GPIO line with the sensor's data-ready signal.
    ///   - period: Period of the loop, s.
    ///   - report: Report in which missed and late edges are counted.
    init(line: EdgeLine, period: Double, report: SensorReport) {
        self.line = line
        periodSeconds = period
        self.report = report
    }

    /// Waits for the edge of the data-ready line that begins the next period.
    ///
    /// - Parameter deadline: Time at which the next edge is expected.
    /// - Returns: Time of the edge; nil means that the clock determines the period.
    func wait(until deadline: Instant) -> Instant? {
        edge = nil
        if line.isWatched(now: deadline) {
            edge = line.wait(
                notBefore: last.advanced(bySeconds: 0.75 * periodSeconds),
                until: deadline.advanced(bySeconds: 0.5 * periodSeconds))
            report.missed(edges: line.missed)
        }
        // A sensor that is not set up yet gives no edges, which is not a fault of the line.
        if edge == nil, report.isRunning { report.edgeWasLate() }
        return edge
    }

    /// Begins a period.
    ///
    /// - Parameter now: Time at which the period begins according to the clock.
    /// - Returns: Best estimate of the time of this period's sample. The next call of `wait`
    ///   ignores edges that arrive much earlier than one period after the returned time.
    func begin(at now: Instant) -> Instant {
        last = edge ?? now
        return last
    }
}
