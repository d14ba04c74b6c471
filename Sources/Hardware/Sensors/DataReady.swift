internal import GimbalCore
internal import Realtime

/// Lets the bus thread's periods begin when the sensor has measured, instead of by the clock. Bus
/// thread only.
///
/// A sensor that is faster than the loop is waited for in the period's last quarter. One that says
/// nothing for half a period beyond its time leaves this period to the clock.
final class DataReady {
    private let line: EdgeLine
    private let report: SensorReport
    private let periodSeconds: Double
    private var last = Instant(nanoseconds: .min / 2)
    /// When the sample of this period was taken; nil: nobody said.
    private var edge: Instant?

    /// - Parameters:
    ///   - line: The sensor's interrupt.
    ///   - period: Of the loop, s.
    ///   - report: Where other threads read what is missed.
    init(line: EdgeLine, period: Double, report: SensorReport) {
        self.line = line
        periodSeconds = period
        self.report = report
    }

    /// Waits for the period's edge.
    ///
    /// - Parameter deadline: When it is expected.
    /// - Returns: When it was; nil: the clock decides.
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

    /// A period begins.
    ///
    /// - Parameter now: By the clock.
    /// - Returns: When the sample of this period was taken, as far as anybody knows. Edges of the
    ///   time before are over.
    func begin(at now: Instant) -> Instant {
        last = edge ?? now
        return last
    }
}
