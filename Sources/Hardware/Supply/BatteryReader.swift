public import Configuration
internal import Glibc
internal import Realtime

/// Values of a battery or supply. Values that the kernel does not report are nil.
public struct BatteryReading: Sendable, Equatable {
    /// Charging state: charging, discharging, idle or full.
    public enum State: String, Sendable {
        /// The driver does not report the state.
        case unknown
        /// The battery is being charged.
        case charging
        /// The battery supplies the computer.
        case discharging
        /// The battery is neither charged nor discharged.
        case idle
        /// The battery is full.
        case full
    }

    /// Name of the device.
    public var name = ""
    /// State of the battery.
    public var state = State.unknown
    /// Voltage, V.
    public var voltage: Double?
    /// Current, A; positive while the battery is being discharged.
    public var current: Double?
    /// Charge, 0...100 %.
    public var percent: Double?
    /// Temperature, °C.
    public var temperature: Double?
    /// Time until the battery is empty, s.
    public var secondsLeft: Double?

    /// Creates a reading whose values are unknown.
    public init() {}
}

/// Reader of a battery's values from the kernel's files
/// (Documentation/ABI/testing/sysfs-class-power and Documentation/hwmon/sysfs-interface.rst). A
/// read can wait for the device's bus, so only the battery's thread calls the reader.
public struct BatteryReader: Sendable {
    /// Reason why the battery cannot be read, as a sentence with the remedy.
    public struct Failure: Error, Equatable {
        /// The problem.
        public var problem: String
        /// The remedy.
        public var remedy: String

        /// Creates a failure.
        public init(problem: String, remedy: String) {
            self.problem = problem
            self.remedy = remedy
        }
    }

    /// Folders in which the kernel lists power supplies and hwmon devices; tests use other folders.
    public struct Roots: Sendable {
        /// Folder with the power supplies.
        public var powerSupply = "/sys/class/power_supply"
        /// Folder with the hwmon devices.
        public var hwmon = "/sys/class/hwmon"

        /// Initialises both folders with the kernel's paths.
        public init() {}
    }

    private let settings: Settings.Battery
    private let roots: Roots

    /// Creates a reader.
    public init(_ settings: Settings.Battery, roots: Roots = Roots()) {
        self.settings = settings
        self.roots = roots
    }

    /// Reads the values.
    ///
    /// - Returns: nil if no battery is configured, or if the wheels' board reports the battery's
    ///   values.
    public func read() throws(Failure) -> BatteryReading? {
        var reading: BatteryReading
        switch settings.source {
        case .none, .drive: return nil
        case .powerSupply: reading = try readPowerSupply()
        case .hwmon: reading = try readMonitor()
        }
        let (empty, full) = (settings.emptyV, settings.fullV)
        if reading.percent == nil, let voltage = reading.voltage, full > empty, empty > 0 {
            reading.percent = min(max(100 * (voltage - empty) / (full - empty), 0), 100)
        }
        return reading
    }

    /// Batteries and hwmon devices that the kernel offers, one line of text for each; `doctor`
    /// shows them.
    public static func offers(_ roots: Roots = Roots()) -> [String] {
        let supplies = KernelFolder(path: roots.powerSupply)
        let batteries = supplies.entries.filter { isBattery(supplies.folder($0)) }
            .map { "power_supply \($0)" }
        let folder = KernelFolder(path: roots.hwmon)
        let monitors = folder.entries.compactMap { entry -> String? in
            let monitor = folder.folder(entry)
            guard let name = monitor.text("name"), monitor.has("in1_input"),
                monitor.has("curr1_input")
            else { return nil }
            return "hwmon \(name)"
        }
        return batteries + monitors
    }

    // MARK: power_supply

    private static func isBattery(_ folder: KernelFolder) -> Bool {
        ["Battery", "UPS"].contains(folder.text("type")) && folder.text("scope") != "Device"
    }

    private func readPowerSupply() throws(Failure) -> BatteryReading {
        let supplies = KernelFolder(path: roots.powerSupply)
        let isAutomatic = settings.device == Settings.Battery.automatic
        let name = supplies.entries.first {
            isAutomatic ? Self.isBattery(supplies.folder($0)) : $0 == settings.device
        }
        guard let name else {
            throw Failure(
                problem: isAutomatic
                    ? "the kernel reports no battery"
                    : "the kernel reports no battery named \(settings.device)",
                remedy:
                    "Load the driver of the fuel gauge, and check battery.device: `ls \(roots.powerSupply)` lists the supplies."
            )
        }
        let folder = supplies.folder(name)
        if folder.text("present") == "0" {
            throw Failure(
                problem: "the battery \(name) is not present", remedy: "Insert the battery.")
        }
        var reading = BatteryReading()
        reading.name = name
        reading.state =
            switch folder.text("status") {
            case "Charging": .charging
            case "Discharging": .discharging
            case "Full": .full
            case "Not charging": .idle
            default: .unknown
            }
        reading.voltage = Self.value(folder, ["voltage_now", "voltage_avg"], 1e-6, 0...1000)
        var current = Self.value(folder, ["current_now", "current_avg"], 1e-6, -1000...1000)
        if current == nil, let voltage = reading.voltage, voltage > 0 {
            current = Self.value(folder, ["power_now"], 1e-6, -1e5...1e5).map { $0 / voltage }
        }
        // A negative current means that the battery is being discharged, but some drivers report
        // only the magnitude.
        reading.current = current.map { current in
            switch reading.state {
            case .discharging: abs(current)
            case .charging: -abs(current)
            case .unknown, .idle, .full: current == 0 ? 0 : -current
            }
        }
        reading.percent = Self.value(folder, ["capacity"], 1, 0...100)
        reading.temperature = Self.value(folder, ["temp"], 0.1, -60...150)
        reading.secondsLeft = Self.value(
            folder, ["time_to_empty_now", "time_to_empty_avg"], 1, 0...1e7)
        guard reading.voltage != nil || reading.percent != nil else {
            throw Failure(
                problem: "the battery \(name) reports neither a voltage nor a charge",
                remedy: "Check the wires of the fuel gauge, and the output of dmesg.")
        }
        return reading
    }

    // MARK: hwmon

    private func readMonitor() throws(Failure) -> BatteryReading {
        let monitors = KernelFolder(path: roots.hwmon)
        let (voltage, current) = (
            "\(settings.voltageChannel)_input", "\(settings.currentChannel)_input"
        )
        let isAutomatic = settings.device == Settings.Battery.automatic
        let found = monitors.entries.first { entry in
            let folder = monitors.folder(entry)
            return isAutomatic
                ? folder.has(voltage) && folder.has(current)
                : settings.device == entry || folder.text("name") == settings.device
        }
        guard let found else {
            throw Failure(
                problem: isAutomatic
                    ? "no hwmon device has the files \(voltage) and \(current)"
                    : "there is no hwmon device \(settings.device)",
                remedy:
                    "Load the driver of the hwmon device, and check battery.device: `cat \(roots.hwmon)/*/name` lists the devices."
            )
        }
        let folder = monitors.folder(found)
        var reading = BatteryReading()
        reading.name = folder.text("name") ?? found
        reading.voltage = Self.value(folder, [voltage], 1e-3, 0...1000)
        reading.current = Self.value(folder, [current], 1e-3, -1000...1000)
        guard reading.voltage != nil else {
            throw Failure(
                problem:
                    "the hwmon device \(reading.name) has no valid voltage in the file \(voltage)",
                remedy: "Set battery.voltage_channel, and check the wires of this device.")
        }
        if let current = reading.current { reading.state = current > 0 ? .discharging : .unknown }
        return reading
    }

    /// Scaled value of the first readable attribute in `names`; nil if the value is out of range,
    /// or if no attribute is readable.
    private static func value(
        _ folder: KernelFolder, _ names: [String], _ unit: Double, _ range: ClosedRange<Double>
    ) -> Double? {
        for name in names {
            guard let value = folder.number(name) else { continue }
            return range.contains(value * unit) ? value * unit : nil
        }
        return nil
    }
}
