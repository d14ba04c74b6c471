/// Source of the battery measurements.
public enum BatterySource: String, Sendable, CaseIterable {
    /// The battery is not monitored.
    case none
    /// A fuel gauge or a charger with a kernel driver, in `/sys/class/power_supply`.
    case powerSupply = "power_supply"
    /// A voltage and current monitor in `/sys/class/hwmon`, such as an INA226.
    case hwmon
    /// The robot's own battery; the wheel motors' board reports the charge.
    case drive
}

extension Settings {
    /// Settings of `[battery]`, the computer's battery or supply.
    public struct Battery: Sendable, Equatable {
        /// Value `auto`: airframed selects the device.
        public static let automatic = "auto"

        /// Source of the battery measurements.
        public var source = BatterySource.none
        /// Name of the device, or `auto`.
        public var device = Self.automatic
        /// Name of the hardware monitor's voltage channel, such as `in1`.
        public var voltageChannel = "in1"
        /// Name of the hardware monitor's current channel, such as `curr1`.
        public var currentChannel = "curr1"
        /// Voltage of the empty battery, V; 0 if it is not known.
        public var emptyV = 0.0
        /// Voltage of the full battery, V; 0 if it is not known.
        public var fullV = 0.0
        /// Charge threshold for a low battery, %.
        public var lowPercent = 20.0
    }
}
