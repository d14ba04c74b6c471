import PlainText

/// State of the motors' supply.
public struct SupplyStatus: Hashable, Sendable, Codable {
    /// Source of the voltage: "motors" or "battery".
    public var source: String
    /// Voltage, smoothed with a time constant of 1 s, V.
    public var voltageV: Number
    /// Factor applied to the motor voltages, 0.5...1.5; unknown if airframed does not correct the
    /// voltages.
    public var torqueFactor: Number

    /// Creates the state of a supply.
    public init(source: String, voltageV: Number = .unknown, torqueFactor: Number = .unknown) {
        self.source = source
        self.voltageV = voltageV
        self.torqueFactor = torqueFactor
    }

    /// The state in one line, such as "11.10 V (battery), torque × 1.05".
    public var summary: String {
        let voltage = voltageV.known.map { "\(Format.fixed($0, 2)) V" } ?? "voltage unknown"
        let factor = torqueFactor.known.map { ", torque × \(Format.fixed($0, 2))" } ?? ""
        return "\(voltage) (\(source))\(factor)"
    }
}

/// State of the battery or supply that the kernel reports.
public struct BatteryStatus: Hashable, Sendable, Codable {
    /// Name of the device, such as "lab_battery"; empty before the first reading.
    public var name = ""
    /// State: `charging`, `discharging`, `idle`, `full` or `unknown`.
    public var state = "unknown"
    /// Voltage, V.
    public var voltageV: Number = .unknown
    /// Current, A; positive during discharge.
    public var currentA: Number = .unknown
    /// Charge, %.
    public var percent: Number = .unknown
    /// Temperature, °C.
    public var temperatureC: Number = .unknown
    /// Time until the battery is empty, s.
    public var timeLeftS: Number = .unknown
    /// True if the charge is below `battery.low_percent`.
    public var isLow = false
    /// Reason why the battery cannot be read; absent without a problem.
    public var problem: String?
    /// Remedy for the problem; absent without a problem.
    public var remedy: String?

    /// Creates a state with unknown values.
    public init() {}

    /// The state in one line, such as "lab_battery discharging, 80 %, 7.60 V, 0.50 A".
    public var summary: String {
        if let problem { return problem }
        var parts = [name.isEmpty ? state : state == "unknown" ? name : "\(name) \(state)"]
        if let percent = percent.known { parts.append("\(Format.fixed(percent, 0)) %") }
        if let voltage = voltageV.known { parts.append("\(Format.fixed(voltage, 2)) V") }
        if let current = currentA.known { parts.append("\(Format.fixed(current, 2)) A") }
        if let temperature = temperatureC.known {
            parts.append("\(Format.fixed(temperature, 0)) °C")
        }
        return parts.joined(separator: ", ") + (isLow ? ", low" : "")
    }
}
