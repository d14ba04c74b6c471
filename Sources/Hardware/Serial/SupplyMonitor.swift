internal import GimbalCore

/// Monitor of the supply voltage that drives, servos or the motor board report. Sensors' thread
/// only.
struct SupplyMonitor {
    /// The watch.
    private(set) var watch: SupplyWatch
    private let reports: DriveReports
    private var knownSince: Instant?

    /// Time for which voltages must have been reported before they are evaluated, s: a supply that
    /// was just connected first charges the motors' capacitors.
    private static let settlingSeconds = 1.0

    /// Creates a monitor for the motors whose state is in `reports`.
    init(limits: SupplyWatch.Limits, reports: DriveReports) {
        watch = SupplyWatch(limits: limits)
        self.reports = reports
    }

    /// Evaluates the lowest voltage that a motor reports.
    mutating func step(now: Instant) {
        let voltage = reports.supplyVoltage
        guard voltage.isFinite else { return knownSince = nil }
        let since = knownSince ?? now
        knownSince = since
        if now.seconds(since: since) >= Self.settlingSeconds {
            watch.step(voltage: voltage, now: now)
        }
    }
}

extension DriveReports {
    /// The lowest supply voltage, V, that the motors report, without silent motors; NaN if no motor
    /// reports a voltage.
    var supplyVoltage: Double {
        let (yaw, roll, pitch) = (voltage(.yaw), voltage(.roll), voltage(.pitch))
        let lowest = min(yaw, min(roll, pitch))
        return lowest.isFinite ? lowest : .nan
    }

    private func voltage(_ axis: GimbalAxis) -> Double {
        let report = self[axis]
        return report.isSilent || report.voltage.isNaN ? .infinity : report.voltage
    }
}
