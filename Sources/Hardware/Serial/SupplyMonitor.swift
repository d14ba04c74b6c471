internal import GimbalCore

/// Watch over the supply's voltage that drives, servos or the motor board report. Sensors' thread only.
struct SupplyMonitor {
    /// The watch.
    private(set) var watch: SupplyWatch
    private let reports: DriveReports
    private var knownSince: Instant?

    /// Time for which a voltage must be known before it counts, s: a supply that was just connected
    /// charges the capacitors of the motors first.
    private static let settlingSeconds = 1.0

    /// Creates a watch of motors whose state is in `reports`.
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
    /// The lowest voltage that a motor reports and that is not silent, V; NaN if there is none.
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
