internal import GimbalCore
internal import Realtime

/// Synchronisation of the bus thread's periods with the sensor's measurements, instead of the
/// clock. Bus thread only.
///
/// If the sensor is faster than the loop, the thread waits for an edge only in the last quarter of
/// the period. Without an edge for half a period beyond the expected time, the clock begins this
/// period.
final class DataReady {
    private let line: EdgeLine
    private let report: SensorReport
    private let periodSeconds: Double
    private var last = Instant(nanoseconds: .min / 2)
    /// Time of this period's sample; nil if unknown.
    private var edge: Instant?

    /// Creates a synchronisation.
    ///
    /// - Parameters:
    ///   - line: The sensor's interrupt.
    ///   - period: Period of the loop, s.
    ///   - report: Receives the number of missed edges.
    init(line: EdgeLine, period: Double, report: SensorReport) {
        self.line = line
        periodSeconds = period
        self.report = report
    }

    /// Waits for the period's edge.
    ///
    /// - Parameter deadline: Expected time of the edge.
    /// - Returns: Time of the edge; nil means that the clock determines the period.
    func wait(until deadline: Instant) -> Instant? {
        edge = nil
        guard line.isWatched(now: deadline) else { return nil }
        edge = line.wait(
            notBefore: last.advanced(bySeconds: 0.75 * periodSeconds),
            until: deadline.advanced(bySeconds: 0.5 * periodSeconds))
        report.missed(edges: line.missed)
        if edge == nil { report.edgeWasLate() }
        return edge
    }

    /// Begins a period.
    ///
    /// - Parameter now: Beginning of the period by the clock.
    /// - Returns: Best known time of this period's sample. Earlier edges are discarded.
    func begin(at now: Instant) -> Instant {
        last = edge ?? now
        return last
    }
}
