public import GimbalCore

/// Monitor of the motors' supply voltage. The voltage is reported by drives, servos, the motor
/// board or the battery's driver. Sensors' thread only.
struct SupplyMonitor {
    /// The watch.
    private(set) var watch: SupplyWatch
    private let wiring: SupplyWiring
    private let reports: DriveReports
    private var scale: SupplyScale
    private var knownSince: Instant?

    /// Time from the first reported voltage to the first evaluation, s. A newly connected supply
    /// first charges the motors' capacitors.
    private static let settlingSeconds = 1.0

    /// Creates a monitor for the motors whose state is in `reports`.
    init(_ wiring: SupplyWiring, reports: DriveReports) {
        watch = SupplyWatch(limits: wiring.limits)
        scale = SupplyScale(nominal: wiring.nominal)
        self.wiring = wiring
        self.reports = reports
    }

    /// Evaluates the lowest voltage that a motor reports, or the voltage of the battery.
    mutating func step(now: Instant) {
        let voltage =
            wiring.isBattery ? reports.supply.batteryVoltage(now: now) : reports.supplyVoltage
        let isKnown = voltage.isFinite && voltage > 0
        knownSince = isKnown ? knownSince ?? now : nil
        let isSettled = knownSince.map { now.seconds(since: $0) >= Self.settlingSeconds } ?? false
        if isSettled { watch.step(voltage: voltage, now: now) }
        scale.step(voltage: isSettled ? voltage : .nan, now: now)
        reports.supply.note(voltage: isKnown ? watch.voltage : .nan, factor: scale.factor)
    }
}

/// Motor supply: voltage thresholds, nominal voltage, and source of the measured voltage.
public struct SupplyWiring: Sendable, Equatable {
    /// Voltages below which the supply is low or empty.
    public var limits: SupplyWatch.Limits
    /// Voltage at which voltage-driven motors have their configured torque, V; 0 means that the
    /// measured voltage does not change the motors' voltages.
    public var nominal: Double
    /// True if the battery that section `[battery]` configures supplies the motors; otherwise the
    /// motors report the voltage.
    public var isBattery: Bool

    /// Creates the description of a supply, by default without voltage thresholds.
    public init(
        limits: SupplyWatch.Limits = SupplyWatch.Limits(low: 0, empty: 0), nominal: Double = 0,
        isBattery: Bool = false
    ) {
        self.limits = limits
        self.nominal = nominal
        self.isBattery = isBattery
    }
}

extension DriveReports {
    /// Lowest supply voltage that a motor reports, V; NaN if no motor reports a voltage. Silent
    /// motors are ignored.
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
