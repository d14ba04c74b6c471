import PlainText

/// State of the battery or supply that the kernel reports.
public struct BatteryStatus: Hashable, Sendable, Codable {
    /// Name of the device, such as "lab_battery"; empty before the first reading.
    public var name = ""
    /// State: "charging", "discharging", "idle", "full" or "unknown".
    public var state = "unknown"
    /// Voltage, V.
    public var voltageV: Number = .unknown
    /// Current, A; positive while the battery is being discharged.
    public var currentA: Number = .unknown
    /// Charge, %.
    public var percent: Number = .unknown
    /// Temperature, °C.
    public var temperatureC: Number = .unknown
    /// Time until the battery is empty, s.
    public var timeLeftS: Number = .unknown
    /// True if the charge is below `battery.low_percent`.
    public var isLow = false
    /// Reason why the battery cannot be read; absent if the battery can be read.
    public var problem: String?
    /// Remedy for the problem; absent without a problem.
    public var remedy: String?

    /// Creates a state whose values are unknown.
    public init() {}

    /// The state in one line, such as "lab_battery discharging, 80 %, 7.60 V, 0.50 A".
    public var summary: String {
        if let problem { return problem }
        var parts = [name.isEmpty ? state : "\(name) \(state)"]
        if let percent = percent.known { parts.append("\(Format.fixed(percent, 0)) %") }
        if let voltage = voltageV.known { parts.append("\(Format.fixed(voltage, 2)) V") }
        if let current = currentA.known { parts.append("\(Format.fixed(current, 2)) A") }
        if let temperature = temperatureC.known {
            parts.append("\(Format.fixed(temperature, 0)) °C")
        }
        return parts.joined(separator: ", ") + (isLow ? ", low" : "")
    }
}
